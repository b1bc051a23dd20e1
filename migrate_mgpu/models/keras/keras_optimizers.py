"""The optimizer that a Keras model of 1.15 is compiled with, written for Keras of today."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS
from migrate_mgpu.models.ir import Optimizer
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.optimizers import OptimizerWriter
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle


def compiled_edits(optimizer: Optimizer, style: FileStyle) -> tuple[Edit, ...]:
    """What turns the call of an optimizer that a Keras model is compiled with into today's.

    Raises:
        Refused: nothing says the same, or only a class of the program's own.
    """
    row = KERAS_OPTIMIZERS.by_kind.get(optimizer.kind)
    if row is None:
        writer = OptimizerWriter(optimizer, style)
        if writer.classes:
            raise Refused(
                optimizer.module, optimizer.node, "this optimizer needs a helper class in TF2",
                "give the Keras model one of tf.keras.optimizers",
            )  # fmt: skip
        return writer.edits()
    call, decay = optimizer.node, optimizer.arguments.get("decay")
    assert isinstance(call, ast.Call)
    if not is_none(decay) and decay is not None and constant(decay) != 0:
        return (_falling(optimizer, call, decay, style),)
    edit = CallEdit(optimizer.module.source, call, row.signature)
    if is_none(edit.get("epsilon")):
        edit.drop("epsilon")  # then it is Keras's own 1e-7
    for parameter in row.parameters:
        if not parameter.new_name:
            edit.drop(parameter.name)
        edit.rename(parameter.name, parameter.new_name)
    return edit.edits()


def _falling(optimizer: Optimizer, call: ast.Call, decay: ast.expr, style: FileStyle) -> Edit:
    """An optimizer whose rate falls with each step, as 1.15's did by ``decay``."""
    module, rate = optimizer.module, optimizer.learning_rate.value
    if rate is None:
        raise Refused(module, decay, "`decay` of a learning rate that is not given", "give it")
    source = module.source
    start, end = source.span(call)
    indent = source.indent_of(call)
    column = source.place(start)[1] - 1
    inner = style.continued(indent)
    row, given = KERAS_OPTIMIZERS.by_kind[optimizer.kind], optimizer.arguments
    function = f"{style.tensorflow}.{row.target}"
    schedule = f"{style.tensorflow}.keras.optimizers.schedules.InverseTimeDecay"
    others = [
        f"{parameter.name}={text_of(module, given[parameter.name])}"
        for parameter in row.parameters
        if parameter.new_name not in ("learning_rate", "")
        and parameter.name in given
        and not is_none(given[parameter.name])
    ]
    pieces = [text_of(module, rate), "decay_steps=1", f"decay_rate={text_of(module, decay)}"]
    falling = f"{schedule}({', '.join(pieces)})"
    made = f"{function}({', '.join([falling, *others])})"
    if column + len(made) > style.width:
        falling = style.call(schedule, pieces, inner, len(inner))
        made = style.call(function, [falling, *others], indent, column)
    return Edit(start, end, made)
