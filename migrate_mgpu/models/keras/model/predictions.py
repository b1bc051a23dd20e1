"""`predict_step`: the predictions of a model_fn, made from the network's output."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import items, stored
from migrate_mgpu.analysis.diagnostics import NeedsSteps, Refused
from migrate_mgpu.analysis.modes import PREDICT
from migrate_mgpu.models.front.model_fn.outputs import Outputs
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.source.blocks import Block


class PredictStep:
    """The method that gives a dictionary for a batch.

    Raises:
        Refused: the predictions need more of the network than its output.
    """

    def __init__(
        self,
        reading: Reading,
        tf: str,
        value: ast.expr,
        unit: ast.stmt | None,
        outputs: Outputs | None = None,
    ) -> None:
        self.reading = reading
        self.tf = tf
        self.value = value
        self.outputs = outputs
        flow = reading.flows[PREDICT]
        if outputs is not None:
            self.gives_dictionary = bool(items(flow.resolve(value, unit)[0]))
            self.units = outputs.predictions
            return
        _, made = reading.output
        self.gives_dictionary = bool(items(flow.resolve(value, unit, made)[0]))
        needed = self._between(value, unit)
        for statement in sorted(needed & reading.network, key=lambda s: s.lineno):
            if flow.depends(statement, statement, "features"):
                text = "the predictions need more of the network than the loss looks at"
                raise NeedsSteps(reading.module, value, text, f"line {statement.lineno}")
        self.units = sorted(needed - {made}, key=lambda s: s.lineno)
        for name in reading.settings:
            outside = [u for u in self.units if flow.depends(u, u, name, made)]
            if any(n.id == name for n in ast.walk(value) if isinstance(n, ast.Name)):
                outside.append(made)
            if outside:
                raise Refused(reading.module, outside[0], f"the predictions depend on `{name}`")

    def _between(self, value: ast.expr, unit: ast.stmt | None) -> set[ast.stmt]:
        """The statements behind a value, down to the output."""
        flow = self.reading.flows[PREDICT]
        _, made = self.reading.output
        found: set[ast.stmt] = set()
        stack: list[tuple[ast.AST, ast.stmt | None]] = [(value, unit)]
        while stack:
            node, place = stack.pop()
            for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
                for statement in flow.definitions(name.id, place):
                    if statement is not made and statement not in found:
                        found.add(statement)
                        stack.append((statement, statement))
        return found

    def write(self, network: Network, indent: str) -> str:
        """The method's text, inside of a class at an indentation."""
        reading, outputs = self.reading, self.outputs
        source = reading.module.source
        if outputs is None:
            output, _ = reading.output
            context = Context(reading.module, self.tf, reading.modes)
        else:
            output = ", ".join(outputs.given(False))
            context = network.context({})
        unit = source.indent_unit
        block = Block(source, indent + unit)
        block.line("def predict_step(self, data):")
        block.line(f"features, _, _ = {self.tf}.keras.utils.unpack_x_y_sample_weight(data)", 1)
        block.line(f"{output} = self(features, training=False)", 1)
        value, units = self.value, list(self.units)
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
        block.line(f"return {text}", 1)
        if outputs is not None:
            network.reads(context)
        return block.text()
