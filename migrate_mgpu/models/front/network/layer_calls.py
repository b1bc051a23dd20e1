"""One call that makes a layer, and what it makes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.layers import CHANNELS, LAYERS, LayerRow
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.front.network.recurrent import read_recurrent
from migrate_mgpu.models.front.network.variables import read_weight
from migrate_mgpu.models.types import Layer, Recurrent, Weight

_COLLECTIONS = ("variables_collections", "outputs_collections", "updates_collections")
_GLOROT = ("kernel_initializer", "depthwise_initializer", "pointwise_initializer")
_SHARED = "its variables are shared by name with another call"
_ONE_LAYER = "make the layer once, before it is called twice"
_NO_LAYER = "no Keras layer does this"


class LayerCalls:
    """The layers of one conversion: each call is read once.

    ``regularized``: whether the program's loss has the regularization terms; TF1 ignores
    regularizers where it has not.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[ast.Call, bool], Layer | Weight | Recurrent | Refused | None] = {}

    def read(
        self, module: Module, call: ast.Call, regularized: bool = True
    ) -> Layer | Weight | Recurrent | None:
        """What a call makes and applies; None where it makes no layer.

        Raises:
            Refused: it has an argument that no Keras layer has.
        """
        key = call, regularized
        if key not in self._read:
            try:
                self._read[key] = read_layer(module, call, regularized)
            except Refused as refused:
                self._read[key] = refused
        found = self._read[key]
        if isinstance(found, Refused):
            raise found
        return found

    def makes_layer(self, module: Module, nodes: Iterable[ast.AST]) -> bool:
        """Whether there is a call among some nodes that makes and applies a layer.

        Raises:
            Refused: as ``read``.
        """
        calls = (node for node in nodes if isinstance(node, ast.Call))
        return any(self.read(module, call) is not None for call in calls)


def read_layer(
    module: Module, call: ast.Call, regularized: bool = True
) -> Layer | Weight | Recurrent | None:
    """What a call makes and applies, as ``LayerCalls.read``."""
    name = name_of(module, call)
    row = LAYERS.get(name)
    if row is None or name == f"layers.{row.kind}":
        return read_weight(module, call, regularized) or read_recurrent(module, call)
    contrib = name.startswith("contrib.")
    if contrib and any(use.symbol.name.endswith("arg_scope") for use in module.uses):
        text = f"`{module.source.code(call.func)}` takes arguments from an arg_scope"
        raise Refused(module, call, text, "write the arguments at each call")
    given = NamedArguments(module, call, row.parameters)
    inputs = given.get(row.parameters[0])
    if inputs is None:
        raise Refused(module, call, f"`{given.shown}` is not given its inputs")
    training = given.get("is_training" if contrib else "training")
    if contrib and row.takes_training and training is None:
        text = f"`{given.shown}` trains during evaluation and prediction, too"
        raise Refused(module, call, text, "give it is_training=mode == ModeKeys.TRAIN")
    given.drop(row.parameters[0], "training", "is_training", *_COLLECTIONS)
    if contrib:
        _contrib_constructor(given, row, regularized)
    else:
        _constructor(given, row, regularized)
    return Layer(call, row, given.rest, (inputs,), training)


def read_layer_class(module: Module, call: ast.Call) -> Layer | None:
    """The layer that ``tf.layers.Dense(10)`` makes; None where a call makes none.

    Raises:
        Refused: it has an argument that no Keras layer has.
    """
    name = name_of(module, call)
    row = LAYERS.get(name)
    if row is None or name != f"layers.{row.kind}":
        return None
    given = NamedArguments(module, call, row.parameters)
    _constructor(given, row, True)
    return Layer(call, row, given.rest)


# -- tf.layers ------------------------------------------------------------------


def _constructor(given: NamedArguments, row: LayerRow, regularized: bool) -> None:
    for name in ("reuse", "_reuse"):
        refuse_unless(given, name, (None, False), _SHARED, _ONE_LAYER)
    given.drop("_scope")
    for name in row.parameters:
        value = given.get(name)
        if name.endswith("_regularizer") and not regularized:
            given.drop(name)
        elif name == "activity_regularizer" and value is not None and not is_none(value):
            text = "Keras 2 and Keras 3 scale an `activity_regularizer` differently"
            raise Refused(given.module, value, text, "add the term to the loss")
        elif name.endswith("_initializer") and is_none(value):
            if name not in _GLOROT:
                text = f"`{name}=None` is Glorot's uniform distribution in TF1"
                assert value is not None
                raise Refused(given.module, value, text, "name the initializer")
            given.drop(name)
    if row.kind == "BatchNormalization":
        text = "batch renormalisation is TF1's own"
        refuse_unless(given, "renorm", (False, None), text, _NO_LAYER)
        given.drop("renorm_clipping", "renorm_momentum", "fused")
        for name in ("virtual_batch_size", "adjustment"):
            refuse_unless(given, name, (None,), f"`{name}` is TF1's own", _NO_LAYER)
    value = given.get("name")
    known = constant(value) if value is not None else None
    if is_none(value) or (isinstance(known, str) and "/" in known):
        given.drop("name")  # Keras 3 takes no slash, and None is the default


# -- tf.contrib.layers ------------------------------------------------------------


def _contrib_constructor(given: NamedArguments, row: LayerRow, regularized: bool) -> None:
    if not regularized:
        given.drop("weights_regularizer", "biases_regularizer", "regularizer")
    refuse_unless(given, "reuse", (None, False), _SHARED, "make the layer once")
    own = "write it as a layer of its own, behind this one"
    refuse_unless(given, "normalizer_fn", (None,), "a `normalizer_fn` normalizes its outputs", own)
    given.drop("normalizer_params")
    for name in ("batch_weights", "adjustment", "param_initializers", "param_regularizers"):
        refuse_unless(given, name, (None,), f"`{name}` is TF1's own", _NO_LAYER)
    for name in ("zero_debias_moving_mean", "renorm", "unique"):
        text = f"`{name}` is TF1's own"
        refuse_unless(given, name, (None, False), text, "no Keras layer has it")
    given.drop("renorm_clipping", "renorm_decay", "fused")
    if row.kind == "BatchNormalization":
        text = "batch normalization with an activation"
        refuse_unless(given, "activation_fn", (None,), text, own)
    if row.kind == "SeparableConv2D":
        text = f"one argument of `{given.shown}` is for two kernels in TF1"
        for name in ("weights_initializer", "weights_regularizer", "pointwise_initializer"):
            refuse_unless(given, name, (), text, "use tf.layers.separable_conv2d")
        _refuse_unless_given(given, "num_outputs")
    if row.kind == "Embedding":
        _refuse_unless_given(given, "vocab_size")
        _refuse_unless_given(given, "embed_dim")
    scope = given.get("scope")
    known = constant(scope) if scope is not None else None
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
        text = f"`data_format` of `{given.shown}` cannot be told"
        raise Refused(given.module, value, text, "write it as a string")
    if is_none(value) or CHANNELS[str(known)] == "channels_last":
        given.drop("data_format")
