"""What becomes a class: the statements of a function, and what its parameters are."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.ir import WeightDecay


@record()
class Plan:
    """What becomes a class.

    ``statements`` are those of the function's body to go into it, with ``kept`` the
    ones inside of them that stay; ``tensors`` and ``settings`` are its parameters.
    ``result`` is the name that `call` returns, None where the body has its own `return`.
    """

    module: Module
    function: ast.FunctionDef
    statements: Sequence[ast.stmt]
    kept: set[ast.stmt]
    tensors: list[str]
    settings: list[str]
    modes: Modes
    name: str
    base: str
    result: str | None = None
    regularized: bool = True
    decay: WeightDecay | None = None
    replicas: bool = False  # whether several may train it
    reserved: frozenset[str] = frozenset()  # attributes of the model's that are no layers
    others: Sequence[str] = ()  # tensors that `call` is not given
    plain: Collection[str] = ()  # those of `tensors` that are Python's own values
    optional: Collection[str] = ()  # such that some of its calls leave out
    saved: bool = False  # whether Keras may save its weights, each by its name


def is_docstring(function: ast.FunctionDef, statement: ast.stmt) -> bool:
    """Whether a statement is its function's docstring."""
    return (
        statement is function.body[0]
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
