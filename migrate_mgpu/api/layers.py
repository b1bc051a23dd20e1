"""``tf.layers`` and ``tf.contrib.layers`` (slim's are the same), and Keras's layers for them."""

from __future__ import annotations

from collections.abc import Mapping

from migrate_mgpu.core.records import field, record


@record(frozen=True)
class LayerRow:
    """A layer of TF1's: what it is, by the name of Keras's class, and its parameters in order.

    ``order`` are Keras's parameters that may be given by position in Keras 2 and 3 alike,
    ``names`` Keras's names for TF1's parameters, ``defaults`` what TF1 did unasked, by its
    own parameters. ``stem`` names the layer where nothing better is known.
    ``takes_training``: it behaves differently while training (dropout, batch normalization).
    """

    kind: str
    stem: str
    parameters: tuple[str, ...]
    order: tuple[str, ...]
    takes_training: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)


# -- tf.layers ------------------------------------------------------------------

_CONV = (
    "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
    "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint",
    "trainable", "name",
)  # fmt: skip
_DILATED = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", *_CONV)
_TRANSPOSED = ("filters", "kernel_size", "strides", "padding", "data_format", *_CONV)
_SEPARABLE = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate",
    "depth_multiplier", "activation", "use_bias", "depthwise_initializer",
    "pointwise_initializer", "bias_initializer", "depthwise_regularizer",
    "pointwise_regularizer", "bias_regularizer", "activity_regularizer", "depthwise_constraint",
    "pointwise_constraint", "bias_constraint", "trainable", "name",
)  # fmt: skip
_POOLING = ("pool_size", "strides", "padding", "data_format", "name")
_NORMALIZATION = (
    "axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer",
    "moving_mean_initializer", "moving_variance_initializer", "beta_regularizer",
    "gamma_regularizer", "beta_constraint", "gamma_constraint",
)  # fmt: skip
_RENORM = ("renorm", "renorm_clipping", "renorm_momentum", "fused")

# By the function's name: Keras's class, and TF1's parameters behind the inputs.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "dense": ("Dense", ("units", *_CONV)),
    "conv1d": ("Conv1D", _DILATED),
    "conv2d": ("Conv2D", _DILATED),
    "conv3d": ("Conv3D", _DILATED),
    "conv2d_transpose": ("Conv2DTranspose", _TRANSPOSED),
    "conv3d_transpose": ("Conv3DTranspose", _TRANSPOSED),
    "separable_conv1d": ("SeparableConv1D", _SEPARABLE),
    "separable_conv2d": ("SeparableConv2D", _SEPARABLE),
    "average_pooling1d": ("AveragePooling1D", _POOLING),
    "average_pooling2d": ("AveragePooling2D", _POOLING),
    "average_pooling3d": ("AveragePooling3D", _POOLING),
    "max_pooling1d": ("MaxPooling1D", _POOLING),
    "max_pooling2d": ("MaxPooling2D", _POOLING),
    "max_pooling3d": ("MaxPooling3D", _POOLING),
    "flatten": ("Flatten", ("name", "data_format")),
    "dropout": ("Dropout", ("rate", "noise_shape", "seed", "training", "name")),
    "batch_normalization": (
        "BatchNormalization",
        (*_NORMALIZATION, "training", "trainable", "name", "reuse", *_RENORM,
         "virtual_batch_size", "adjustment"),
    ),
}  # fmt: skip
# Of the classes whose constructors have other parameters, or in another order.
_CLASS_PARAMETERS = {
    "Dropout": ("rate", "noise_shape", "seed", "name"),
    "Flatten": ("data_format", "name"),
    "BatchNormalization": (
        *_NORMALIZATION, *_RENORM[:3], "fused", "trainable", "virtual_batch_size", "adjustment",
        "name",
    ),
}  # fmt: skip
_BY_POSITION = {
    "Dense": ("units", "activation", "use_bias"),
    "Dropout": ("rate", "noise_shape", "seed"),
    "Flatten": ("data_format",),
    "BatchNormalization": ("axis", "momentum", "epsilon", "center", "scale"),
}


def _rows() -> dict[str, LayerRow]:
    """Functions and classes of ``tf.layers``."""
    found = {}
    for short, (kind, parameters) in _FUNCTIONS.items():
        given = ("inputs", *parameters, "reuse", "dtype", "_scope", "_reuse")
        order = _BY_POSITION.get(kind, parameters[:3])
        takes_training = "training" in parameters
        found[f"layers.{short}"] = LayerRow(kind, short, given, order, takes_training)
        own = _CLASS_PARAMETERS.get(kind, parameters)
        order = _BY_POSITION.get(kind, own[:3])
        found[f"layers.{kind}"] = LayerRow(kind, short, (*own, "dtype", "_scope", "_reuse"), order)
    return found


# -- tf.contrib.layers ------------------------------------------------------------

