"""Weights of which a step looks up some rows only: what optimizers do with the others."""

from __future__ import annotations

from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.models.front.decayed_tables import decays_tables
from migrate_mgpu.models.ir import Optimizer
from migrate_mgpu.models.properties import moves_same_rows


def check_lookups(optimizers: Iterable[Optimizer]) -> None:
    """TF1's optimizers leave rows alone that a step does not look up; Keras's move them.

    Raises:
        Refused: an optimizer that trains otherwise then.
    """
    for optimizer in optimizers:
        module, node = optimizer.module, optimizer.node
        if not moves_same_rows(optimizer) and not decays_tables(module, node):
            text = (
                "in TF1 momentum and moving averages stay unchanged for rows that are not looked up"
            )
            raise Refused(module, node, text, "train it by AdamOptimizer, or without")
