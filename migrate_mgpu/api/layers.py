"""``tf.layers`` and ``tf.contrib.layers`` (slim's are the same), and Keras's layers for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from migrate_mgpu.api.feature_columns import COLUMN_TENSORS, COLUMN_VALUES
from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
from migrate_mgpu.core.records import record


@record(frozen=True)
class LayerVariable:
    """A variable of a layer: its name in TF1, that of Keras's attribute.

    ``setting`` is the parameter of TF1's by which there may be none.
    """

    name: str
    attribute: str
    setting: str = ""

    @property
    def is_statistic(self) -> bool:
        """Whether steps move it, and no optimizer trains it."""
        return self.name.startswith("moving_")


@record(frozen=True)
class LayerRow(Row):
    """A layer of TF1's, a function or a class; ``target`` is Keras's class.

    ``stem`` names the layer where nothing better is known. ``inputs`` is the parameter that a
    function is given what the layer is applied to, ``training`` the one that tells it whether
    it trains; both are empty where there is none. ``scope`` is what TF1 calls the first one of a
    scope that is given no name, ``variables`` are those below it, None where that is not known.
    ``definitions``: the class stands beside the model, the last of these.
    """

    stem: str = ""
    inputs: str = ""
    training: str = ""
    scope: str = ""
    variables: tuple[LayerVariable, ...] | None = None
    definitions: tuple[Definition, ...] = ()

    @property
    def keras(self) -> str:
        """The name of Keras's class."""
        return self.target.rpartition(".")[2]

    @property
    def made(self) -> tuple[LayerVariable, ...]:
        """The variables in the order in which Keras makes them: `gamma` before `beta`."""
        every = self.variables or ()
        return tuple(sorted(every, key=lambda one: (one.is_statistic, one.name == "beta")))


MOMENTS = "MovingMoments"
MOMENTS_CALL = "layers.moving_moments"
# Layers by Keras's class, or by that which is written for them, whose statistics training moves.
NORMALIZERS = ("BatchNormalization", MOMENTS)


def _known(parameters: Iterable[Parameter]) -> dict[str, Parameter]:
    return {parameter.name: parameter for parameter in parameters}


def _without_effect(*names: str) -> list[Parameter]:
    """Parameters that say nothing in TF2."""
    return [Parameter(name, target="") for name in names]


def _own(only: tuple[object, ...], advice: str, *names: str) -> list[Parameter]:
    """Parameters that no layer of Keras's has."""
    return [
        Parameter(name, target="", only=only, reason=f"`{name}` is TF1's own", advice=advice)
        for name in names
    ]


def _reuse(name: str, advice: str) -> Parameter:
    reason = "its variables are shared by name with another call"
    return Parameter(name, target="", only=(None, False), reason=reason, advice=advice)


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

_KERNEL = (LayerVariable("kernel", "kernel"), LayerVariable("bias", "bias", "use_bias"))
_STATISTICS = (
    LayerVariable("gamma", "gamma", "scale"), LayerVariable("beta", "beta", "center"),
    LayerVariable("moving_mean", "moving_mean"),
    LayerVariable("moving_variance", "moving_variance"),
)  # fmt: skip
# The variables of layers by Keras's class.
_VARIABLES: dict[str, tuple[LayerVariable, ...]] = {
    "Dense": _KERNEL,
    "Conv1D": _KERNEL,
    "Conv2D": _KERNEL,
    "Conv3D": _KERNEL,
    "Conv2DTranspose": _KERNEL,
    "BatchNormalization": _STATISTICS,
    **dict.fromkeys(
        ("AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D",
         "MaxPooling2D", "MaxPooling3D", "Flatten", "Dropout"),
        (),
    ),
}  # fmt: skip
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


