"""Placeholders that functions read as globals, as parameters of these functions.

`def generator(z, reuse=False):` that asks for `training=is_training` becomes
`def generator(z, is_training, reuse=False):`, and its calls give it that.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
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
    found = (
        (node, _read(module, node))
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    )
    return [(node, names) for node, names in found if names]


def _read(module: Module, node: ast.FunctionDef) -> list[str]:
    """The placeholders that a function, which only builds, reads as globals."""
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
        value = names.only_value(part) if home is names.module_scope else None
        if isinstance(value, ast.Call) and name_of(module, value) in PLACEHOLDERS:
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
