"""The optimizer of a canned Estimator in Keras: an argument of ``compile``."""

from __future__ import annotations

import ast

from migrate_mgpu.models.ir import PartOptimizer
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.source.style import FileStyle


def write_optimizer(given: PartOptimizer, style: FileStyle) -> tuple[str, tuple[str, ...]]:
    """Its constructor, and the classes that stand above for it.

    Raises:
        Refused: Keras's does something else in this program.
    """
    writer, call = OptimizerWriter(given.optimizer, style), given.optimizer.node
    if given.named:
        return writer.text(), writer.classes
    assert isinstance(call, ast.Call)
    context = Context(given.optimizer.module, style)
    return context.render_call(call, writer.edits()), writer.classes
