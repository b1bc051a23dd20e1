"""Optimizers' classes that a function is given, as names by which it makes one of them.

    class Net:
        def __init__(self, opt, **kwargs):
            self.train = opt(0.1, **kwargs).minimize(self.loss)

    Net(tf.train.AdamOptimizer)
    Net(tf.train.MomentumOptimizer, momentum=0.9)

becomes `Net('Adam')`, `Net('Momentum')`, and a chain of conditions that makes the optimizer, each
with what its own calls say of it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_CLASS = "Optimizer"


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function; none where there is none."""
    if _CLASS not in module.source.text:
        return []
    for call in module.names.calls:
        node = module.names.scope_at(call).node
        if not isinstance(call.func, ast.Name) or not isinstance(node, ast.FunctionDef):
            continue
        if module.names.is_parameter(call.func):
            edits = _edits(module, node, call, call.func, graph)
            if edits:
                return edits
    return []


def _edits(
    module: Module, node: ast.FunctionDef, call: ast.Call, told: ast.Name, graph: CallGraph
) -> list[Edit]:
    names, source, scope = module.names, module.source, module.names.scopes[node]
    statement = names.statement(call)
    if node.decorator_list or statement not in in_line(node.body):
        return []
    more = [one.value for one in call.keywords if one.arg is None]
    rest = node.args.kwarg
    if names.mentions(told.id, scope) != [told] or node.args.vararg or not _is_plain(node, told.id):
        return []
    if rest is not None:
        mentions = names.mentions(rest.arg, scope)
        if [*mentions] != more or any(isinstance(one, ast.Starred) for one in call.args):
            return []
    elif more or any(isinstance(one, ast.Starred) for one in call.args):
        return []
    layout = Layout(source, statement)
    if not layout.owns_lines or call.lineno != call.end_lineno:
        return []
    function = Function(module, node)
    parameters = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
    style = style_at(module, statement)
    own = [source.code(one) for one in (*call.args, *(k for k in call.keywords if k.arg))]
    arms: dict[str, str] = {}
    found: list[Edit] = []
    references = list(graph.references(function))
    for reference in sorted(references, key=lambda one: position(one.node)):
        made = reference.call
        if made is None or reference.module is not module:
            return []
        if any(isinstance(one, ast.Starred) for one in made.args):
            return []
        if any(one.arg is None for one in made.keywords):
            return []
        value = _given(node, made, told.id)
        row = OPTIMIZERS.by_name.get(name_of(module, value)) if value is not None else None
        if value is None or row is None or not isinstance(value, ast.Attribute):
            return []
        extra = [one for one in made.keywords if one.arg not in parameters]
        if any(constant(one.value) is None for one in extra) or (extra and rest is None):
            return []
        label = value.attr.removesuffix(_CLASS) or value.attr
        arm = f"{source.code(value)}({', '.join([*own, *map(source.code, extra)])})"
        if arms.setdefault(label, arm) != arm:
            return []  # two of one class, with other settings
        found.append(Edit(*source.span(value), style.string(label)))
        edit = CallEdit(source, made)
        for one in extra:
            edit.drop_value(one.value)
        found += edit.edits()
    if len(arms) < 2:
        return []
    name = names.fresh(scope, "optimizer", "chosen_optimizer")
    unit = source.indent_unit
    lines: list[str] = []
    for place, (label, arm) in enumerate(arms.items()):
        head = f"{'el' if place else ''}if {told.id} == {style.string(label)}:"
        lines += ["else:" if place == len(arms) - 1 else head, f"{unit}{name} = {arm}"]
    start = source.span(statement)[0]
    between = source.newline + source.indent_of(statement)
    found.append(Edit(start, start, "".join(f"{one}{between}" for one in lines)))
    found.append(Edit(*source.span(call), name))
    if rest is not None:
        gone = _without_rest(module, node)
        if gone is None:
            return []
        found.append(gone)
    return found


def _is_plain(node: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter has to be given, and is no one for keywords alone."""
    known = [one.arg for one in node.args.args]
    if name not in known or node.args.posonlyargs:
        return False
    return known.index(name) < len(known) - len(node.args.defaults)


def _given(node: ast.FunctionDef, call: ast.Call, name: str) -> ast.expr | None:
    """What a call of a function, or of the class that it makes objects of, gives a parameter."""
    named = [one.value for one in call.keywords if one.arg == name]
    place = [one.arg for one in node.args.args].index(name) - (node.name == "__init__")
    if named:
        return named[0]
    return call.args[place] if 0 <= place < len(call.args) else None


def _without_rest(module: Module, node: ast.FunctionDef) -> Edit | None:
    """The edit for `**kwargs` of a function's header."""
    source, rest = module.source, node.args.kwarg
    assert rest is not None
    start, end = source.span(rest)
    stars = source.text[:start].rstrip()
    if not stars.endswith("**"):
        return None
    before = stars[:-2].rstrip()
    return Edit(len(before) - 1, end, "") if before.endswith(",") else None
