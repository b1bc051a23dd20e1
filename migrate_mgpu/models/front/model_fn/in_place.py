"""Batch normalization that moves its averages as it is computed, not by UPDATE_OPS."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import name_of


def moves_in_place(module: Module) -> bool:
    """Whether all batch normalization of a module says so: ``updates_collections=None``."""
    every = [c for c in module.names.calls if name_of(module, c).endswith("batch_norm")]
    every += [c for c in module.names.calls if name_of(module, c).endswith("batch_normalization")]
    return bool(every) and all(_in_place(call) for call in every)


def _in_place(call: ast.Call) -> bool:
    return any(k.arg == "updates_collections" and is_none(k.value) for k in call.keywords)