_NO_LAYER = "no Keras layer does this"
_ONE_LAYER = "make the layer once, before it is called twice"
_PARAMETERS = _known([
    *_without_effect("inputs", "training", "_scope", "renorm_clipping", "renorm_momentum", "fused"),
    _reuse("reuse", _ONE_LAYER),
    _reuse("_reuse", _ONE_LAYER),
    Parameter(
        "renorm", target="", only=(False, None), reason="batch renormalization is TF1's own",
        advice=_NO_LAYER,
    ),
    *_own((None,), _NO_LAYER, "virtual_batch_size", "adjustment"),
])  # fmt: skip


def _row(
    name: str, keras: str, stem: str, given: Iterable[str], order: tuple[str, ...], inputs: str
) -> LayerRow:
    parameters = tuple(_PARAMETERS.get(parameter, Parameter(parameter)) for parameter in given)
    training = "training" if "training" in given else ""
    return LayerRow(
        (f"layers.{name}",), name, parameters, f"keras.layers.{keras}", order,
        stem=stem, inputs=inputs, training=training, scope=stem, variables=_VARIABLES.get(keras),
    )  # fmt: skip


def _rows() -> list[LayerRow]:
    """Functions and classes of ``tf.layers``."""
    found = []
    for short, (keras, parameters) in _FUNCTIONS.items():
        given = list(dict.fromkeys(("inputs", *parameters, "reuse", "dtype", "_scope", "_reuse")))
        order = _BY_POSITION.get(keras, parameters[:3])
        found.append(_row(short, keras, short, given, order, "inputs"))
        own = _CLASS_PARAMETERS.get(keras, parameters)
        order = _BY_POSITION.get(keras, own[:3])
        found.append(_row(keras, keras, short, (*own, "dtype", "_scope", "_reuse"), order, ""))
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
_CONTRIB_KERNEL = (
    LayerVariable("weights", "kernel"), LayerVariable("biases", "bias", "biases_initializer"),
)  # fmt: skip
# Keras's class by TF1's name of a layer that is given none, and its variables.
_CONTRIB_SCOPES: dict[str, tuple[str, tuple[LayerVariable, ...]]] = {
    "Dense": ("fully_connected", _CONTRIB_KERNEL),
    "Conv1D": ("Conv", _CONTRIB_KERNEL),
    "Conv2D": ("Conv", _CONTRIB_KERNEL),
    "BatchNormalization": ("BatchNorm", _STATISTICS),
    "LayerNormalization": ("LayerNorm", _STATISTICS[1::-1]),
    "GroupNormalization": ("InstanceNorm", _STATISTICS[1::-1]),
    "MaxPooling2D": ("MaxPool2D", ()),
    "MaxPooling3D": ("MaxPool3D", ()),
    "AveragePooling2D": ("AvgPool2D", ()),
    "AveragePooling3D": ("AvgPool3D", ()),
    "Flatten": ("Flatten", ()),
    "Dropout": ("Dropout", ()),
}
_CONV_NAMES = {**_SHARED, "num_outputs": "filters", "stride": "strides", "rate": "dilation_rate"}
_SAME = {"padding": "{quote}same{quote}"}
_CONV_ORDER = ("filters", "kernel_size", "strides")
_OWN_LAYER = "write it as a separate layer, after this one"
_LAST_AXIS = "give it begin_norm_axis=-1, begin_params_axis=-1"
_CHANNELS_LAST = "let the channels be the last axis"
_CONTRIB_PARAMETERS = _known([
    *_without_effect("inputs", "ids", "is_training", "variables_collections", "outputs_collections",
           "updates_collections", "normalizer_params", "renorm_clipping", "renorm_decay", "fused",
           "zero_debias_moving_mean"),
    _reuse("reuse", "make the layer once"),
    Parameter(
        "normalizer_fn", target="", only=(None,), advice=_OWN_LAYER,
        reason="a `normalizer_fn` normalizes its outputs",
    ),
    *_own((None,), _NO_LAYER, "batch_weights", "adjustment", "param_initializers",
          "param_regularizers"),
    *_own((None, False), "no Keras layer has it", "renorm", "unique"),
])  # fmt: skip


