"""Conditions in a function that builds the graph which all of its calls decide alike.

    def linear(x, size, with_weights=False, name='linear'):
        ...
        if with_weights:
            return h, w
        else:
            return h

becomes `return h` where no call asks for the weights. The arms that no call takes go, and with
them the parameters that nothing else reads.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_parameters import constants, truth
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit

Edits = dict[Module, list[Edit]]
_TYPES = {"float16", "float32"}


def types(module: Module, graph: CallGraph) -> list[Edit]:
    """`tf.float16 if use_fp16 else tf.float32`, where no call of the function asks for halves."""
    if "float16" not in module.source.text:
        return []
    edits = []
    for one in walk(module.tree):
        if isinstance(one, ast.IfExp):
            if {name_of(module, one.body), name_of(module, one.orelse)} <= _TYPES:
                value = truth(one.test, lambda name: constants(module, name, graph))
                if value is not None:
                    arm = module.source.code(one.body if value else one.orelse)
                    edits.append(Edit(*module.source.span(one), arm))
    return edits


def normalize(function: Function, graph: CallGraph) -> Edits:
    """The edits for one function; none where its calls decide no condition of it."""
    module, node = function.module, function.node
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return {}
    found: Edits = {}
    settled: set[ast.AST] = set()
    gone: set[ast.AST] = set()
    edits = found.setdefault(module, [])
    for one in walk(node):
        if not isinstance(one, ast.If) or is_inside(module, one, settled):
            continue
        value = truth(one.test, lambda name: constants(module, name, graph))
        if value is None:
            continue
        edit = taken_arm(module, one, value)
        if edit is not None:
            settled.add(one)
            gone |= _left(one, value)
            edits.append(edit)
    if not edits:
        return {}
    _unasked(function, graph, gone, found)
    return found


def _left(node: ast.If, value: bool) -> set[ast.AST]:
    """What a decided condition has besides the arm that stays."""
    kept = {part for one in (node.body if value else node.orelse) for part in walk(one)}
    return {*walk(node)} - kept


def _unasked(function: Function, graph: CallGraph, gone: set[ast.AST], found: Edits) -> None:
    """Takes out the parameters that nothing reads any more, where calls give them by name."""
    module, node = function.module, function.node
    assert isinstance(node, ast.FunctionDef)
    calls = [(one.module, one.call) for one in graph.references(function) if one.call is not None]
    free: list[str] = []
    for name in dict(defaults_of(node.args)):
        read = module.names.mentions(name, module.names.scopes[node])
        if not read or any(one not in gone for one in read):
            continue
        given = [bind(call, function).given(name) for _, call in calls]
        by_name = {k.value for _, call in calls for k in call.keywords if k.arg == name}
        if all(one is None or (one in by_name and isinstance(one, ast.Constant)) for one in given):
            free.append(name)
    if not free:
        return
    found.setdefault(module, []).append(without_parameter(module.source, node, *free))
    for home, call in calls:
        given_by_name = {one.arg for one in call.keywords}
        told = [name for name in free if name in given_by_name]
        if told:
            edit = CallEdit(home.source, call)
            edit.drop(*told)
            found.setdefault(home, []).extend(edit.edits())
