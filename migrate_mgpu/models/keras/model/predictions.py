"""`predict_step`: the predictions of a model_fn, made from the network's output."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import loaded, stored
from migrate_mgpu.models.front.model_fn.outputs import Outputs
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import Predictions
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.source.blocks import Block, bracketed
from migrate_mgpu.source.style import FileStyle


class PredictStep:
    """The method that gives what is predicted for a batch."""

    def __init__(
        self,
        reading: Reading,
        predictions: Predictions,
        style: FileStyle,
        outputs: Outputs | None = None,
    ) -> None:
        self.reading = reading
        self.predictions = predictions
        self.style = style
        self.outputs = outputs

    def write(self, network: Network, indent: str) -> str:
        """The method's text, inside of a class at an indentation."""
        reading, outputs = self.reading, self.outputs
        source = reading.module.source
        if outputs is None:
            output, _ = reading.output
            context = Context(reading.module, self.style, reading.modes)
        else:
            output = ", ".join(outputs.names_of(False))
            context = network.context({})
        unit = source.indent_unit
        block = Block(source, indent + unit)
        block.line("def predict_step(self, data):")
        unpack = f"{self.style.tensorflow}.keras.utils.unpack_x_y_sample_weight"
        block.line(f"features, _, _ = {unpack}(data)", 1)
        block.line(f"{output} = self(features, training=False)", 1)
        value, units = self.predictions.value, list(self.predictions.units)
        if outputs is not None:
            averaged = outputs.averages_of(n.id for s in (*units, value) for n in loaded(s))
            if averaged:
                block.line(f"{averaged} = self.averages(features, training=False)", 1)
        last = units[-1] if units else None
        if isinstance(value, ast.Name) and isinstance(last, ast.Assign):
            if value.id in stored(last)[0]:
                value = last.value
                units.pop()
        for statement in units:
            block.statement(statement, context.edits(statement), 1)
        if last is not None and last not in units:
            block.comments(last, 1)
        base = block.indent + unit
        text = context.render(value, len(base) + len("return "), base)
        block.line(f"return {bracketed(text)}", 1)
        if outputs is not None:
            network.reads(context)
        return block.text()