def _contrib(
    name: str,
    keras: str,
    given: tuple[str, ...],
    order: tuple[str, ...],
    names: Mapping[str, str],
    defaults: Mapping[str, str] | None = None,
    stem: str = "",
    known: Iterable[Parameter] = (),
    constants: tuple[tuple[str, str], ...] = (),
) -> LayerRow:
    """A layer of contrib's: Keras's names of its parameters, and what TF1 did unasked."""
    special = {**_CONTRIB_PARAMETERS, **_known(known)}
    parameters = []
    for one in given:
        default = (defaults or {}).get(one, "")
        plain = Parameter(one, default, names.get(one), stated=bool(default))
        parameters.append(special.get(one, plain))
    scope, variables = _CONTRIB_SCOPES.get(keras, ("", None))
    return LayerRow(
        (f"contrib.layers.{name}",), f"contrib.{name}", tuple(parameters), f"keras.layers.{keras}",
        order, stem=stem or name, inputs=given[0],
        training="is_training" if "is_training" in given else "", constants=constants,
        scope=scope, variables=variables,
    )  # fmt: skip


def _dense(name: str, defaults: Mapping[str, str]) -> LayerRow:
    given = ("inputs", "num_outputs", "activation_fn", *_NORMALIZER, *_WEIGHTS)
    names = {**_SHARED, "num_outputs": "units"}
    return _contrib(name, "Dense", given, ("units",), names, defaults, "dense")


def _conv(name: str, keras: str, given: tuple[str, ...] = _CONTRIB_CONV) -> LayerRow:
    return _contrib(name, keras, given, _CONV_ORDER, _CONV_NAMES, {**_SAME, **_RELU})


def _pool(name: str, keras: str, order: tuple[str, ...] = ()) -> LayerRow:
    names = {"kernel_size": "pool_size", "stride": "strides", "scope": "name"}
    return _contrib(name, keras, _CONTRIB_POOL, order, names, {"stride": "2"})


