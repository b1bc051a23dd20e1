"""A loss that is no Keras loss, written as a function of labels and the model's output."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.dataflow import stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import short_name_of
from migrate_mgpu.models.front.model_fn.losses import LossPlan
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import partners
from migrate_mgpu.models.keras.expressions import LOSSES, Context, Replacement, rule
from migrate_mgpu.models.types import Loss
from migrate_mgpu.source import layout
from migrate_mgpu.source.blocks import Block, outermost, render

_INTEGERS = {
    "one_hot",
    "in_top_k",
    "sparse_softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy",
}


class LossWriter:
    """Writes a loss that is no Keras loss."""

    def __init__(self, reading: Reading, plan: LossPlan, tf: str, name: str) -> None:
        self.reading = reading
        self.plan = plan
        self.tf = tf
        self.name = name
        self.module = reading.module

    def context(self) -> Context:
        """The function's own names are the author's."""
        context = Context(self.module, self.tf, self.reading.modes)
        nodes = [*self.plan.units, *([self.plan.value] if self.plan.value is not None else [])]
        for call in (c for n in nodes for c in ast.walk(n) if isinstance(c, ast.Call)):
            known = rule(LOSSES).loss(self.module, call, self.tf)
            if known is not None:
                context.replaced[call] = replacement(known)
        for unit in self.plan.units:
            self._shapes(context, unit, unit)
        if self.plan.value is not None:
            self._shapes(context, self.plan.value, self.plan.unit)
        return context

    def _shapes(self, context: Context, node: ast.AST, unit: ast.stmt | None) -> None:
        """Labels get back the shape of what they meet."""
        flow, (output, made) = self.reading.flows[TRAIN], self.reading.output

        def resolve(value: ast.expr) -> ast.expr:
            return flow.resolve(value, unit, made)[0] or value

        def is_output(value: ast.expr) -> bool:
            found = resolve(value)
            return isinstance(found, ast.Name) and found.id == output

        def loss(call: ast.Call) -> Loss | None:
            found = rule(LOSSES).loss(self.module, call, self.tf)
            assert found is None or isinstance(found, Loss)
            return found

        for name, other in partners(self.module, [node], loss, resolve, is_output).items():
            context.replaced[name] = _shaped(name, other, self.tf)

    def write(self, block: Block) -> Context:
        """Adds the function to a block."""
        plan = self.plan
        assert plan.value is not None
        context = self.context()
        output, _ = self.reading.output
        value, units = plan.value, list(plan.units)
        last = units[-1] if units else None
        if isinstance(value, ast.Name) and isinstance(last, ast.Assign):
            if value.id in stored(last)[0]:
                value = last.value
                units.pop()
        units = [u for u in units if value not in ast.walk(u)]
        block.line(f"def {self.name}(labels, {output}):")
        if plan.elements is not None:
            block.line(f"return {plan.elements}", 1)
            return context
        if self._needs_integers([*units, value]):
            tf = self.tf
            shape = f"{tf}.shape({output})[:-1]"
            block.line(f"labels = {tf}.cast({tf}.reshape(labels, {shape}), {tf}.int32)", 1)
        elif (kind := self._compared_classes([*units, value])) is not None:
            tf = self.tf
            shape = f"{tf}.shape({output})[:-1]"
            block.line(f"labels = {tf}.cast({tf}.reshape(labels, {shape}), {tf}.{kind})", 1)
        for unit in units:
            block.statement(unit, context.edits(unit), 1)
            break_weighted(block, self.module, unit, self.tf)
        base = block.indent + self.module.source.indent_unit
        text = context.render(value, len(base) + len("return "), base)
        if plan.scalar:
            text = self._each(text)
            text = layout.nested(self.module.source, text, base, len(base) + len("return "))
        block.line(f"return {text}", 1)
        if context.trains:
            text = "the loss or a metric asks whether the model trains"
            raise Refused(self.module, value, text, "let the network ask")
        return context

    def _each(self, text: str) -> str:
        """A mean as what it is the mean of; any other number as a list of one.

        Keras averages, and divides by the replicas; Keras 3 does neither with a number.
        """
        made = ast.parse(text, mode="eval").body
        if isinstance(made, ast.Call) and ast.unparse(made.func) == f"{self.tf}.reduce_mean":
            inner = ast.get_source_segment(text, made.args[0]) or ""
            known = f"{self.tf}.keras.losses.", f"{self.tf}.nn."
            rows = self.plan.table or "categorical_crossentropy" in inner.partition("(")[0]
            if len(made.args) == 1 and not made.keywords and inner.startswith(known) and rows:
                return inner
        return f"{self.tf}.reshape({text}, [1])"

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
        """Keras 3 hands labels over as floats, Keras 2 a list of them as a column."""
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


def _shaped(name: ast.Name, other: ast.expr, tf: str) -> Replacement:
    return lambda context: f"{tf}.reshape({name.id}, {tf}.shape({context.render(other)}))"


def replacement(known: Loss) -> Replacement:
    """A loss as an expression of TF2, its arguments as they are where it stands."""

    def write(context: Context) -> str:
        source = context.module.source
        edits = list(known.edits)
        for argument in [*known.call.args, *(k.value for k in known.call.keywords)]:
            start, end = source.span(argument)
            if not any(e.start <= start and end <= e.end for e in edits if e.end > e.start):
                edits += context.edits(argument)
        text = render(source, known.call, outermost(edits))
        if known.weights is None or known.weighting is None:
            return text
        return f"{known.weighting.name}({text}, {context.render(known.weights)})"

    return write


def weighting_functions(module: Module, nodes: Iterable[ast.AST], tf: str) -> list[str]:
    """The texts of the functions that the losses among some nodes call: their own, and weights'."""
    calls = (c for node in nodes for c in ast.walk(node) if isinstance(c, ast.Call))
    found = [known for call in calls if (known := rule(LOSSES).loss(module, call, tf))]
    texts = [t for f in found for t in (f.function, f.weighting.text if f.weighting else "") if t]
    return list(dict.fromkeys(texts))


def break_weighted(block: Block, module: Module, unit: ast.stmt, tf: str) -> None:
    """Breaks the last line where it is a weighted loss that does not fit into it."""
    value = unit.value if isinstance(unit, ast.Assign) else None
    known = rule(LOSSES).loss(module, value, tf) if isinstance(value, ast.Call) else None
    line = block.lines[-1]
    if known is None or known.weighting is None or "\n" in line or "#" in line:
        return
    base = line[: len(line) - len(line.lstrip())]
    head, equals, text = line.partition(" = ")
    head += equals
    block.lines[-1] = head + layout.nested(module.source, text, base, len(head))
