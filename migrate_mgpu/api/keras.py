"""Keras of TF 1.15 in the words of Keras 2.15 and 3: what models are made of and compiled with.

Only what was measured, or is the same code, is in the tables. Its optimizers are beside those
of ``tf.train``.
"""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import record

COMPARE = "check that it does the same in TF2, and take the Estimator out by hand"


# -- what a model is made of ----------------------------------------------------

_INITIAL = ("kernel_initializer", "bias_initializer")
_CONV = ("strides", "padding", "data_format", "dilation_rate", "activation", "use_bias", *_INITIAL)
_POOL = ("pool_size", "strides", "padding", "data_format")
_RANDOM = ("mean", "stddev", "seed")

# Layers with the same parameters and defaults in 1.15 and today.
_LAYERS: dict[str, tuple[str, ...]] = {
    "Activation": ("activation",),
    "Add": (),
    "Average": (),
    "AveragePooling1D": _POOL,
    "AveragePooling2D": _POOL,
    "Concatenate": ("axis",),
    "Conv1D": ("filters", "kernel_size", *_CONV),
    "Conv2D": ("filters", "kernel_size", *_CONV),
    "Convolution2D": ("filters", "kernel_size", *_CONV),
    "Dense": ("units", "activation", "use_bias", *_INITIAL),
    "Dropout": ("rate", "noise_shape", "seed"),
    "ELU": ("alpha",),
    "Flatten": ("data_format",),
    "GlobalAveragePooling1D": (),
    "GlobalAveragePooling2D": (),
    "GlobalMaxPooling1D": (),
    "GlobalMaxPooling2D": (),
    "MaxPool2D": _POOL,
    "MaxPooling1D": _POOL,
    "MaxPooling2D": _POOL,
    "Maximum": (),
    "Multiply": (),
    "Permute": ("dims",),
    "RepeatVector": ("n",),
    "Reshape": ("target_shape",),
    "SpatialDropout2D": ("rate",),
    "Subtract": (),
    "UpSampling2D": ("size",),
    "ZeroPadding2D": ("padding",),
}
_MERGING = ("add", "average", "maximum", "multiply", "subtract")
_INITIALIZERS = {
    "Constant": ("value",),
    "Ones": (),
    "RandomNormal": _RANDOM,
    "RandomUniform": ("minval", "maxval", "seed"),
    "TruncatedNormal": _RANDOM,
    "Zeros": (),
}
# By which strings, and functions of those names, a layer is given one.
NAMED = {
    "activations": (
        "elu", "exponential", "linear", "relu", "selu", "sigmoid", "softmax", "softplus",
        "softsign", "tanh",
    ),
    "initializers": (
        "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
        "lecun_uniform", "ones", "random_normal", "random_uniform", "zeros",
    ),
}  # fmt: skip
INPUT_LAYER = "InputLayer"


def _row(
    names: tuple[str, ...], by_position: tuple[str, ...], by_name: tuple[str, ...] = ()
) -> Row:
    """What is the same, by its first name."""
    parameters = tuple(Parameter(one) for one in (*by_position, *by_name))
    kind = names[0].rpartition(".")[2]
    return Row(names, kind, parameters, names[0], by_position)


def _absent(name: str) -> Parameter:
    reason = f"`{name}` of a Keras model's InputLayer"
    return Parameter(name, target="", only=(None,), reason=reason, advice=COMPARE)


MODELS = Table(
    _row(("keras.Model", "keras.models.Model"), ("inputs", "outputs", "name")),
    _row(("keras.Sequential", "keras.models.Sequential"), ("layers", "name")),
)
PARTS = Table(
    *MODELS.rows,
    _row(("keras.Input", "keras.layers.Input"), ("shape", "batch_size", "name", "dtype")),
    Row(
        ("keras.layers.InputLayer",),
        INPUT_LAYER,
        (
            Parameter("input_shape", target="shape"),
            Parameter("batch_size"),
            Parameter("dtype"),
            _absent("input_tensor"),
            _absent("sparse"),
            Parameter("name"),
        ),
        "keras.Input",  # Keras 3 has another name for its shape
        ("shape", "batch_size"),
    ),
    *(_row((f"keras.layers.{name}",), ("inputs", "name")) for name in _MERGING),
    _row(("keras.layers.concatenate",), ("inputs", "axis", "name")),
    *(_row((f"keras.initializers.{name}",), given) for name, given in _INITIALIZERS.items()),
    *(
        _row((f"keras.layers.{name}",), given, ("name", "trainable", "input_shape", "input_dim"))
        for name, given in _LAYERS.items()
    ),
)


# -- what it is compiled with ---------------------------------------------------

COMPILE = (
    "optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics",
    "target_tensors", "distribute",
)  # fmt: skip


@record(frozen=True)
class CompiledLoss(Row):
    """A loss by its class and functions, whose names are strings for it as well.

    ``elementwise``: it compares element by element. ``measured``: in an Estimator too, where
    1.15 compares labels and outputs of other shapes each with each.
    """

    elementwise: bool = True
    measured: bool = False


def _loss(
    kind: str, *others: str, elementwise: bool = True, measured: bool = False
) -> CompiledLoss:
    """A loss by its function; ``others`` are its class and shorter names."""
    names = tuple(f"keras.losses.{name}" for name in (kind, *others))
    parameters = () if elementwise else (Parameter("from_logits"),)
    return CompiledLoss(names, kind, parameters, names[0], None, (), elementwise, measured)


def _entropy(kind: str, name: str) -> CompiledLoss:
    return _loss(kind, name, elementwise=False, measured=True)


LOSSES = Table(
    _entropy("binary_crossentropy", "BinaryCrossentropy"),
    _entropy("categorical_crossentropy", "CategoricalCrossentropy"),
    _entropy("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"),
    _loss("mean_squared_error", "mse", "MeanSquaredError", measured=True),
    _loss("mean_absolute_error", "mae", "MeanAbsoluteError", measured=True),
    _loss("mean_absolute_percentage_error", "mape"),
    _loss("mean_squared_logarithmic_error", "msle"),
    _loss("hinge", "Hinge"),
    _loss("squared_hinge", "SquaredHinge"),
    _loss("categorical_hinge", "CategoricalHinge"),
    _loss("logcosh", "LogCosh"),
    _loss("huber_loss", "Huber"),
    _loss("kullback_leibler_divergence"),
    _loss("poisson", "Poisson"),
)


@record(frozen=True)
class CompiledMetric(Row):
    """A metric by the strings that ``compile`` takes; its kind is what 1.15 calls it in a result.

    ``measured``: in an Estimator too.
    """

    measured: bool = True


METRICS = Table(
    CompiledMetric(("accuracy", "acc"), "acc"),
    CompiledMetric(("crossentropy", "ce"), "ce", measured=False),
    CompiledMetric(("mae", "mean_absolute_error"), "mean_absolute_error"),
    CompiledMetric(("mse", "mean_squared_error"), "mean_squared_error"),
    CompiledMetric(("binary_accuracy",), "binary_accuracy"),
    CompiledMetric(("categorical_accuracy",), "categorical_accuracy"),
    CompiledMetric(("sparse_categorical_accuracy",), "sparse_categorical_accuracy"),
)
