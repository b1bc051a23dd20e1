"""Keras's constructors of what a network makes: edits of TF1's calls, in the author's layout."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.keras import PARTS
from migrate_mgpu.api.layers import CHANNELS, LAYERS
from migrate_mgpu.api.recurrent import CELLS, JOINED, KERAS_LAYERS, RUNS, is_joined
from migrate_mgpu.api.schema import Row
from migrate_mgpu.api.tables import negative, number, scaled
from migrate_mgpu.api.variables import DEFAULTS, VARIABLES
from migrate_mgpu.models.front.network.cell_states import joins_states
from migrate_mgpu.models.front.network.cell_variables import given_by_calls
from migrate_mgpu.models.ir import (
    Cell,
    FirstValue,
    Initializer,
    KerasRecurrent,
    Layer,
    Operation,
    Recurrent,
    Weight,
)
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

_NOTHING: Mapping[str, str] = {}
_GATES = "lambda x: {tf}.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"


def made_edits(
    made: Operation,
    style: FileStyle,
    more: Mapping[str, str] = _NOTHING,
    function: str = "",
    render: Callable[[ast.AST], str] | None = None,
) -> tuple[Edit, ...]:
    """The edits that turn a call into the constructor of what it makes; a layer with ``more``.

    ``function`` is what makes a layer in the place of Keras's class. ``render`` writes what a
    weight begins with as it stands there; without it that is the author's code.
    """
    if isinstance(made, Layer):
        return layer_edits(made, style, more, function, render)
    if isinstance(made, Weight):
        text = render or made.module.source.code
        return weight_edits(made, style, text, more.get("name", ""))
    if isinstance(made, Recurrent):
        return recurrent_edits(made, style)
    if isinstance(made, Cell):
        return cell_edits(made, style)
    if isinstance(made, KerasRecurrent):
        return keras_recurrent_edits(made, style)
    return part_edits(made, style)


def _arguments(made: Operation, row: Row) -> CallEdit:
    """A call without the arguments that do not count."""
    assert isinstance(made.node, ast.Call)
    edit = CallEdit(made.module.source, made.node, row.signature)
    edit.drop(*(name for name in row.signature if name not in made.arguments))
    return edit


def _edit(made: Operation, row: Row, style: FileStyle) -> CallEdit:
    """The same, of what TF2 has for the call's function."""
    edit = _arguments(made, row)
    if row.target:
        edit.function(f"{style.tensorflow}.{row.target}")
    return edit


def rename(edit: CallEdit, row: Row) -> None:
    """TF2's names of the parameters, and those that it takes by position."""
    for parameter in row.parameters:
        if parameter.new_name not in ("", parameter.name):
            edit.rename(parameter.name, parameter.new_name)
    edit.order(row.order)


def _state(edit: CallEdit, row: Row, given: Iterable[str], style: FileStyle) -> None:
    """TF1's defaults that are not Keras's, where nothing is given."""
    for parameter in row.parameters:
        if parameter.stated and parameter.name not in given:
            edit.add(parameter.new_name, style.code(parameter.default))


def layer_edits(
    layer: Layer,
    style: FileStyle,
    more: Mapping[str, str] = _NOTHING,
    function: str = "",
    render: Callable[[ast.AST], str] | None = None,
) -> tuple[Edit, ...]:
    """`tf.layers.dense(net, 10)` as `tf.keras.layers.Dense(10)`, with ``more`` arguments."""
    row, given = LAYERS.by_kind[layer.kind], layer.arguments
    edit = _arguments(layer, row)
    edit.drop(*(parameter.name for parameter in row.parameters if parameter.new_name in more))
    if row.definitions:
        names = layer.module.names
        function = names.fresh(names.module_scope, row.definitions[-1].name)
    edit.function(function or f"{style.tensorflow}.{row.target}")
    if is_none(given.get("biases_initializer")):  # no bias at all
        edit.value("biases_initializer", "False")
        edit.rename("biases_initializer", "use_bias")
    channels = given.get("data_format")
    if channels is not None and constant(channels) in CHANNELS:  # contrib's `NCHW`
        if row.keras == "BatchNormalization":
            edit.drop("data_format")
            edit.add("axis", "1")
        else:
            edit.value("data_format", style.string("channels_first"))
    if "keep_prob" in given:
        negative(edit, "keep_prob", "1")
    for name in layer.texts:
        edit.value(name, f"int({(render or layer.module.source.code)(given[name])})")
    rename(edit, row)
    told = [p.name for p in row.parameters if p.name in given or p.new_name in more]
    _state(edit, row, told, style)
    for name, text in (*row.constants, *more.items()):
        edit.add(name, text)
    return edit.edits()


