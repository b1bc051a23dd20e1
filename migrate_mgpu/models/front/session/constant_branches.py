"""Branches that a constant of the program's chooses: `if regression_type == 'lasso': loss = ...`"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk


def is_chosen(module: Module, statement: ast.If) -> bool:
    """Whether constants say which branch is taken, and that one gives names to expressions alone.

    The others do that too, or tell that the constant is wrong.
    """
    chosen = _taken(module, statement)
    if not chosen or not all(isinstance(one, ast.Assign) for one in chosen):
        return False
    return all(
        isinstance(one, (ast.Assign, ast.Raise, ast.Pass)) or _prints(module, one)
        for one in _statements(statement)
    )


def expressions_of_branches(statement: ast.If) -> Iterator[ast.expr]:
    """What a statement asks, and what its branches compute."""
    yield statement.test
    for one in (*statement.body, *statement.orelse):
        if isinstance(one, ast.If):
            yield from expressions_of_branches(one)
        elif isinstance(one, ast.Assign):
            yield one.value


def names_made_before(statement: ast.If) -> set[ast.Name]:
    """The mentions of names that a branch has given a value above them."""
    found: set[ast.Name] = set()
    for block in (statement.body, statement.orelse):
        made: set[str] = set()
        for one in block:
            if isinstance(one, ast.If):
                found |= names_made_before(one)
            names = [node for node in walk(one) if isinstance(node, ast.Name)]
            found |= {n for n in names if isinstance(n.ctx, ast.Load) and n.id in made}
            if isinstance(one, ast.Assign):
                made |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return found


def _taken(module: Module, statement: ast.If) -> list[ast.stmt] | None:
    """The statements of the branch that is taken; None where constants do not tell."""
    taken = holds(statement.test, lambda part: _value(module, part))
    if taken is None:
        return None
    block = statement.body if taken else statement.orelse
    if len(block) == 1 and isinstance(block[0], ast.If):
        return _taken(module, block[0])
    return block


def _statements(statement: ast.If) -> Iterator[ast.stmt]:
    for one in (*statement.body, *statement.orelse):
        if isinstance(one, ast.If):
            yield from _statements(one)
        else:
            yield one


def _prints(module: Module, statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and module.names.qualname(call.func) == "builtins.print"


def _value(module: Module, node: ast.expr) -> object:
    """A constant, or the only value of a name."""
    if isinstance(node, ast.Name):  # a list may change
        value = module.names.only_value(node)
        return value.value if isinstance(value, ast.Constant) else Unknown
    known = constant(node)
    return known if known is not None or is_none(node) else Unknown
