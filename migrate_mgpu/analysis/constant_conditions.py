"""Whether conditions hold that ask for constants alone: `if bn:`, `if not wd`, `if wd is None`."""

from __future__ import annotations

import ast
from collections.abc import Callable


class Unknown:
    """Stands for a value that is not known."""


def holds(test: ast.expr, value: Callable[[ast.expr], object]) -> bool | None:
    """Whether a condition holds; None where that is not known.

    ``value`` is what a name or a literal stands for, `Unknown` where that is not known.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = holds(test.operand, value)
        return None if inner is None else not inner
    if not isinstance(test, ast.Compare):
        known = value(test)
        return None if known is Unknown else bool(known)
    if len(test.ops) > 1:
        return None
    one, other = value(test.left), value(test.comparators[0])
    if one is Unknown or other is Unknown:
        return None
    if isinstance(test.ops[0], (ast.Is, ast.Eq)):
        return one == other
    return one != other if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) else None
