"""``tf.contrib.layers`` (and slim's, which are the same) as Keras layers, defaults written out."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import negative, refuse_unless
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.types import Layer

_NORMALIZER = ("normalizer_fn", "normalizer_params")
_WEIGHTS = (
    "weights_initializer", "weights_regularizer", "biases_initializer", "biases_regularizer",
    "reuse", "variables_collections", "outputs_collections", "trainable", "scope",
)  # fmt: skip
_CONV = (
    "inputs", "num_outputs", "kernel_size", "stride", "padding", "data_format", "rate",
    "activation_fn", *_NORMALIZER, *_WEIGHTS,
)  # fmt: skip
_POOL = (
    "inputs", "kernel_size", "stride", "padding", "data_format", "outputs_collections", "scope",
)  # fmt: skip


@record(frozen=True)
class _Kind:
    """``names`` are Keras's for parameters that it has; ``defaults`` what TF1 did unasked."""

    keras: str
    parameters: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    takes_training: bool = False


_SHARED = {
    "activation_fn": "activation",
    "weights_initializer": "kernel_initializer",
    "weights_regularizer": "kernel_regularizer",
    "biases_initializer": "bias_initializer",
    "biases_regularizer": "bias_regularizer",
    "scope": "name",
}
_RELU = {"activation_fn": "{tf}.nn.relu"}
_CONV_NAMES = {**_SHARED, "num_outputs": "filters", "stride": "strides", "rate": "dilation_rate"}
_SAME = {"padding": "{quote}same{quote}"}
_DENSE = ("inputs", "num_outputs", "activation_fn", *_NORMALIZER, *_WEIGHTS)
_DENSE_NAMES = {**_SHARED, "num_outputs": "units"}
_POOL_NAMES = {"kernel_size": "pool_size", "stride": "strides", "scope": "name"}
_SEPARABLE = (
    "inputs", "num_outputs", "kernel_size", "depth_multiplier", "stride", "padding",
    "data_format", "rate", "activation_fn", *_NORMALIZER, "weights_initializer",
    "pointwise_initializer", *_WEIGHTS[1:],
)  # fmt: skip


def _conv(keras: str) -> _Kind:
    return _Kind(keras, _CONV, _CONV_NAMES, {**_SAME, **_RELU})


def _pool(keras: str) -> _Kind:
    return _Kind(keras, _POOL, _POOL_NAMES, {"stride": "2"})


_KINDS = {
    "fully_connected": _Kind("Dense", _DENSE, _DENSE_NAMES, _RELU),
    "relu": _Kind("Dense", _DENSE, _DENSE_NAMES, _RELU),
    "relu6": _Kind("Dense", _DENSE, _DENSE_NAMES, {"activation_fn": "{tf}.nn.relu6"}),
    "linear": _Kind("Dense", _DENSE, _DENSE_NAMES),
    "conv1d": _conv("Conv1D"),
    "conv2d": _conv("Conv2D"),
    "convolution2d": _conv("Conv2D"),
    "conv3d": _conv("Conv3D"),
    "conv2d_transpose": _Kind(
        "Conv2DTranspose", tuple(p for p in _CONV if p != "rate"), _CONV_NAMES, {**_SAME, **_RELU}
    ),
    "separable_conv2d": _Kind(
        "SeparableConv2D",
        _SEPARABLE,
        {
            **_CONV_NAMES,
            "weights_initializer": "depthwise_initializer",
            "weights_regularizer": "depthwise_regularizer",
        },
        {**_SAME, **_RELU},
    ),
    "max_pool2d": _pool("MaxPooling2D"),
    "max_pool3d": _pool("MaxPooling3D"),
    "avg_pool2d": _pool("AveragePooling2D"),
    "avg_pool3d": _pool("AveragePooling3D"),
    "flatten": _Kind("Flatten", ("inputs", "outputs_collections", "scope"), {"scope": "name"}),
    "dropout": _Kind(
        "Dropout",
        ("inputs", "keep_prob", "noise_shape", "is_training", "outputs_collections", "scope",
         "seed"),
        {"keep_prob": "rate", "scope": "name"},
        {"keep_prob": "0.5"},
        takes_training=True,
    ),
    "batch_norm": _Kind(
        "BatchNormalization",
        ("inputs", "decay", "center", "scale", "epsilon", "activation_fn", "param_initializers",
         "param_regularizers", "updates_collections", "is_training", "reuse",
         "variables_collections", "outputs_collections", "trainable", "batch_weights", "fused",
         "data_format", "zero_debias_moving_mean", "scope", "renorm", "renorm_clipping",
         "renorm_decay", "adjustment"),
        {"decay": "momentum", "scope": "name"},
        {"decay": "0.999", "scale": "False"},
        takes_training=True,
    ),
    "embed_sequence": _Kind(
        "Embedding",
        ("ids", "vocab_size", "embed_dim", "unique", "initializer", "regularizer", "trainable",
         "scope", "reuse"),
        {
            "vocab_size": "input_dim", "embed_dim": "output_dim",
            "initializer": "embeddings_initializer", "regularizer": "embeddings_regularizer",
            "scope": "name",
        },
        {"initializer": "{tf}.keras.initializers.GlorotUniform()"},
    ),
}  # fmt: skip
_ORDER = {
    "Dense": ("units",),
    "Embedding": ("input_dim", "output_dim"),
    "MaxPooling2D": ("pool_size", "strides"),
    "AveragePooling2D": ("pool_size", "strides"),
    "Dropout": ("rate",),
}
_CHANNELS = {
    "NHWC": "channels_last", "NWC": "channels_last", "NDHWC": "channels_last",
    "NCHW": "channels_first", "NCW": "channels_first", "NCDHW": "channels_first",
}  # fmt: skip
_COLLECTIONS = ("variables_collections", "outputs_collections", "updates_collections")