def weight_edits(
    weight: Weight, style: FileStyle, render: Callable[[ast.AST], str], name: str = ""
) -> tuple[Edit, ...]:
    """`tf.get_variable('w', [3])` as `self.add_weight(name='w', shape=[3])`.

    ``name`` is for one that its author gave none.
    """
    source, first = weight.module.source, weight.first
    edit = _edit(weight, VARIABLES.by_kind[weight.kind], style)
    edit.function("self.add_weight")
    edit.order(())
    if weight.scoped:  # Keras 3 takes no name with a scope in it
        edit.add("name", style.string(weight.scoped.rpartition("/")[2]))
    elif name:
        edit.add("name", style.string(name))
    if first is None:
        shape = weight.arguments.get("shape")
        if shape is not None and not _is_sequence(weight.module, shape):
            edit.value("shape", f"{style.tensorflow}.TensorShape({render(shape)})")
        return edit.edits()
    if first.shape is None:
        edit.rename(first.parameter, "initializer")
        edit.value("initializer", _first_initializer(first, style, render))
        edit.add("shape", _own_shape(first, render))
        return edit.edits()
    begin, end = source.span(weight.arguments[first.parameter])
    start, last = source.span(first.shape)
    edit.rename(first.parameter, "shape")
    behind = f", initializer={_first_initializer(first, style, render)}"
    if _is_sequence(weight.module, first.shape):
        return (*edit.edits(), Edit(begin, start, ""), Edit(last, end, behind))
    head = f"{style.tensorflow}.TensorShape("
    return (*edit.edits(), Edit(begin, start, head), Edit(last, end, f"){behind}"))


def missing_name(weight: Weight) -> str:
    """What a weight is called that its author gave no name: as the variable that holds it.

    Keras 2 saves no weight without one.
    """
    if weight.scoped or "name" in weight.arguments:
        return ""
    made = weight.module.names.parents[weight.node]
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else weight.name


def _is_sequence(module: Module, shape: ast.expr, deep: int = 5) -> bool:
    """Whether a shape is a list: of a number alone, which TF1 takes, Keras 3 makes none."""
    names = module.names
    made = names.assigned(shape)
    if isinstance(made, ast.BinOp):
        return _is_sequence(module, made.left) or _is_sequence(module, made.right)
    if isinstance(made, ast.Name) and made in names.scope_of_name and deep:
        home = names.defining_scope(made.id, names.scope_of_name[made])
        if home is not None and [one.kind for one in home.bindings[made.id]] == ["parameter"]:
            given = given_by_calls(module, home, made.id)
            return all(one is not None and _is_sequence(module, one, deep - 1) for one in given)
    return isinstance(made, (ast.List, ast.Tuple, ast.ListComp)) or is_none(made)


def weight_arguments(
    weight: Weight,
    style: FileStyle,
    render: Callable[[ast.AST], str],
    base: str,
    missing: str = "",
) -> list[str]:
    """The arguments of `self.add_weight`, each by itself, in a line that begins as ``base``.

    ``missing`` is the name of one that its author gave none.
    """
    first = weight.first
    own = weight.scoped.rpartition("/")[2] or missing
    found = [f"name={style.string(own)}"] if own else []
    for name, value in weight.arguments.items():
        if first is None or name != first.parameter:
            listed = name != "shape" or _is_sequence(weight.module, value)
            text = render(value)
            found.append(f"{name}={text if listed else f'{style.tensorflow}.TensorShape({text})'}")
            continue
        if first.shape is not None:
            text = render(first.shape)
            if not _is_sequence(weight.module, first.shape):
                text = f"{style.tensorflow}.TensorShape({text})"
            found.append(f"shape={text}")
        found.append(f"initializer={_first_initializer(first, style, render, base)}")
    if first is not None and first.shape is None:
        found.append(f"shape={_own_shape(first, render)}")
    return found


