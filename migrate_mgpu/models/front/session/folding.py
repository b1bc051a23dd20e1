"""Placeholders that have one value whenever a step runs: a flag that is fed True, a default."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Placeholder


def is_flag(placeholder: Placeholder) -> bool:
    """Whether a placeholder is true or false."""
    dtype = placeholder.arguments["dtype"]
    return constant(dtype) == "bool" or name_of(placeholder.module, dtype) == "bool"


def may_fold(placeholder: Placeholder) -> bool:
    """Whether a step may know what a placeholder is."""
    alone = placeholder.count is None
    return alone and (is_flag(placeholder) or constant(placeholder.default) is not None)


def is_computed(placeholder: Placeholder) -> bool:
    """Whether a step that is not fed a placeholder computes it, of others."""
    return placeholder.default is not None and constant(placeholder.default) is None


def fold(placeholder: Placeholder, value: ast.expr | None) -> ast.expr | None:
    """What a placeholder is where it is fed a value, or none, if that is known: a flag."""
    if value is None:
        return placeholder.default
    if not may_fold(placeholder):
        return None
    return value if is_flag(placeholder) and constant(value) in (True, False) else None