_NORMALIZER = ("normalizer_fn", "normalizer_params")
_WEIGHTS = (
    "weights_initializer", "weights_regularizer", "biases_initializer", "biases_regularizer",
    "reuse", "variables_collections", "outputs_collections", "trainable", "scope",
)  # fmt: skip
_CONTRIB_CONV = (
    "inputs", "num_outputs", "kernel_size", "stride", "padding", "data_format", "rate",
    "activation_fn", *_NORMALIZER, *_WEIGHTS,
)  # fmt: skip
_CONTRIB_POOL = (
    "inputs", "kernel_size", "stride", "padding", "data_format", "outputs_collections", "scope",
)  # fmt: skip
_CONTRIB_SEPARABLE = (
    "inputs", "num_outputs", "kernel_size", "depth_multiplier", "stride", "padding",
    "data_format", "rate", "activation_fn", *_NORMALIZER, "weights_initializer",
    "pointwise_initializer", *_WEIGHTS[1:],
)  # fmt: skip
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
_CONV_ORDER = ("filters", "kernel_size", "strides")


def _dense(defaults: Mapping[str, str]) -> LayerRow:
    parameters = ("inputs", "num_outputs", "activation_fn", *_NORMALIZER, *_WEIGHTS)
    names = {**_SHARED, "num_outputs": "units"}
    return LayerRow("Dense", "dense", parameters, ("units",), names=names, defaults=defaults)


def _conv(kind: str, stem: str, parameters: tuple[str, ...] = _CONTRIB_CONV) -> LayerRow:
    defaults = {**_SAME, **_RELU}
    return LayerRow(kind, stem, parameters, _CONV_ORDER, names=_CONV_NAMES, defaults=defaults)


def _pool(kind: str, stem: str, order: tuple[str, ...] = _CONV_ORDER) -> LayerRow:
    names = {"kernel_size": "pool_size", "stride": "strides", "scope": "name"}
    return LayerRow(kind, stem, _CONTRIB_POOL, order, names=names, defaults={"stride": "2"})


_CONTRIB = {
    "fully_connected": _dense(_RELU),
    "relu": _dense(_RELU),
    "relu6": _dense({"activation_fn": "{tf}.nn.relu6"}),
    "linear": _dense({}),
    "conv1d": _conv("Conv1D", "conv1d"),
    "conv2d": _conv("Conv2D", "conv2d"),
    "convolution2d": _conv("Conv2D", "convolution2d"),
    "conv3d": _conv("Conv3D", "conv3d"),
    "conv2d_transpose": _conv(
        "Conv2DTranspose", "conv2d_transpose", tuple(p for p in _CONTRIB_CONV if p != "rate")
    ),
    "separable_conv2d": LayerRow(
        "SeparableConv2D",
        "separable_conv2d",
        _CONTRIB_SEPARABLE,
        _CONV_ORDER,
        names={
            **_CONV_NAMES,
            "weights_initializer": "depthwise_initializer",
            "weights_regularizer": "depthwise_regularizer",
        },
        defaults={**_SAME, **_RELU},
    ),
    "max_pool2d": _pool("MaxPooling2D", "max_pool2d", ("pool_size", "strides")),
    "max_pool3d": _pool("MaxPooling3D", "max_pool3d"),
    "avg_pool2d": _pool("AveragePooling2D", "avg_pool2d", ("pool_size", "strides")),
    "avg_pool3d": _pool("AveragePooling3D", "avg_pool3d"),
    "flatten": LayerRow(
        "Flatten",
        "flatten",
        ("inputs", "outputs_collections", "scope"),
        _CONV_ORDER,
        names={"scope": "name"},
    ),
    "dropout": LayerRow(
        "Dropout",
        "dropout",
        ("inputs", "keep_prob", "noise_shape", "is_training", "outputs_collections", "scope",
         "seed"),
        ("rate",),
        True,
        {"keep_prob": "rate", "scope": "name"},
        {"keep_prob": "0.5"},
    ),
    "batch_norm": LayerRow(
        "BatchNormalization",
        "batch_norm",
        ("inputs", "decay", "center", "scale", "epsilon", "activation_fn", "param_initializers",
         "param_regularizers", "updates_collections", "is_training", "reuse",
         "variables_collections", "outputs_collections", "trainable", "batch_weights", "fused",
         "data_format", "zero_debias_moving_mean", "scope", "renorm", "renorm_clipping",
         "renorm_decay", "adjustment"),
        _CONV_ORDER,
        True,
        {"decay": "momentum", "scope": "name"},
        {"decay": "0.999", "scale": "False"},
    ),
    "embed_sequence": LayerRow(
        "Embedding",
        "embed_sequence",
        ("ids", "vocab_size", "embed_dim", "unique", "initializer", "regularizer", "trainable",
         "scope", "reuse"),
        ("input_dim", "output_dim"),
        names={
            "vocab_size": "input_dim", "embed_dim": "output_dim",
            "initializer": "embeddings_initializer", "regularizer": "embeddings_regularizer",
            "scope": "name",
        },
        defaults={"initializer": "{tf}.keras.initializers.GlorotUniform()"},
    ),
}  # fmt: skip
# By TF1's name.
LAYERS = {**_rows(), **{f"contrib.layers.{short}": row for short, row in _CONTRIB.items()}}
CHANNELS = {
    "NHWC": "channels_last", "NWC": "channels_last", "NDHWC": "channels_last",
    "NCHW": "channels_first", "NCW": "channels_first", "NCDHW": "channels_first",
}  # fmt: skip
