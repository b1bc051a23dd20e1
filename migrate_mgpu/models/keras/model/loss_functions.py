"""A loss that is no Keras loss, written as a function of labels and the model's output."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import Computation, Objective
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.losses import (
    add_statement,
    elements_of_output,
    is_mean_of_rows,
    replacement,
    replacements,
)
from migrate_mgpu.models.properties import is_mean_of_output, is_number
from migrate_mgpu.source.blocks import Block, bracketed
from migrate_mgpu.source.style import FileStyle


class LossWriter:
    """Writes a value of a batch that is no Keras loss: the loss, or what a metric averages."""

    def __init__(
        self, reading: Reading, computation: Computation, style: FileStyle, name: str
    ) -> None:
        self.reading = reading
        self.computation = computation
        self.style = style
        self.name = name
        self.module = reading.module

    def context(self) -> Context:
        """The function's own names are the author's."""
        computation = self.computation
        replaced = replacements(self.module, [*computation.units, computation.value])
        for name, other in computation.label_use.beside.items():
            replaced[name] = _shaped(name, other)
        return Context(self.module, self.style, self.reading.modes, {}, replaced)

    def write(self, block: Block) -> Context:
        """Adds the function to a block."""
        computation, context, tf = self.computation, self.context(), self.style.tensorflow
        objective = computation if isinstance(computation, Objective) else None
        output, _ = self.reading.output
        value, units = computation.value, list(computation.units)
        last = units[-1] if units else None
        if isinstance(value, ast.Name) and isinstance(last, ast.Assign):
            if value.id in stored(last)[0]:
                value = last.value
                units.pop()
        units = [u for u in units if value not in ast.walk(u)]
        block.line(f"def {self.name}(labels, {output}):")
        if objective is not None and objective.loss is not None and is_mean_of_output(objective):
            elements = elements_of_output(objective.loss, output, self.style)
            if elements is not None:
                block.line(f"return {elements}", 1)
                return context
        bits = computation.label_use.bits
        if bits is not None:  # Keras 3 hands labels over as floats, Keras 2 a list as a column
            shape = f"{tf}.shape({output})[:-1]"
            block.line(f"labels = {tf}.cast({tf}.reshape(labels, {shape}), {tf}.int{bits})", 1)
        for unit in units:
            add_statement(block, unit, context, self.style)
        base = block.indent + self.style.indent
        column = len(base) + len("return ")
        if objective is not None and is_number(objective):
            # Keras averages, and divides by the replicas; Keras 3 does neither with a number.
            loss = read_loss(self.module, value)
            if loss is not None and is_mean_of_rows(loss, objective.by_rows):
                context.replaced[value] = replacement(loss, reduces=False)
                text = context.render(value, column, base)
            else:
                text = f"{tf}.reshape({context.render(value, column, base)}, [1])"
            text = self.style.fitted(text, base, column, nested=True)
        else:
            text = context.render(value, column, base)
        block.line(f"return {bracketed(text)}", 1)
        if context.trains:
            text = "the loss or a metric asks whether the model trains"
            raise Refused(self.module, value, text, "let the network ask")
        return context


def _shaped(name: ast.Name, other: ast.expr) -> Replacement:
    def write(context: Context) -> str:
        tf = context.tf
        return f"{tf}.reshape({name.id}, {tf}.shape({context.render(other)}))"

    return write
