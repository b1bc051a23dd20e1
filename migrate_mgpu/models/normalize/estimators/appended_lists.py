"""Lists that a network's function grows in place, and reads by number, as new lists.

``sizes.append(units)`` becomes ``sizes = sizes + [units]``: what the layers are made from is a
value, and no list that changes behind where the network uses it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Scope
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.estimators.built_objects import reached
from migrate_mgpu.source.source import Edit


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all such lists of one function; none where there is none."""
    if flow.function is None:
        return {}
    for function in reached(flow.function, graph):
        edits = _edits(function) if function.module.writable else []
        if edits:
            return {function.module: edits}
    return {}


def _edits(function: Function) -> list[Edit]:
    module, scope = function.module, function.module.names.scopes[function.node]
    found: list[Edit] = []
    for name, bindings in scope.bindings.items():
        made = module.names.statement(bindings[0].node) if len(bindings) == 1 else None
        if isinstance(made, ast.Assign) and made in function.node.body:
            if isinstance(made.value, ast.List) and len(made.targets) == 1:
                found += _of(module, scope, name, bindings[0].node)
    return found


def _of(module: Module, scope: Scope, name: str, target: ast.AST) -> list[Edit]:
    """The edits of one list; none where something else may have it, or goes through it."""
    names, code, found = module.names, module.source.code, []
    for mention in names.mentions(name, scope):
        parent = names.parents[mention]
        used = names.parents[parent]
        if mention is target:
            continue
        if names.scope_of_name[mention] is not scope:
            return []  # a function in it sees the list as it is then
        if isinstance(parent, ast.Subscript) and parent.value is mention:
            if isinstance(parent.ctx, ast.Load):
                continue
        if isinstance(parent, ast.Call) and names.qualname(parent.func) == "builtins.len":
            continue
        statement = names.parents[used]
        appends = isinstance(parent, ast.Attribute) and parent.attr == "append"
        if not (appends and isinstance(used, ast.Call) and used.func is parent):
            return []
        plain = len(used.args) == 1 and not used.keywords
        if not plain or isinstance(used.args[0], ast.Starred):
            return []
        if not isinstance(statement, ast.Expr):
            return []
        text = f"{name} = {name} + [{code(used.args[0])}]"
        found.append(Edit(*module.source.span(statement), text))
    return found
