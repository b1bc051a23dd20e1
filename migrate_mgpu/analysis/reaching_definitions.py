"""Which assignments of a variable may give it its value at a place."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.analysis.names import Binding, Names, Scope
from migrate_mgpu.analysis.scopes import line_of


def reaching(names: Names, mention: ast.Name, home: Scope) -> list[Binding]:
    """The bindings of a variable that may give it its value at a mention.

    In code that runs in a line the last assignment counts, and the last condition or `try` that
    assigns in each of its branches; all others, and those in loops and for other functions, are
    taken together. What is assigned above a loop alone is in it what it was there.
    """
    bindings = home.bindings.get(mention.id, [])
    if len(bindings) < 2 or not _runs_there(names, mention, home):
        return bindings
    around = {mention, *names.ancestors(mention)}
    place = names.statement(mention)
    loops = [one for one in names.ancestors(mention) if isinstance(one, _LOOPS)]
    if isinstance(place, _LOOPS):
        return bindings
    if loops:
        outermost = loops[-1]
        if any(outermost in (one.node, *names.ancestors(one.node)) for one in bindings):
            return bindings
        place = outermost
    before = [b for b in bindings if _line(b) < place.lineno]
    giving = {
        _statement(names, b): b
        for b in before
        if b.kind != "parameter" and isinstance(b.node, ast.AST)
    }
    last: ast.stmt | None = None
    for statement in giving:
        whole = _in_same_arm(names, statement, around)
        if whole is not None and _always_gives(whole, giving):
            last = whole
    if last is None:
        return bindings
    if isinstance(last, _SIMPLE):
        return [giving[last], *(b for b in before if _line(b) > _line(giving[last]))]
    return [b for b in before if _line(b) >= last.lineno]


def _runs_there(names: Names, mention: ast.Name, home: Scope) -> bool:
    """Whether a mention is computed where it stands, in a list that is made there as well."""
    if names.scope_of_name[mention] is home:
        return True
    for one in names.ancestors(mention):
        if isinstance(one, ast.GeneratorExp):
            call = names.taker(one)
            if call is None or names.qualname(call.func) not in _AT_ONCE or len(call.args) != 1:
                return False
        if isinstance(one, ast.Lambda):
            return False
        if isinstance(one, ast.stmt):
            return names.scope_at(one) is home
    return False


_AT_ONCE = ("builtins.tuple", "builtins.list", "builtins.sum", "builtins.sorted")
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _line(binding: Binding) -> int:
    return line_of(binding.node)


def _statement(names: Names, binding: Binding) -> ast.stmt:
    node = binding.node
    return node if isinstance(node, ast.stmt) else names.statement(node)


def _in_same_arm(names: Names, statement: ast.stmt, around: set[ast.AST]) -> ast.stmt | None:
    """The statement, or the one around it, in the very block that leads to a place."""
    for one in (statement, *names.ancestors(statement)):
        if isinstance(one, ast.stmt) and one not in around:
            if names.parents.get(one) in around and any(s in around for s in names.block(one)):
                return one
    return None


def _always_gives(statement: ast.stmt, giving: Collection[ast.stmt]) -> bool:
    """Whether a statement gives a value on each of its paths; ``giving``: those that assign one."""
    if isinstance(statement, _SIMPLE):
        return statement in giving
    if isinstance(statement, ast.If):
        return all(_gives(block, giving) for block in (statement.body, statement.orelse))
    if isinstance(statement, ast.With):
        return _gives(statement.body, giving)
    if isinstance(statement, ast.Try):
        caught = all(
            _gives(handler.body, giving) or isinstance(handler.body[-1], ast.Raise)
            for handler in statement.handlers
        )
        return caught and _gives([*statement.body, *statement.orelse], giving)
    return False


def _gives(block: list[ast.stmt], giving: Collection[ast.stmt]) -> bool:
    return any(_always_gives(one, giving) for one in block)
