"""A loss that is no Keras loss, written as a function of labels and the model's output."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.api.tables import short_name_of
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import partners
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
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.style import FileStyle

_INTEGERS = {
    "one_hot",
    "in_top_k",
    "sparse_softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy",
}


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
        nodes = [*computation.units, computation.value]
        replaced = replacements(self.module, nodes)
        context = Context(self.module, self.style, self.reading.modes, {}, replaced)
        for unit in computation.units:
            self._shapes(context, unit, unit)
        self._shapes(context, computation.value, computation.unit)
        return context

    def _shapes(self, context: Context, node: ast.AST, unit: ast.stmt | None) -> None:
        """Labels get back the shape of what they meet."""
        flow, (output, made) = self.reading.flows[TRAIN], self.reading.output

        def resolve(value: ast.expr) -> ast.expr:
            return flow.resolve(value, unit, made)[0] or value

        def is_output(value: ast.expr) -> bool:
            found = resolve(value)
            return isinstance(found, ast.Name) and found.id == output

        for name, other in partners(self.module, [node], resolve, is_output).items():
            context.replaced[name] = _shaped(name, other)

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
        kind = self._labels_type([*units, value])
        if kind is not None:
            shape = f"{tf}.shape({output})[:-1]"
            block.line(f"labels = {tf}.cast({tf}.reshape(labels, {shape}), {tf}.{kind})", 1)
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
        block.line(f"return {text}", 1)
        if context.trains:
            text = "the loss or a metric asks whether the model trains"
            raise Refused(self.module, value, text, "let the network ask")
        return context

    def _labels_type(self, nodes: list[ast.AST]) -> str | None:
        """The type of labels that are classes.

        Keras 3 hands labels over as floats, Keras 2 a list of them as a column.
        """
        return "int32" if self._needs_integers(nodes) else self._compared_classes(nodes)

    def _compared_classes(self, nodes: list[ast.AST]) -> str | None:
        """The type of the output's argmax, where the labels meet it: those may be a float column.

        None where they do not, or are of several classes themselves.
        """
        output, _ = self.reading.output
        found: str | None = None
        for call in (c for n in nodes for c in ast.walk(n) if isinstance(c, ast.Call)):
            if short_name_of(self.module, call) != "argmax":
                continue
            if not any(isinstance(v, ast.Name) and v.id == output for v in ast.walk(call)):
                continue
            found = "int32" if any(k.arg == "output_type" for k in call.keywords) else "int64"
        if found is None or not any(self._mentions_labels(node) for node in nodes):
            return None
        return found

    def _needs_integers(self, nodes: list[ast.AST]) -> bool:
        """Whether a function wants labels as integers."""
        return any(
            self._mentions_labels(call)
            for call in (c for n in nodes for c in ast.walk(n) if isinstance(c, ast.Call))
            if short_name_of(self.module, call) in _INTEGERS
        )

    def _mentions_labels(self, node: ast.AST) -> bool:
        """Whether labels are read as they are, not as the argmax of several columns."""
        stack = [node]
        while stack:
            part = stack.pop()
            if isinstance(part, ast.Name) and part.id == "labels":
                return True
            if isinstance(part, ast.Call) and short_name_of(self.module, part) in (
                "argmax",
                "arg_max",
            ):
                continue
            stack.extend(ast.iter_child_nodes(part))
        return False


def _shaped(name: ast.Name, other: ast.expr) -> Replacement:
    def write(context: Context) -> str:
        tf = context.tf
        return f"{tf}.reshape({name.id}, {tf}.shape({context.render(other)}))"

    return write
