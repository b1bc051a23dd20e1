"""Keras's constructors of what a network makes: edits of TF1's calls, in the author's layout."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.layers import CHANNELS
from migrate_mgpu.api.recurrent import STACK_PARAMETERS
from migrate_mgpu.api.tables import negative, number, scaled
from migrate_mgpu.api.variables import DEFAULTS
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.types import (
    Cell,
    FirstValue,
    Initializer,
    KerasRecurrent,
    Layer,
    Recurrent,
    Weight,
)
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_GATES = "lambda x: {tf}.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"


def made_edits(module: Module, made: Layer | Weight | Recurrent, tf: str) -> tuple[Edit, ...]:
    """The edits that turn a call into the constructor of what it makes."""
    if isinstance(made, Weight):
        return weight_edits(module, made, tf)
    if isinstance(made, Recurrent):
        return recurrent_edits(module, made, tf)
    return layer_edits(module, made, tf)


def _edit(
    module: Module, call: ast.Call, signature: tuple[str, ...], settings: Mapping[str, ast.expr]
) -> CallEdit:
    """A call without the arguments that do not count."""
    edit = CallEdit(module.source, call, signature)
    edit.drop(*(name for name in signature if name not in settings))
    return edit


def layer_edits(module: Module, layer: Layer, tf: str) -> tuple[Edit, ...]:
    """`tf.layers.dense(net, 10)` as `tf.keras.layers.Dense(10)`."""
    row, quote = layer.row, module.source.quote
    edit = _edit(module, layer.call, row.parameters, layer.settings)
    edit.function(f"{tf}.keras.layers.{row.kind}")
    if is_none(layer.settings.get("biases_initializer")):  # no bias at all
        edit.value("biases_initializer", "False")
        edit.rename("biases_initializer", "use_bias")
    channels = layer.settings.get("data_format")
    if channels is not None and constant(channels) in CHANNELS:  # contrib's `NCHW`
        if row.kind == "BatchNormalization":
            edit.drop("data_format")
            edit.add("axis", "1")
        else:
            edit.value("data_format", f"{quote}channels_first{quote}")
    if "keep_prob" in layer.settings:
        negative(edit, "keep_prob", "1")
    for old, new in row.names.items():
        edit.rename(old, new)
    edit.order(row.order)
    for name, text in row.defaults.items():
        if name not in layer.settings:
            edit.add(row.names.get(name, name), text.format(tf=tf, quote=quote))
    return edit.edits()


def weight_edits(module: Module, weight: Weight, tf: str) -> tuple[Edit, ...]:
    """`tf.get_variable('w', [3])` as `self.add_weight(name='w', shape=[3])`."""
    source, first = module.source, weight.first
    edit = _edit(module, weight.call, weight.signature, weight.settings)
    edit.function("self.add_weight")
    edit.order(())
    if first is None:
        return edit.edits()
    if first.shape is None:
        edit.rename(first.parameter, "initializer")
        edit.value("initializer", _first_initializer(module, first, tf))
        edit.add("shape", "()")
        return edit.edits()
    begin, end = source.span(weight.settings[first.parameter])
    start, last = source.span(first.shape)
    edit.rename(first.parameter, "shape")
    behind = f", initializer={_first_initializer(module, first, tf)}"
    return (*edit.edits(), Edit(begin, start, ""), Edit(last, end, behind))


def _first_initializer(module: Module, first: FirstValue, tf: str) -> str:
    """The initializer that draws what a function gave."""
    if first.kind.islower():  # `zeros`
        return f"{module.source.quote}{first.kind}{module.source.quote}"
    given: list[str] = []
    defaults = DEFAULTS.get(first.kind, {})
    for name in ("value", "mean", "minval", "maxval", "stddev", "seed"):
        text = defaults.get(name)
        if name in first.settings:
            text = module.source.code(first.settings[name])
        if text is not None:
            given.append(text if name == "value" else f"{name}={text}")
    return f"{tf}.keras.initializers.{first.kind}({', '.join(given)})"


def weight_arguments(
    module: Module, weight: Weight, tf: str, render: Callable[[ast.AST], str]
) -> list[str]:
    """The arguments of `self.add_weight`, each by itself."""
    found, first = [], weight.first
    for name, value in weight.settings.items():
        if first is None or name != first.parameter:
            found.append(f"{name}={render(value)}")
            continue
        if first.shape is not None:
            found.append(f"shape={render(first.shape)}")
        found.append(f"initializer={_first_initializer(module, first, tf)}")
    return [*found, "shape=()"] if first is not None and first.shape is None else found


def recurrent_edits(module: Module, layer: Recurrent, tf: str) -> tuple[Edit, ...]:
    """`tf.nn.dynamic_rnn(cell, inputs)` as `tf.keras.layers.RNN(cell)`."""
    edit = _edit(module, layer.call, layer.signature, {"cell": layer.cell})
    edit.function(f"{tf}.keras.layers.RNN")
    edit.order(("cell",))
    if layer.result.sequences:
        edit.add("return_sequences", "True")
    if layer.result.states:
        edit.add("return_state", "True")
    if layer.result.sequences and layer.lengths is not None:
        edit.add("zero_output_for_mask", "True")
    return edit.edits()


def cell_edits(module: Module, cell: Cell, tf: str) -> tuple[Edit, ...]:
    """A cell as one of the class that the file gets; a stack as Keras's."""
    if cell.row is None:
        edit = _edit(module, cell.call, STACK_PARAMETERS, cell.settings)
        edit.function(f"{tf}.keras.layers.StackedRNNCells")
        return edit.edits()
    edit = _edit(module, cell.call, cell.row.parameters, cell.settings)
    for old, new in cell.row.names.items():
        edit.rename(old, new)
    edit.order(("units",))
    edit.function(cell_class_name(module, cell.row.kind))
    return edit.edits()


def cell_class_name(module: Module, kind: str) -> str:
    """What a class of cells is called in a file: the same for all that it has."""
    names = module.names
    return names.fresh(names.module_scope, kind, f"Keras{kind}")


def keras_recurrent_edits(module: Module, layer: KerasRecurrent, tf: str) -> tuple[Edit, ...]:
    """A recurrent layer of Keras's with 1.15's defaults."""
    edit = _edit(module, layer.call, layer.signature, layer.settings)
    if layer.hard_gates:
        edit.add("recurrent_activation", _GATES.format(tf=tf))
    if layer.kind == "GRU":
        edit.add("reset_after", "False")
    return edit.edits()


def initializer_edits(module: Module, made: Initializer, tf: str) -> tuple[Edit, ...]:
    """An initializer or regularizer as Keras's."""
    row, quote = made.row, module.source.quote
    if not isinstance(made.node, ast.Call):
        return (Edit(*module.source.span(made.node), f"{tf}.keras.{row.kind}"),)
    edit = _edit(module, made.node, row.parameters, made.settings)
    edit.function(f"{tf}.keras.{row.kind}")
    distribution = made.settings.get("distribution")
    if distribution is not None and constant(distribution) == "normal":
        edit.value("distribution", f"{quote}truncated_normal{quote}")
    for name in row.halved:
        if name in made.settings:
            scaled(edit, name, 0.5)
    for old, new in row.names.items():
        edit.rename(old, new)
    edit.order(row.order)
    for name, value in made.unasked.items():
        edit.add(name, f"{quote}{value}{quote}" if isinstance(value, str) else number(value))
    return edit.edits()