def _own_shape(first: FirstValue, render: Callable[[ast.AST], str]) -> str:
    """The shape of a value that says it itself."""
    return f"{render(first.arguments['value'])}.shape" if first.array else "()"


def _first_initializer(
    first: FirstValue,
    style: FileStyle,
    render: Callable[[ast.AST], str],
    base: str | None = None,
) -> str:
    """The initializer that draws what a function gave; ``base`` begins the line of its call."""
    if first.kind.islower():  # `zeros`
        return style.string(first.kind)
    given: list[str] = []
    defaults = DEFAULTS.get(first.kind, {})
    for name in ("value", "mean", "minval", "maxval", "stddev", "seed"):
        text = defaults.get(name)
        if name in first.arguments:
            text = render(first.arguments[name])
        if text is not None:
            given.append(text if name == "value" else f"{name}={text}")
    head = f"{style.tensorflow}.keras.initializers.{first.kind}"
    if base is None:
        return f"{head}({', '.join(given)})"
    inner = style.continued(base)
    return style.call(head, given, inner, len(inner) + len("initializer="), 2)


def recurrent_edits(layer: Recurrent, style: FileStyle) -> tuple[Edit, ...]:
    """`tf.nn.dynamic_rnn(cell, inputs)` as `tf.keras.layers.RNN(cell)`."""
    row = RUNS.by_kind[layer.kind]
    edit = _edit(layer, row, style)
    edit.order(row.order)
    if layer.result.sequences:
        edit.add("return_sequences", "True")
    if layer.result.states:
        edit.add("return_state", "True")
    if layer.result.sequences and layer.lengths is not None:
        edit.add("zero_output_for_mask", "True")
    return edit.edits()


def cell_edits(cell: Cell, style: FileStyle) -> tuple[Edit, ...]:
    """A cell as one of the class that the file gets; a stack as Keras's, or of one state.

    A cell whose state is c and h in one tensor is a stack of one.
    """
    row = CELLS.by_kind[cell.kind]
    edit = _edit(cell, row, style)
    rename(edit, row)
    name = cell_class_name(cell.module, row.cell) if row.cell else ""
    if joins_states(cell.module, cell.node):
        edit.function(f"{cell_class_name(cell.module, JOINED)}([{name}")
        end = cell.module.source.span(cell.node)[1]
        return (*edit.edits(), Edit(end, end, "])"))
    if row.cell:
        edit.function(name)
    elif is_joined(cell.module, cell.node):
        edit.function(cell_class_name(cell.module, JOINED))
    return edit.edits()


def cell_class_name(module: Module, kind: str) -> str:
    """What a class of cells is called in a file: the same for all that it has."""
    names = module.names
    return names.fresh(names.module_scope, kind, f"Keras{kind}")


def keras_recurrent_edits(layer: KerasRecurrent, style: FileStyle) -> tuple[Edit, ...]:
    """A recurrent layer of Keras's with 1.15's defaults."""
    edit = _arguments(layer, KERAS_LAYERS.by_kind[layer.kind])
    if layer.hard_gates:
        edit.add("recurrent_activation", style.code(_GATES))
    if layer.kind == "GRU":
        edit.add("reset_after", "False")
    return edit.edits()


def part_edits(part: Operation, style: FileStyle) -> tuple[Edit, ...]:
    """A part of a Keras model: today's Keras has most of them under the same name."""
    row = PARTS.by_kind[part.kind]
    if row.target in row.names:
        return ()
    edit = _edit(part, row, style)
    rename(edit, row)
    return edit.edits()


def initializer_edits(made: Initializer, style: FileStyle) -> tuple[Edit, ...]:
    """An initializer or regularizer as Keras's."""
    row = INITIALIZERS.by_kind[made.kind]
    if not isinstance(made.node, ast.Call):
        return (Edit(*made.module.source.span(made.node), f"{style.tensorflow}.{row.target}"),)
    edit = _edit(made, row, style)
    distribution = made.arguments.get("distribution")
    if distribution is not None and constant(distribution) == "normal":
        edit.value("distribution", style.string("truncated_normal"))
    for name in row.halved:
        if name in made.arguments:
            scaled(edit, name, 0.5)
    rename(edit, row)
    _state(edit, row, made.arguments, style)
    for name, value in made.settings.items():
        edit.add(name, style.string(value) if isinstance(value, str) else number(value))
    return edit.edits()