LAYERS = Table(
    *_rows(),
    # TF1 has no such function: `normalize/layers/moving_moments.py` writes batch normalization by
    # hand so, for the readers alone. It gives the mean and the variance.
    LayerRow(
        (MOMENTS_CALL,),
        MOMENTS,
        (Parameter("inputs", target=""), Parameter("axes"), Parameter("decay", target=""),
         Parameter("training", target="")),
        f"keras.layers.{MOMENTS}",
        ("axes",),
        stem="moments",
        inputs="inputs",
        training="training",
    ),
    LayerRow(
        ("keras.layers.DenseFeatures",),
        "keras.DenseFeatures",
        (Parameter("feature_columns"),),
        "keras.layers.DenseFeatures",
        stem="columns",
        definitions=(COLUMN_VALUES, COLUMN_TENSORS),
    ),
    _dense("fully_connected", _RELU),
    _dense("relu", _RELU),
    _dense("relu6", {"activation_fn": "{tf}.nn.relu6"}),
    _dense("linear", {}),
    _conv("conv1d", "Conv1D"),
    _conv("conv2d", "Conv2D"),
    _conv("convolution2d", "Conv2D"),
    _conv("conv3d", "Conv3D"),
    _conv("conv2d_transpose", "Conv2DTranspose", tuple(p for p in _CONTRIB_CONV if p != "rate")),
    _contrib(
        "separable_conv2d",
        "SeparableConv2D",
        _CONTRIB_SEPARABLE,
        _CONV_ORDER,
        {
            **_CONV_NAMES,
            "weights_initializer": "depthwise_initializer",
            "weights_regularizer": "depthwise_regularizer",
        },
        {**_SAME, **_RELU},
    ),
    _pool("max_pool2d", "MaxPooling2D", ("pool_size", "strides")),
    _pool("max_pool3d", "MaxPooling3D"),
    _pool("avg_pool2d", "AveragePooling2D", ("pool_size", "strides")),
    _pool("avg_pool3d", "AveragePooling3D"),
    _contrib(
        "flatten", "Flatten", ("inputs", "outputs_collections", "scope"), (), {"scope": "name"}
    ),
    _contrib(
        "dropout",
        "Dropout",
        ("inputs", "keep_prob", "noise_shape", "is_training", "outputs_collections", "scope",
         "seed"),
        ("rate",),
        {"keep_prob": "rate", "scope": "name"},
        {"keep_prob": "0.5"},
    ),
    _contrib(
        "batch_norm",
        "BatchNormalization",
        ("inputs", "decay", "center", "scale", "epsilon", "activation_fn", "param_initializers",
         "param_regularizers", "updates_collections", "is_training", "reuse",
         "variables_collections", "outputs_collections", "trainable", "batch_weights", "fused",
         "data_format", "zero_debias_moving_mean", "scope", "renorm", "renorm_clipping",
         "renorm_decay", "adjustment"),
        (),
        {"decay": "momentum", "scope": "name"},
        {"decay": "0.999", "scale": "False"},
        known=[
            Parameter(
                "activation_fn", target="", only=(None,), advice=_OWN_LAYER,
                reason="batch normalization with an activation",
            )
        ],
    ),
    _contrib(
        "layer_norm",
        "LayerNormalization",
        ("inputs", "center", "scale", "activation_fn", "reuse", "variables_collections",
         "outputs_collections", "trainable", "begin_norm_axis", "begin_params_axis", "scope"),
        (),
        {"scope": "name"},
        known=[
            Parameter(
                "activation_fn", target="", only=(None,), advice=_OWN_LAYER,
                reason="layer normalization with an activation",
            ),
            Parameter(
                "begin_norm_axis", target="", only=(-1,), advice=_LAST_AXIS,
                reason="it normalizes more than the last axis",
            ),
            Parameter(
                "begin_params_axis", "-1", target="", only=(-1,), advice=_LAST_AXIS,
                reason="its parameters are of more than the last axis",
            ),
        ],
        constants=(("epsilon", "1e-12"),),
    ),
    _contrib(
        "instance_norm",
        "GroupNormalization",
        ("inputs", "center", "scale", "epsilon", "activation_fn", "param_initializers", "reuse",
         "variables_collections", "outputs_collections", "trainable", "data_format", "scope"),
        (),
        {"scope": "name"},
        {"epsilon": "1e-06"},
        known=[
            Parameter(
                "activation_fn", target="", only=(None,), advice=_OWN_LAYER,
                reason="instance normalization with an activation",
            ),
            Parameter(
                "data_format", target="", only=("NHWC", None), advice=_CHANNELS_LAST,
                reason="instance normalization with its channels in front",
            ),
        ],
        constants=(("groups", "-1"),),  # one for each channel
    ),
    _contrib(
        "embed_sequence",
        "Embedding",
        ("ids", "vocab_size", "embed_dim", "unique", "initializer", "regularizer", "trainable",
         "scope", "reuse"),
        ("input_dim", "output_dim"),
        {
            "vocab_size": "input_dim", "embed_dim": "output_dim",
            "initializer": "embeddings_initializer", "regularizer": "embeddings_regularizer",
            "scope": "name",
        },
        {"initializer": "{tf}.keras.initializers.GlorotUniform()"},
    ),
)  # fmt: skip
# Batch normalization as the fused kernel of TF1 computes it: the variance of a batch that moves
# the average is a sample's, n / (n - 1) times the batch's. Keras 2 has the factor for images
# alone, Keras 3 for nothing.
_FUSED = """\
outputs, mean, variance, *_ = {tf}.raw_ops.FusedBatchNormV3(
    x=INPUTS,
    scale=ones if self.gamma is None else self.gamma,
    offset={tf}.zeros_like(ones) if self.beta is None else self.beta,
    mean=[],
    variance=[],
    epsilon=self.epsilon,
)"""
_FORMAT = "    epsilon=self.epsilon,\n"
_ANY_AXIS = """\
    data_format="NCHW" if inputs.shape.rank == 4 and self.axis in (1, [1]) else "NHWC",
"""
_SAMPLES = '''\
class {name}({tf}.keras.layers.BatchNormalization):
    """Batch normalization WHERE."""

    def call(self, inputs, training=False):
        if not training or inputs.shape.rank CHECK:
            return super().call(inputs, training=training)
        ones = {tf}.ones_like(self.moving_mean)
        FUSED
        for moving, value in [(self.moving_mean, mean), (self.moving_variance, variance)]:
            moving.assign(moving * self.momentum + value * (1.0 - self.momentum))
        return OUTPUTS'''
