"""Placeholders that functions read as globals, as parameters of these functions.

`def generator(z, reuse=False):` that asks for `training=is_training` becomes
`def generator(z, is_training, reuse=False):`, and its calls give it that. So does a function within
the one that builds a graph, which makes layers and reads what is computed of placeholders there.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import RUNS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.source.header_edit import with_parameters
from migrate_mgpu.source.source import Edit

_RUNS = ("run", "eval", "next_batch")


def given(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function and all its calls; none where there is none."""
    for node, names in _reading(module):
        edits = _edits(module, Function(module, node), names, graph)
        if edits:
            return edits
    return []


@fact_of_text
def _reading(module: Module) -> list[tuple[ast.FunctionDef, list[str]]]:
    """The functions that read placeholders as globals, with the names of these."""
    found = [
        (node, _read(module, node, module.names.module_scope, PLACEHOLDERS))
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    ]
    computed = {*PLACEHOLDERS, *COMPUTES}
    for home, node in _inner(module):
        found.append((node, _read(module, node, module.names.scopes[home], computed)))
    return [(node, names) for node, names in found if names]


def _inner(module: Module) -> list[tuple[ast.FunctionDef, ast.FunctionDef]]:
    """The functions that make layers within those that make placeholders, with these."""
    names = module.names
    homes = {
        home
        for call in names.calls
        if name_of(module, call) in PLACEHOLDERS and (home := names.scope_at(call).function())
    }
    return [
        (home, node)
        for home in homes
        if isinstance(home, ast.FunctionDef)
        for node in home.body
        if isinstance(node, ast.FunctionDef)
        if not node.decorator_list and _makes_layers(module, node)
    ]


def _makes_layers(module: Module, node: ast.FunctionDef) -> bool:
    called = (name_of(module, part) for part in walk(node) if isinstance(part, ast.Call))
    return any(one in RUNS.by_name or one in LAYERS.by_name for one in called)


def _read(module: Module, node: ast.FunctionDef, outer: Scope, kinds: Collection[str]) -> list[str]:
    """The placeholders that a function, which only builds, reads as globals of a scope."""
    names = module.names
    found: dict[str, None] = {}
    for part in walk(node):
        if isinstance(part, ast.Attribute) and part.attr in _RUNS:
            return []
        if isinstance(part, (ast.Global, ast.Nonlocal, ast.Lambda)):
            return []
        if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load):
            continue
        home = names.defining_scope(part.id, names.scope_of_name[part])
        value = names.only_value(part) if home is outer else None
        while isinstance(value, (ast.Subscript, ast.Name)):
            value = value.value if isinstance(value, ast.Subscript) else names.only_value(value)
        if isinstance(value, ast.Call) and name_of(module, value) in kinds:
            given = names.parents[part]
            if isinstance(given, ast.Dict) and part in given.keys:
                return []  # what is fed
            found[part.id] = None
    return list(found)


def _edits(module: Module, function: Function, names: list[str], graph: CallGraph) -> list[Edit]:
    source, arguments = module.source, function.node.args
    assert isinstance(function.node, ast.FunctionDef)
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        return []
    plain = len(arguments.args) - len(arguments.defaults)
    new = ", ".join(names)
    if arguments.defaults:
        at = source.span(arguments.args[plain])[0]
        found = [Edit(at, at, f"{new}, ")]
    else:
        found = [with_parameters(source, function.node, *names)]
    for reference in graph.references(function):
        call = reference.call
        if reference.module is not module or call is None or len(call.args) > plain:
            return []
        if any(isinstance(one, ast.Starred) for one in call.args):
            return []
        if any(keyword.arg is None for keyword in call.keywords):
            return []
        if len(call.args) == plain and call.args:
            at = source.span(call.args[-1])[1]
            found.append(Edit(at, at, f", {new}"))
        elif not call.args and not call.keywords:
            at = source.span(call)[1] - 1
            found.append(Edit(at, at, new))
        else:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            at = max(source.span(value)[1] for value in values)
            found.append(Edit(at, at, "".join(f", {name}={name}" for name in names)))
    return found if len(found) > 1 else []
