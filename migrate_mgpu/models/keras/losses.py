"""Losses of the model IR in Keras: a loss object, an expression, functions of the program's own."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.losses import LOSSES, WEIGHTED, LossRow, Reduction
from migrate_mgpu.api.schema import Definition
from migrate_mgpu.api.tables import name_of, number
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.ir import Computation, Loss, Objective
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.properties import (
    compared_labels,
    fits_compile,
    is_batch_mean,
    lacks_rank,
)
from migrate_mgpu.source.blocks import Block, trailing
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_REDUCED = {
    Reduction.MEAN: "reduce_mean",
    Reduction.BATCH: "reduce_mean",
    Reduction.SUM: "reduce_sum",
}


def loss_object(loss: Loss, style: FileStyle) -> str:
    """A Keras loss object; see ``has_keras_class``."""
    row = LOSSES.by_kind[loss.kind]
    arguments = ["from_logits=True"] if row.logits else []
    if loss.setting is not None:
        arguments.append(f"{row.setting}={loss.module.source.code(loss.setting)}")
    of_classes = compared_labels(loss) is not loss.labels
    keras = row.of_classes if of_classes else row.keras
    return f"{style.tensorflow}.keras.losses.{keras}({', '.join(arguments)})"


def elements_of_output(loss: Loss, output: str, style: FileStyle) -> str | None:
    """What a loss is the mean of, element by element; None where that is not known."""
    text = LOSSES.by_kind[loss.kind].by_number
    if not text or loss.setting is not None:
        return None
    labels = f"{style.tensorflow}.cast(labels, {output}.dtype)"
    return style.code(text, labels=labels, outputs=output)


def loss_edits(loss: Loss, style: FileStyle, reduces: bool = True) -> tuple[Edit, ...]:
    """The edits that make an expression of TF2: values of examples or elements, or one number.

    Weights are not in it (``replacement``); without ``reduces`` a mean is the values that it is
    the mean of.
    """
    module, row = loss.module, LOSSES.by_kind[loss.kind]
    edit = CallEdit(module.source, loss.node, row.signature)
    edit.drop(*(parameter.name for parameter in row.parameters if not parameter.new_name))
    if loss.setting is None:
        edit.drop("label_smoothing")
    around: list[str] = []  # functions of what is called
    if row.definition is not None:
        function = _free_name(module, row.definition)
    elif row.elementwise and (
        loss.weights is not None
        or loss.reduction in (Reduction.SUM, Reduction.NONE)
        or (
            reduces
            and row.elements is not None
            and any(lacks_rank(loss.module, one) for one in (loss.labels, loss.outputs))
        )
    ):
        function = _of_elements(edit, loss, row, style)
        if row.elements is not None and row.elements.within and loss.setting is None:
            around.append(row.elements.within)
    else:
        function = _of_examples(edit, loss, row, style)
    if loss.weights is None and loss.reduction in _REDUCED and reduces:
        around.insert(0, _REDUCED[loss.reduction])
    factor = f"{number(loss.factor)} * " if loss.factor != 1 else ""
    edit.function(factor + "".join(f"{style.tensorflow}.{one}(" for one in around) + function)
    _, end = module.source.span(loss.node)
    return (*edit.edits(), *([Edit(end, end, ")" * len(around))] if around else []))


def _of_examples(edit: CallEdit, loss: Loss, row: LossRow, style: FileStyle) -> str:
    """The function that gives a value for each example, the last axis averaged."""
    function, constants, order = row.target, row.constants, row.order
    names = {p.name: p.new_name for p in row.parameters if p.new_name}
    form = row.smoothed if _is_smoothed(loss, row) else None
    if form is not None:
        function, order = form.function, (form.labels, form.outputs)
        names = {row.labels: form.labels, row.outputs: form.outputs}
        constants = (("from_logits", "True"),)
    for name, value in constants:
        edit.add(name, value)
    if is_none(edit.get("axis")):
        edit.drop("axis")
    for old, new in names.items():
        edit.rename(old, new)
    edit.order(order)
    return f"{style.tensorflow}.{function}"


def _is_smoothed(loss: Loss, row: LossRow) -> bool:
    return row.smoothed is not None and loss.setting is not None


def _of_elements(edit: CallEdit, loss: Loss, row: LossRow, style: FileStyle) -> str:
    """The function that gives a value for each element."""
    form = row.elements
    if form is None or loss.setting is not None:
        # Keras's functions average over the last axis, as no sum and no weights of TF1's do.
        for compared in (row.labels, row.outputs):
            edit.wrap(compared, f"{style.tensorflow}.expand_dims(", ", -1)")
        return _of_examples(edit, loss, row, style)
    if name_of(loss.module, loss.labels) not in ("cast", "to_float"):
        tf = style.tensorflow
        edit.wrap(row.labels, f"{tf}.cast(", f", {tf}.float32)")
    edit.rename(row.labels, form.labels)
    edit.rename(row.outputs, form.outputs)
    edit.order((form.labels, form.outputs) if form.by_position else ())
    return f"{style.tensorflow}.{form.function}"


def _free_name(module: Module, definition: Definition) -> str:
    return module.names.fresh(module.names.module_scope, definition.name)


def replacement(loss: Loss, reduces: bool = True) -> Replacement:
    """A loss as an expression of TF2, its arguments as they are where it stands."""

    def write(context: Context) -> str:
        text = context.render_call(loss.node, loss_edits(loss, context.style, reduces))
        if loss.weights is None or loss.reduction is None:
            return text
        name = _free_name(loss.module, WEIGHTED[loss.reduction])
        return f"{name}({text}, {context.render(loss.weights)})"

    return write


def is_mean_of_rows(loss: Loss, by_rows: bool) -> bool:
    """Whether a loss is the mean of a value for each row; ``by_rows``: the outputs are rows."""
    row = LOSSES.by_kind[loss.kind]
    if loss.weights is not None or loss.factor != 1 or row.definition is not None:
        return False
    return is_batch_mean(loss) and (by_rows or _is_smoothed(loss, row))


def replacements(module: Module, nodes: Iterable[ast.AST]) -> dict[ast.AST, Replacement]:
    """The losses among some nodes, with what writes them."""
    calls = (part for node in nodes for part in walk(node) if isinstance(part, ast.Call))
    return {call: replacement(loss) for call in calls if (loss := read_loss(module, call))}


def calls_keras(module: Module, call: ast.Call) -> bool:
    """Whether a loss becomes a function of ``keras.losses``."""
    loss = read_loss(module, call)
    return loss is not None and LOSSES.by_kind[loss.kind].target.startswith("keras.")


def written_nodes(computation: Computation) -> list[ast.AST]:
    """The author's nodes that are written anew: of a loss object's own call nothing is."""
    if isinstance(computation, Objective) and fits_compile(computation):
        return [*computation.units]
    return [*computation.units, computation.value]


def definitions(module: Module, nodes: Iterable[ast.AST], style: FileStyle) -> list[str]:
    """The functions that the losses among some nodes call: their own, and those that weigh."""
    found: dict[str, Definition] = {}
    for call in (c for node in nodes for c in walk(node) if isinstance(c, ast.Call)):
        loss = read_loss(module, call)
        if loss is None:
            continue
        own = LOSSES.by_kind[loss.kind].definition
        weighs = WEIGHTED[loss.reduction] if loss.weights is not None and loss.reduction else None
        found.update({_free_name(module, one): one for one in (own, weighs) if one is not None})
    return [definition.written(name, style) for name, definition in found.items()]


def add_statement(block: Block, unit: ast.stmt, context: Context, style: FileStyle) -> None:
    """Adds a statement of the author's; a weighted loss is broken where it does not fit."""
    edits = context.edits(unit)
    source, value = context.module.source, unit.value if isinstance(unit, ast.Assign) else None
    loss = read_loss(context.module, value) if value is not None else None
    if value is not None and loss is not None and loss.weights is not None:
        head = source.text[source.span(unit)[0] : source.span(value)[0]]
        text = context.render(value)
        if "\n" not in head + text and not trailing(source, unit):
            base = block.indent + style.indent
            block.comments(unit, 1)
            block.line(head + style.fitted(text, base, len(base + head), nested=True), 1)
            return
    block.statement(unit, edits, 1)