# With `zero_debias_moving_mean`: the mean's average is kept with the bias of the zero that it
# starts from, and the steps are counted; what is read is without that.
_DEBIASED = '''\
class {name}({tf}.keras.layers.BatchNormalization):
    """Batch normalization whose moving mean has no bias to the zero that it starts from."""

    def build(self, input_shape):
        super().build(input_shape)
        self.biased, self.steps = [
            self.add_weight(name=name, shape=shape, initializer="zeros", trainable=False)
            for name, shape in [("biased", self.moving_mean.shape), ("local_step", ())]
        ]

    def call(self, inputs, training=False):
        if not training:
            return super().call(inputs, training=False)
        if inputs.shape.rank in (2, 4):  # the variance is a sample's, as TF1's is
            ones = {tf}.ones_like(self.moving_mean)
            FUSED
            outputs = {tf}.reshape(outputs, {tf}.shape(inputs))
        else:
            mean, variance = {tf}.nn.moments(inputs, [*range(inputs.shape.rank - 1)])
            outputs = {tf}.nn.batch_normalization(
                inputs, mean, variance, self.beta, self.gamma, self.epsilon
            )
        rate = 1.0 - self.momentum
        self.biased.assign_sub((self.biased - mean) * rate)
        self.steps.assign_add(1.0)
        self.moving_mean.assign(self.biased / (1.0 - self.momentum**self.steps))
        self.moving_variance.assign_sub((self.moving_variance - variance) * rate)
        return outputs'''
# What `tf.train.ExponentialMovingAverage` keeps of a batch's moments begins at zero, both the mean
# and the variance, which is the batch's own and not a sample's.
_MOMENTS = '''\
class {name}({tf}.keras.layers.Layer):
    """A batch's mean and variance while it trains, and their moving averages otherwise."""

    def __init__(self, axes):
        super().__init__()
        self.axes = tuple(axes)

    def build(self, input_shape):
        shape = [size for axis, size in enumerate(input_shape) if axis not in self.axes]
        self.mean, self.variance = [
            self.add_weight(name=name, shape=shape, initializer="zeros", trainable=False)
            for name in ["mean", "variance"]
        ]

    def call(self, inputs, decay, training=False):
        if not training:
            return {tf}.convert_to_tensor(self.mean), {tf}.convert_to_tensor(self.variance)
        mean, variance = {tf}.nn.moments(inputs, self.axes)
        for moving, value in [(self.mean, mean), (self.variance, variance)]:
            moving.assign_sub((moving - value) * (1.0 - decay))
        return mean, variance'''
# In towers: TF1 moves the averages by the batches of one tower, or by those of all, each from
# what the others left, in any order; here each from what there was. Keras 2 keeps averages for
# each replica, Keras 3 lets them drift apart.
_TOWERS = '''\
class {name}({tf}.keras.layers.BatchNormalization):
    """Batch normalization whose averages MOVED."""

    def build(self, input_shape):
        super().build(input_shape)
        averages = self.moving_mean, self.moving_variance
        del self.moving_mean, self.moving_variance
        with {tf}.init_scope():
            self.moving_mean, self.moving_variance = [
                {tf}.Variable(
                    value, trainable=False, aggregation={tf}.VariableAggregation.AGGREGATION
                )
                for value in averages
            ]

    def call(self, inputs, training=False):
        replica = {tf}.distribute.get_replica_context()
        if not training or replica is None:  # outside of the replicas nothing trains
            return super().call(inputs, training=False)
        if inputs.shape.rank CHECK:  # the variance is WHERE
            ones = {tf}.ones_like(self.moving_mean)
            FUSED
            AGAIN
        else:
            mean, variance = {tf}.nn.moments(inputs, [*range(inputs.shape.rank - 1)])
            outputs = {tf}.nn.batch_normalization(
                inputs, mean, variance, self.beta, self.gamma, self.epsilon
            )
        RATE
        for moving, value in [(self.moving_mean, mean), (self.moving_variance, variance)]:
            moving.assign_sub((moving - value) * rate)
        return outputs'''