def layer(module: Module, call: ast.Call, tf: str, short: str, regularized: bool) -> Layer | None:
    """The layer of a call of ``tf.contrib.layers``; None where it makes none.

    Raises:
        Refused: no Keras layer does the same.
    """
    kind = _KINDS.get(short)
    if kind is None:
        return None
    if any(use.symbol.name.endswith("arg_scope") for use in module.uses):
        text = f"`{module.source.code(call.func)}` takes arguments from an arg_scope"
        raise Refused(module, call, text, "write the arguments at each call")
    edit = BoundCall(module, call, kind.parameters)
    inputs = edit.get(kind.parameters[0])
    if inputs is None:
        raise Refused(module, call, f"`{edit.shown}` is not given its inputs")
    training = edit.get("is_training")
    if kind.takes_training and training is None:
        text = f"`{edit.shown}` trains during evaluation and prediction, too"
        raise Refused(module, call, text, "give it is_training=mode == ModeKeys.TRAIN")
    edit.drop(kind.parameters[0], "is_training", *_COLLECTIONS)
    edit.function(f"{tf}.keras.layers.{kind.keras}")
    if not regularized:
        edit.drop("weights_regularizer", "biases_regularizer", "regularizer")
    _check(edit, kind)
    _biases(edit)
    _channels(edit, kind)
    if edit.get("keep_prob") is not None:
        negative(edit, "keep_prob", "1")
    added = [name for name in kind.defaults if edit.get(name) is None]
    for old, new in kind.names.items():
        edit.rename(old, new)
    edit.order(_ORDER.get(kind.keras, ("filters", "kernel_size", "strides")))
    for name in added:
        text = kind.defaults[name].format(tf=tf, quote=module.source.quote)
        edit.add(kind.names.get(name, name), text)
    return Layer(
        call, edit.edits(), (inputs,), training, _STEMS.get(short, short), kind.takes_training
    )


_STEMS = {"fully_connected": "dense", "relu": "dense", "relu6": "dense", "linear": "dense"}


def _check(edit: BoundCall, kind: _Kind) -> None:
    """Arguments that only TF1 has.

    Raises:
        Refused: one of them says something.
    """
    shared = "its variables are shared by name with another call"
    refuse_unless(edit, "reuse", (None, False), shared, "make the layer once")
    own = "write it as a layer of its own, behind this one"
    refuse_unless(edit, "normalizer_fn", (None,), "a `normalizer_fn` normalizes its outputs", own)
    if edit.get("normalizer_params") is not None:
        edit.drop("normalizer_params")
    for name in ("batch_weights", "adjustment", "param_initializers", "param_regularizers"):
        refuse_unless(edit, name, (None,), f"`{name}` is TF1's own", "no Keras layer does this")
    for name in ("zero_debias_moving_mean", "renorm", "unique"):
        refuse_unless(edit, name, (None, False), f"`{name}` is TF1's own", "no Keras layer has it")
    edit.drop("renorm_clipping", "renorm_decay", "fused")
    if kind.keras == "BatchNormalization":
        text = "batch normalization with an activation"
        refuse_unless(edit, "activation_fn", (None,), text, own)
    if kind.keras == "SeparableConv2D":
        text = f"one argument of `{edit.shown}` is for two kernels in TF1"
        for name in ("weights_initializer", "weights_regularizer", "pointwise_initializer"):
            refuse_unless(edit, name, (), text, "use tf.layers.separable_conv2d")
        refuse_unless_given(edit, "num_outputs")
    if kind.keras == "Embedding":
        refuse_unless_given(edit, "vocab_size")
        refuse_unless_given(edit, "embed_dim")
    scope = edit.get("scope")
    known = constant(scope) if scope is not None else None
    if scope is not None and (not isinstance(known, str) or "/" in known):
        edit.drop("scope")  # None, a VariableScope or a path, which no Keras name can be


def refuse_unless_given(edit: BoundCall, name: str) -> None:
    """A parameter that TF1 could do without and Keras cannot.

    Raises:
        Refused: it is None or missing.
    """
    if edit.given(name) is None:
        raise Refused(edit.module, edit.call, f"`{edit.shown}` has no `{name}`", "give it one")


def _biases(edit: BoundCall) -> None:
    """`biases_initializer=None`: no bias at all."""
    if is_none(edit.get("biases_initializer")):
        edit.value("biases_initializer", "False")
        edit.rename("biases_initializer", "use_bias")


def _channels(edit: BoundCall, kind: _Kind) -> None:
    """`NCHW` is Keras's `channels_first`."""
    value = edit.get("data_format")
    if value is None:
        return
    known = constant(value)
    if not is_none(value) and known not in _CHANNELS:
        text = f"`data_format` of `{edit.shown}` cannot be told"
        raise Refused(edit.module, value, text, "write it as a string")
    if is_none(value) or _CHANNELS[str(known)] == "channels_last":
        edit.drop("data_format")
        return
    quote = edit.module.source.quote
    if kind.keras == "BatchNormalization":
        edit.drop("data_format")
        edit.add("axis", "1")
    else:
        edit.value("data_format", f"{quote}channels_first{quote}")
