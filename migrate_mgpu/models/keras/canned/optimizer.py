"""The optimizer of a canned Estimator in Keras: an argument of ``compile``."""

from __future__ import annotations

import ast

from migrate_mgpu.models.front.canned.optimizer import CannedOptimizer
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.source.blocks import outermost, render
from migrate_mgpu.source.style import FileStyle


def write_optimizer(given: CannedOptimizer, style: FileStyle) -> tuple[str, tuple[str, ...]]:
    """Its constructor, and the classes that stand above for it.

    Raises:
        Refused: Keras's does something else in this program.
    """
    optimizer = given.optimizer
    writer = OptimizerWriter(optimizer, style)
    call, module = optimizer.node, optimizer.module
    if given.named:
        return writer.text(), writer.classes
    assert isinstance(call, ast.Call)
    context = Context(module, style.tensorflow)
    edits = list(writer.edits())
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        start, end = module.source.span(argument)
        if not any(e.start <= start and end <= e.end for e in edits if e.end > e.start):
            edits += context.edits(argument)
    return render(module.source, call, outermost(edits)), writer.classes
