"""Which driver calls of a model come first: there its variables are made, of what it is fed."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.ir import EVALUATE, EXPORT, PREDICT, DriverCall

_ASKED = (EVALUATE, PREDICT)

_SKIPPING = (
    ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


@record(frozen=True, eq=False)
class FirstUse:
    """A driver call before which no other one runs, and the statement that it stands in."""

    call: DriverCall
    statement: ast.stmt
    again: bool = False  # a loop comes to it several times

    @property
    def is_fed(self) -> bool:
        """Whether it has an input function: an export has none."""
        return self.call.kind != EXPORT


class _Unclear(Exception):
    """Which one comes first depends on more than `if`s."""


def first_uses(
    module: Module, place: ast.stmt, calls: Sequence[DriverCall], several: bool = False
) -> list[FirstUse] | None:
    """The driver calls of which each run comes to one first, from a statement of a block on.

    ``several``: also those that a run comes to first or later, by the conditions above them, and
    those of a loop in which nothing trains. None where that cannot be said, or where a run may
    come to a call several times otherwise.
    """
    block = module.names.block(place)
    try:
        found, _ = _Search(module, calls, several).block(block[block.index(place) :])
    except _Unclear:
        return None
    return found


class _Search:
    def __init__(self, module: Module, calls: Sequence[DriverCall], several: bool) -> None:
        self.module = module
        self.calls = calls
        self.several = several

    def inside(self, node: ast.AST) -> list[DriverCall]:
        parents = self.module.names.ancestors
        return [c for c in self.calls if c.node is node or node in parents(c.node)]

    def block(self, statements: Sequence[ast.stmt]) -> tuple[list[FirstUse], bool]:
        """The first uses in a block, and whether each way through it has one.

        Raises:
            _Unclear: what comes first cannot be said.
        """
        found: list[FirstUse] = []
        for statement in statements:
            if not self.inside(statement):
                continue
            if found and not self.several:
                raise _Unclear
            more, always = self.statement(statement)
            found += more
            if always:
                return found, True
        return found, False

    def statement(self, statement: ast.stmt) -> tuple[list[FirstUse], bool]:
        if isinstance(statement, ast.If):
            if self.inside(statement.test):
                raise _Unclear
            found, always = self.block(statement.body)
            others, other = self.block(statement.orelse)
            always = always or _ends(statement.body)
            return [*found, *others], always and (other or _ends(statement.orelse))
        if isinstance(statement, ast.With):
            if any(self.inside(item) for item in statement.items):
                raise _Unclear
            return self.block(statement.body)
        head: ast.AST = statement
        if isinstance(statement, (ast.For, ast.While)) and self.several:
            around = statement.iter if isinstance(statement, ast.For) else statement.test
            inner = [one for one in self.inside(statement) if one not in self.inside(around)]
            if inner == self.inside(statement) and all(c.kind in _ASKED for c in inner):
                found, _ = self.block(statement.body)
                others, _ = self.block(statement.orelse)
                return [replaced(one, again=True) for one in (*found, *others)], False
        if isinstance(statement, ast.For):
            head = statement.iter
        elif any(isinstance(part, ast.stmt) for part in ast.walk(statement) if part is not head):
            raise _Unclear  # a loop, a `try`, a function
        calls = self.inside(head)
        if len(calls) != 1:
            raise _Unclear
        for parent in self.module.names.ancestors(calls[0].node):
            if parent is statement:
                break
            if isinstance(parent, _SKIPPING):
                raise _Unclear
        return [FirstUse(calls[0], statement)], True


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Whether nothing comes behind a block."""
    return bool(statements) and isinstance(statements[-1], (ast.Return, ast.Raise))
