"""One call that makes a layer, and what it makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Union

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.split_texts import goes_by
from migrate_mgpu.api.layers import CHANNELS, LAYERS, MOMENTS, LayerRow
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.network.decoders import read_decoding
from migrate_mgpu.models.front.network.name_scopes import repeats_scope
from migrate_mgpu.models.front.network.recurrent import read_recurrent
from migrate_mgpu.models.front.network.variables import read_weight
from migrate_mgpu.models.ir import Averaging, Decoding, Layer, Recurrent, Weight

Made = Union[Layer, Weight, Recurrent, Decoding]

TEXT_SIZE = "size-of-text"  # the key of a diagnostic
_UPDATE_OPS = "GraphKeys.UPDATE_OPS"
_DEBIAS = "zero_debias_moving_mean"
_COUNTS = ("units", "filters", "num_outputs")
_GLOROT = ("kernel_initializer", "depthwise_initializer", "pointwise_initializer")


def text_sizes(module: Module, shape: ast.expr, texts: frozenset[str]) -> list[ast.expr]:
    """The elements of a shape that come out of lists of texts (``split_lists``)."""
    listed = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else []
    return [size for size in listed if not texts.isdisjoint(goes_by(module.names, size))]


def is_debiased(layer: Layer) -> bool:
    return layer.averaging is not None and layer.averaging.debiased


class LayerCalls:
    """The layers of one conversion: each call is read once.

    ``regularized``: whether the program's loss has the regularization terms; TF1 ignores
    regularizers where it has not. ``texts`` are the names of lists of texts (``split_lists``).
    ``alone``: one replica runs each of them at a time, so that a cell may be told its memory.
    """

    def __init__(self, texts: frozenset[str] = frozenset(), alone: bool = False) -> None:
        self._texts = texts
        self._alone = alone
        self._read: dict[tuple[ast.Call, bool], Made | Refused | None] = {}

    def read(self, module: Module, call: ast.Call, regularized: bool = True) -> Made | None:
        """What a call makes and applies; None where it makes no layer.

        Raises:
            Refused: it has an argument that no Keras layer has.
        """
        key = call, regularized
        if key not in self._read:
            try:
                self._read[key] = self._counted(read_layer(module, call, regularized))
            except Refused as refused:
                self._read[key] = refused
        found = self._read[key]
        if isinstance(found, Refused):
            raise found
        return found

    def _counted(self, found: Made | None) -> Made | None:
        """A layer with what is known of the numbers that it is made with.

        Raises:
            Refused: replicas that run in turns would tell its cell their memories.
        """
        if isinstance(found, Recurrent) and found.memory is not None and not self._alone:
            text = "a recurrent cell with attention, of a model that several replicas may train"
            raise Refused(found.module, found.node, text, "write the cell as a Keras layer")
        if isinstance(found, Decoding) and not self._alone:
            text = "a decoder, of a model that is no session's"
            raise Refused(found.module, found.node, text, "write it as a Keras layer")
        if isinstance(found, Layer) and not self._alone and is_debiased(found):
            text = f"`{_DEBIAS}`, of a model that is no session's"
            raise Refused(found.module, found.node, text, f"leave `{_DEBIAS}` out")
        if self._texts and isinstance(found, Weight) and found.arguments.get("shape") is not None:
            for size in text_sizes(found.module, found.arguments["shape"], self._texts):
                text = "a size of this variable is a text, which TF1 takes for a number"
                raise Refused(found.module, size, text, "write int(...) around it", TEXT_SIZE)
        if not self._texts or not isinstance(found, Layer):
            return found
        names = found.module.names
        texts = [
            name
            for name in _COUNTS
            if (value := found.arguments.get(name)) is not None
            and not self._texts.isdisjoint(goes_by(names, value))
        ]
        return replaced(found, texts=tuple(texts)) if texts else found

    def makes_layer(self, module: Module, nodes: Iterable[ast.AST]) -> bool:
        """Whether there is a call among some nodes that makes and applies a layer.

        Raises:
            Refused: as ``read``.
        """
        calls = (node for node in nodes if isinstance(node, ast.Call))
        return any(self.read(module, call) is not None for call in calls)


def read_layer(module: Module, call: ast.Call, regularized: bool = True) -> Made | None:
    """What a call makes and applies, as ``LayerCalls.read``."""
    row = LAYERS.by_name.get(name_of(module, call))
    if row is None or not row.inputs:
        return (
            read_weight(module, call, regularized)
            or read_recurrent(module, call)
            or read_decoding(module, call)
        )
    contrib = row.kind.startswith("contrib.")
    if contrib and _has_scopes(module):
        text = f"`{module.source.code(call.func)}` takes arguments from an arg_scope"
        raise Refused(module, call, text, "write the arguments at each call")
    given = NamedArguments(module, call, row.signature)
    inputs = given.get(row.inputs)
    if inputs is None:
        raise Refused(module, call, f"`{given.shown}` is not given its inputs")
    training = given.get(row.training)
    if contrib and row.training and training is None:
        text = f"`{given.shown}` trains during evaluation and prediction, too"
        raise Refused(module, call, text, "give it is_training=mode == ModeKeys.TRAIN")
    if row.keras == "LayerNormalization" and given.given("begin_norm_axis") is None:
        text = f"`{given.shown}` normalizes all axes but the first"
        raise Refused(module, call, text, "give it begin_norm_axis=-1")
    averaging = None
    if row.kind == MOMENTS:
        decay = call.args[row.signature.index("decay")]
        averaging = Averaging((), in_place=True, last_axis=True, decay=decay)
    elif row.keras == "BatchNormalization":
        averaging = read_averaging(given, row)
    _check(given, row, regularized)
    return Layer(row.kind, module, call, given.rest, (inputs,), training, averaging)


def _has_scopes(module: Module) -> bool:
    """Whether a module opens an arg_scope, or hands one on; a mere import gives nothing."""
    return any(
        use.symbol.name.endswith("arg_scope") and not isinstance(use.node, ast.ImportFrom)
        for use in module.uses
    )


def read_averaging(given: NamedArguments, row: LayerRow) -> Averaging:
    """How a call of batch normalization moves its averages.

    Raises:
        Refused: it keeps its updates in a collection of the author's.
    """
    kept = given.get("updates_collections")
    in_place = kept is not None and is_none(kept)
    if kept is not None and not in_place:
        named = name_of(given.module, kept) == _UPDATE_OPS or constant(kept) == "update_ops"
        if not named:
            text = "batch normalization keeps its updates in a collection of its own"
            raise Refused(given.module, kept, text, "leave them to UPDATE_OPS")
    fused = given.given("fused")
    known = constant(fused) if fused is not None else True
    contrib = row.kind.startswith("contrib.")
    ranks: tuple[int, ...] | None = (2, 4) if contrib else (4,)
    if known is False:
        ranks = ()
    elif known is not True:
        ranks = None
    axis, channels = given.given("axis"), given.given("data_format")
    last = axis is None or constant(axis) in (-1, 3)
    last = last and (channels is None or CHANNELS.get(str(constant(channels))) == "channels_last")
    return Averaging(ranks, in_place, last, _debiased(given, row, ranks, last))


def _debiased(
    given: NamedArguments, row: LayerRow, ranks: tuple[int, ...] | None, last: bool
) -> bool:
    """Whether the moving mean is freed of the zero that it starts from.

    Raises:
        Refused: that is not seen, or is of a normalization that no class is written for.
    """
    told = given.get(_DEBIAS) if _DEBIAS in row.signature else None
    if told is None or is_none(told) or constant(told) is False:
        return False
    if constant(told) is not True:
        text = "whether the moving mean is debiased is computed"
        raise Refused(given.module, told, text, f"write {_DEBIAS}=True, or False")
    if ranks != (2, 4) or not last:
        text = f"`{_DEBIAS}` of batch normalization that is not fused, or not of the last axis"
        raise Refused(given.module, told, text, f"leave `{_DEBIAS}` out")
    return True


def read_layer_class(module: Module, call: ast.Call) -> Layer | None:
    """The layer that ``tf.layers.Dense(10)`` makes; None where a call makes none.

    Raises:
        Refused: it has an argument that no Keras layer has.
    """
    row = LAYERS.by_name.get(name_of(module, call))
    if row is None or row.inputs:
        return None
    given = NamedArguments(module, call, row.signature)
    _check(given, row, True)
    return Layer(row.kind, module, call, given.rest)


def _check(given: NamedArguments, row: LayerRow, regularized: bool) -> None:
    """Drops what says nothing in TF2; what is left makes the layer."""
    if not regularized:
        given.drop(*(name for name in row.signature if name.endswith("regularizer")))
    if repeats_scope(given.module, given.call):
        given.drop("reuse")
    for parameter in row.parameters:
        if parameter.reason:
            refuse_unless(given, parameter.name, parameter.only, parameter.reason, parameter.advice)
        elif not parameter.new_name:
            given.drop(parameter.name)
    if isinstance(given.get("noise_shape"), ast.Constant):
        given.drop("noise_shape")  # `dropout(x, 0.5, True)`: no shape, which TF1 never asks for
    if row.kind.startswith("contrib."):
        _check_contrib(given, row)
        return
    for name in row.signature:
        value = given.get(name)
        if name == "activity_regularizer" and value is not None and not is_none(value):
            text = "Keras 2 and Keras 3 scale an `activity_regularizer` differently"
            raise Refused(given.module, value, text, "add the term to the loss")
        if name.endswith("_initializer") and value is not None and is_none(value):
            if name not in _GLOROT:
                text = f"`{name}=None` is Glorot's uniform distribution in TF1"
                raise Refused(given.module, value, text, "name the initializer")
            given.drop(name)
    value = given.get("name")
    known = constant(value)
    if is_none(value) or (isinstance(known, str) and "/" in known):
        given.drop("name")  # Keras 3 takes no slash, and None is the default


def _check_contrib(given: NamedArguments, row: LayerRow) -> None:
    if row.keras == "SeparableConv2D":
        text = f"one argument of `{given.shown}` is for two kernels in TF1"
        for name in ("weights_initializer", "weights_regularizer", "pointwise_initializer"):
            refuse_unless(given, name, (), text, "use tf.layers.separable_conv2d")
        _refuse_unless_given(given, "num_outputs")
    if row.keras == "Embedding":
        _refuse_unless_given(given, "vocab_size")
        _refuse_unless_given(given, "embed_dim")
    scope = given.get("scope")
    known = constant(scope)
    if scope is not None and (not isinstance(known, str) or "/" in known):
        given.drop("scope")  # None, a VariableScope or a path, which no Keras name can be
    _check_channels(given)


def _refuse_unless_given(given: NamedArguments, name: str) -> None:
    """A parameter that TF1 could do without and Keras cannot.

    Raises:
        Refused: it is None or missing.
    """
    if given.given(name) is None:
        raise Refused(given.module, given.call, f"`{given.shown}` has no `{name}`", "give it one")


def _check_channels(given: NamedArguments) -> None:
    """`NHWC` is what a Keras layer does unasked."""
    value = given.get("data_format")
    if value is None:
        return
    known = constant(value)
    if not is_none(value) and known not in CHANNELS:
        text = f"`data_format` of `{given.shown}` cannot be determined"
        raise Refused(given.module, value, text, "write it as a string")
    if is_none(value) or CHANNELS[str(known)] == "channels_last":
        given.drop("data_format")
