"""Which assignments of a variable may give it its value at a place."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Binding, Scope
from migrate_mgpu.analysis.scopes import line_of


def reaching(module: Module, mention: ast.Name, home: Scope) -> list[Binding]:
    """The bindings of a variable that may give it its value at a mention.

    In code that runs in a line the last assignment counts; those in branches, in loops
    and for other functions are all taken together.
    """
    names = module.names
    bindings = home.bindings.get(mention.id, [])
    if len(bindings) < 2 or names.scope_of_name[mention] is not home:
        return bindings
    around = {mention, *names.ancestors(mention)}
    if any(isinstance(parent, (ast.For, ast.While, ast.AsyncFor)) for parent in around):
        return bindings
    place = names.statement(mention)
    before = [b for b in bindings if _line(b) < place.lineno]
    last = None
    for binding in before:
        if binding.kind != "parameter" and isinstance(binding.node, ast.AST):
            parent = names.parents.get(_statement(module, binding))
            if parent in around and isinstance(_statement(module, binding), _SIMPLE):
                if _same_arm(module, _statement(module, binding), around):
                    last = binding
    if last is None:
        return bindings
    return [last, *(b for b in before if _line(b) > _line(last))]


def assigned(module: Module, node: ast.expr | None) -> ast.expr | None:
    """The one value that a name is ever given, or the expression itself."""
    seen = 0
    while isinstance(node, ast.Name) and seen < 5:
        if node not in module.names.scope_of_name:
            return node
        value = module.names.only_value(node)
        if value is None:
            return node
        node, seen = value, seen + 1
    return node


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _line(binding: Binding) -> int:
    return line_of(binding.node)


def _statement(module: Module, binding: Binding) -> ast.stmt:
    node = binding.node
    return node if isinstance(node, ast.stmt) else module.names.statement(node)


def _same_arm(module: Module, statement: ast.stmt, around: set[ast.AST]) -> bool:
    """Whether a statement stands in the very block that leads to a place."""
    return any(other in around for other in module.names.block(statement))
