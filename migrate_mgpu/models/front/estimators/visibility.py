"""What an expression of one place is called at another."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import ValueFlow

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def known_at(
    values: ValueFlow, module: Module, node: ast.expr, other: Module, place: ast.AST
) -> ast.expr | None:
    """The expression of ``other`` that is, at a place of it, what ``node`` is at its own.

    The expression itself where its names mean the same there; for a parameter what the
    one call of its function gives. None where there is no such expression.
    """
    if module is other and is_visible(module, node, place):
        return node
    if not isinstance(node, ast.Name):
        return None
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    if home is None or not isinstance(home.node, _DEFINITIONS):
        return None
    if [binding.kind for binding in home.bindings[node.id]] != ["parameter"]:
        return None
    function = Function(module, home.node)
    calls = values.calls(function)
    if calls is None or len(calls) != 1 or calls[0].call is None:
        return None
    arguments = bind(calls[0].call, function)
    given = arguments.given(node.id)
    if given is None:
        default = arguments.defaults.get(node.id)
        return default if isinstance(default, ast.Constant) and module is other else None
    return known_at(values, calls[0].module, given, other, place)


def is_visible(module: Module, node: ast.expr, place: ast.AST, other: Module | None = None) -> bool:
    """Whether each name of an expression means the same at another place, of ``other``."""
    names = module.names
    if other is not None and other is not module:
        there, mentioned = other.names, [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        return all(
            names.roots(name.id, names.scope_of_name[name])
            == there.roots(name.id, there.scope_at(place))
            != ()
            for name in mentioned
        )
    scope = names.scope_at(place)
    for name in ast.walk(node):
        if not isinstance(name, ast.Name):
            continue
        home = names.defining_scope(name.id, names.scope_of_name[name])
        if home is names.defining_scope(name.id, scope):
            continue
        if name.id != "self" or names.class_around(name) is not names.class_around(place):
            return False
    return True


def settled(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a constant, or a name that nothing gives another value later."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Constant):
        return True
    return isinstance(node, ast.Name) and module.names.only_binding(node) is not None