# By what moves the averages: what is said of it, how replicas' changes are put together, and a
# replica's rate.
_RATE = ("rate = 1.0 - self.momentum",)
_LAST = (
    "last = replica.replica_id_in_sync_group == replica.num_replicas_in_sync - 1",
    "rate = {tf}.where(last, 1.0 - self.momentum, 0.0)",
)
_MOVERS = {
    "first": ("the first replica moves", "ONLY_FIRST_REPLICA", _RATE),
    "last": ("the last replica moves", "SUM", _LAST),
    "all": ("all replicas move", "SUM", _RATE),
}


def normalization(ranks: tuple[int, ...], mover: str = "", any_axis: bool = False) -> Definition:
    """The class of batch normalization with TF1's averages.

    ``ranks`` are those of inputs that the fused kernel normalizes, 4 or 2 and 4. ``mover`` is
    which towers move the averages (``first``, ``last``, ``all``), empty where there are none.
    ``any_axis``: the channels may be the second axis.
    """
    matrices = 2 in ranks
    given = "inputs[:, {tf}.newaxis, {tf}.newaxis] if inputs.shape.rank == 2 else inputs"
    fused = _FUSED.replace("INPUTS", given if matrices else "inputs")
    if any_axis:
        fused = fused.replace(_FORMAT, _FORMAT + _ANY_AXIS)
    again = "{tf}.reshape(outputs, {tf}.shape(inputs))" if matrices else "outputs"
    name = "FusedBatchNormalization" if matrices else "BatchNormalization"
    if not mover:
        check = "not in (2, 4)" if matrices else "!= 4"
        text = _SAMPLES.replace("CHECK", check).replace("OUTPUTS", again)
        where = "whose moving variance is that of a sample, as TF1's is"
        where = f"{where} here" if matrices else f"{where} of images"
        return Definition(name, _filled(text, "FUSED", fused).replace("WHERE", where))
    moved, aggregation, rate = _MOVERS[mover]
    text = _TOWERS.replace("MOVED", moved).replace("AGGREGATION", aggregation)
    text = text.replace("CHECK", "in (2, 4)" if matrices else "== 4")
    where = "a sample's, as TF1's is" if matrices else "that of a sample, as TF1's is of images"
    text = text.replace("WHERE", where)
    text = _filled(_filled(text, "FUSED", fused), "RATE", "\n".join(rate))
    again = f"            outputs = {again}\n" if matrices else ""
    return Definition(name, text.replace("            AGAIN\n", again))


def debiased() -> Definition:
    """The class of batch normalization with `zero_debias_moving_mean`, outside of towers."""
    given = "inputs[:, {tf}.newaxis, {tf}.newaxis] if inputs.shape.rank == 2 else inputs"
    return Definition(
        "DebiasedBatchNormalization", _filled(_DEBIASED, "FUSED", _FUSED.replace("INPUTS", given))
    )


def moments() -> Definition:
    """The class of the moments of a batch, with averages that begin at zero."""
    return Definition(MOMENTS, _MOMENTS)


def _filled(text: str, mark: str, lines: str) -> str:
    """A text with lines where a mark stands, at its indentation."""
    start = text.index(mark)
    indent = " " * (start - text.rindex("\n", 0, start) - 1)
    return text.replace(mark, lines.replace("\n", "\n" + indent), 1)


CHANNELS = {
    "NHWC": "channels_last", "NWC": "channels_last", "NDHWC": "channels_last",
    "NCHW": "channels_first", "NCW": "channels_first", "NCDHW": "channels_first",
}  # fmt: skip
