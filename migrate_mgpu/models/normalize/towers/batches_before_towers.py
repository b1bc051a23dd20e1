"""Batches of Python's own that the towers draw as they are built, drawn before all of them.

    for i in range(num_gpus):
        with tf.device("/gpu:%d" % i):
            images, labels = data.next_batch(batch_size)

becomes

    batches = [data.next_batch(batch_size) for _ in range(num_gpus)]
    for i in range(num_gpus):
        with tf.device("/gpu:%d" % i):
            images, labels = batches[i]

TF1 puts arrays into the graph as it is built: each tower has one batch of its own, in every step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

# TensorFlow's own that are no parts of a graph: settings, and the arrays of its examples.
_FLAGS = ("app.flags", "flags.")
_HOST = (*_FLAGS, "examples.")
_RANDOM = ("numpy.random.", "random.")
_DEEP = 8  # functions within each other

# What a value is computed with: names of modules, by what they are, or random numbers.
_State = set[tuple[Optional[Module], str]]


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such batch; none where there is none."""
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is None or not towers.index or towers.items:
            continue
        for statement in in_line(loop.body):
            if isinstance(statement, ast.Assign) and _is_drawn(module, loop, statement, graph):
                return _edits(module, loop, statement, towers.index)
    return []


def draws(function: Function, graph: CallGraph) -> bool:
    """Whether a function builds a part of the graph, of what its own statements draw."""
    node = function.node
    if _is_host(function.module, node, graph, set()):
        return False
    for statement in in_line(node.body) if isinstance(node, ast.FunctionDef) else ():
        value = statement.value if isinstance(statement, ast.Assign) else None
        state: _State = set()
        if isinstance(value, ast.Call) and _is_host(function.module, value, graph, state) and state:
            return True
    return False


def _edits(module: Module, loop: ast.For, statement: ast.Assign, index: str) -> list[Edit]:
    names, code = module.names, module.source.code
    layout = Layout(module.source, statement)
    drawn, over = code(statement.value), code(loop.iter)
    if not layout.owns_lines or "\n" in drawn + over:
        return []
    name = names.fresh(names.scope_at(loop), "batches", "drawn_batches")
    line = f"{name} = [{drawn} for _ in {over}]"
    taken = Edit(*module.source.span(statement.value), f"{name}[{index}]")
    return [Layout(module.source, loop).insert_paragraph([line]), taken]


def _is_drawn(module: Module, loop: ast.For, statement: ast.Assign, graph: CallGraph) -> bool:
    """Whether a statement gives names what Python's own code draws for each tower."""
    names, call = module.names, statement.value
    target = statement.targets[0]
    given = target.elts if isinstance(target, ast.Tuple) else [target]
    if len(statement.targets) != 1 or not isinstance(call, ast.Call):
        return False
    inside = {*walk(loop)}
    for one in given:
        if not isinstance(one, ast.Name):
            return False
        if not inside.issuperset(names.mentions(one.id, names.scope_of_name[one])):
            return False
    own = {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if any(isinstance(part, ast.Name) and part.id in own for part in walk(call)):
        return False  # it is not the same in all towers
    state: _State = set()
    if not _is_host(module, call, graph, state) or not state:
        return False
    others: _State = set()
    for part in _other_calls(loop, statement):
        _is_host(module, part, graph, others)
    return state.isdisjoint(others)


def _other_calls(loop: ast.For, statement: ast.Assign) -> Iterator[ast.Call]:
    """The calls of a loop but those of one statement: what they draw keeps its order."""
    own = {*walk(statement)}
    return (part for part in walk(loop) if isinstance(part, ast.Call) and part not in own)


def _is_host(
    module: Module,
    node: ast.AST,
    graph: CallGraph,
    state: _State | None,
    seen: set[tuple[ast.AST, bool]] | None = None,
    deep: int = 0,
) -> bool:
    """Whether no part of a graph is in an expression or a function, nor in what it calls.

    ``state`` gets what it is computed with, of which another value may be computed as well.
    ``seen`` has what was gone through already, and whether for its state: many functions may call
    one, and each is asked once.
    """
    names, host = module.names, deep < _DEEP
    seen = set() if seen is None else seen

    def ask(where: Module, other: ast.AST, into: _State | None) -> bool:
        key = other, into is not None
        if key in seen or (other, True) in seen:
            return True  # what it is has been counted
        seen.add(key)
        return deep < _DEEP and _is_host(where, other, graph, into, seen, deep + 1)

    for part in walk(node):
        whole = isinstance(part, (ast.Attribute, ast.Name)) and not isinstance(
            names.parents.get(part), ast.Attribute
        )
        told = name_of(module, part) if whole else ""
        if told and not told.startswith(_HOST):
            host = False
        if isinstance(part, ast.Call):
            if state is not None and (names.qualname(part.func) or "").startswith(_RANDOM):
                state.add((None, "random"))
            target = graph.target(module, part.func)
            called: tuple[Module, ast.AST] | None = graph.class_of(module, part.func)
            if called is None and target is not None:
                called = target.module, target.node
            if called is not None:
                host &= ask(*called, state)
        if not isinstance(part, ast.Name) or part not in names.scope_of_name:
            continue
        home = names.defining_scope(part.id, names.scope_of_name[part])
        for binding in home.bindings.get(part.id, ()) if home is not None else ():
            if binding.kind != "assign" or binding.value is None:
                continue
            is_global = home is names.module_scope and not _is_settings(module, binding.value)
            if state is not None and is_global:
                state.add((module, part.id))
            if not any(one is binding.node for one in walk(node)):
                host &= ask(module, binding.value, None)
    return host


def _is_settings(module: Module, value: ast.expr) -> bool:
    """Whether a value is a constant, or what the command line says: nothing draws of it."""
    func = value.func if isinstance(value, ast.Call) else None
    parsed = isinstance(func, ast.Attribute) and func.attr == "parse_args"
    return parsed or isinstance(value, ast.Constant) or name_of(module, value).startswith(_FLAGS)
