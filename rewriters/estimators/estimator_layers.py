"""``tf.layers`` and ``tf.contrib.layers`` in a model_fn become ``tf.keras.layers``.

## What it does
``tf.layers.dense(net, 10)`` is a layer that is made (``tf.keras.layers.Dense(10)``, in the
class's ``__init__``) and applied (in its ``call``). TF1's own layers are written with the
defaults they had where Keras's differ: ``tf.contrib.layers.fully_connected`` has a ReLU,
``tf.contrib.layers.batch_norm`` a decay of 0.999 and no scale. Variables that are made by
hand (``tf.get_variable``, ``tf.Variable`` of a function's value) are weights of the model,
which ``self.add_weight`` makes in its ``__init__``.

``tf.nn.dynamic_rnn`` and ``static_rnn`` become ``tf.keras.layers.RNN`` over a cell that the
file gets, a dozen lines: TF1's cells have one kernel for inputs and state and add the forget
bias as they run, Keras's have not. A ``sequence_length`` is the layer's mask. Keras's own
``LSTM`` and ``GRU`` get the gates that they had in TF1.

## Why
TF2 has neither ``tf.layers`` nor ``tf.contrib``. A function that makes variables as it is
called has no place in a Keras model.

## Safety
Equal outputs for equal variables, and the same distributions of first values (the docs'
table names the measurement). What Keras has not keeps the whole program as it is:
``reuse=True``, renormalisation, virtual batches, a ``normalizer_fn``, an
``activity_regularizer`` (Keras 2 divides it by the batch, Keras 3 does not). Dropout and
batch normalization of ``tf.contrib`` without ``is_training`` train while they evaluate:
such a program stays as it is, too. Keras 3's moving variance of images has no Bessel
correction, TF1's and Keras 2's have.

Weights that are looked up by rows keep their program where the optimizer has a momentum or a
moving average: in TF1 those rest for rows that a step does not look up. So do weights of
another type than float32, or of a shape that is known only as the model runs.

## References
``tf.layers``, ``tf.contrib.layers``, ``tf.keras.layers``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api import contrib_layers, recurrent, variables
from migrate_mgpu.api.cases import IMAGES, NUMBERS, case
from migrate_mgpu.api.recurrent_keras import keras_recurrent
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import Rule, constant
from migrate_mgpu.models.front.rewriters import LayerRewriter
from migrate_mgpu.models.types import Layer
from migrate_mgpu.source.source import Edit

RULE = Rule(
    code="MGPU402",
    name="estimator-layers",
    summary="`tf.layers` and `tf.contrib.layers` become `tf.keras.layers`",
)

CASES = (
    case(
        "an image network",
        """\
def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.layers.conv2d(
        features,
        filters=32,  # few
        kernel_size=3,
        kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4),
    )
    net = tf.layers.batch_normalization(net, training=training, fused=True)
    net = tf.layers.max_pooling2d(tf.nn.relu(net), 2, 2)
    net = tf.contrib.layers.fully_connected(tf.layers.flatten(net), 64)
    net = tf.layers.dropout(net, rate=0.5, training=training)
    logits = tf.layers.dense(net, 10)
    cross_entropy = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = cross_entropy + tf.losses.get_regularization_loss()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv2d = tf.keras.layers.Conv2D(
            filters=32,  # few
            kernel_size=3,
            kernel_regularizer=tf.keras.regularizers.L2(5e-05),
        )
        self.batch_normalization = tf.keras.layers.BatchNormalization()
        self.max_pooling2d = tf.keras.layers.MaxPooling2D(2, 2)
        self.flatten = tf.keras.layers.Flatten()
        self.dense = tf.keras.layers.Dense(64, activation=tf.nn.relu)
        self.dropout = tf.keras.layers.Dropout(rate=0.5)
        self.logits = tf.keras.layers.Dense(10)

    def call(self, features, training=False):
        net = self.conv2d(features)
        net = self.batch_normalization(net, training=training)
        net = self.max_pooling2d(tf.nn.relu(net))
        net = self.dense(self.flatten(net))
        net = self.dropout(net, training=training)
        logits = self.logits(net)
        return logits


def model_fn():
    model = Model()
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=cross_entropy)
    return model
""",
        data=IMAGES,
    ),
    case(
        "weights made by hand",
        """\
def model_fn(features, labels, mode):
    weights = tf.get_variable('kernel', [4, 1])
    bias = tf.Variable(tf.zeros([1]), name='bias')
    outputs = tf.matmul(features, weights) + bias
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.weights_variable = self.add_weight(name='kernel', shape=[4, 1])
        self.bias = self.add_weight(
            shape=[1], initializer='zeros', name='bias')

    def call(self, features, training=False):
        outputs = tf.matmul(features, self.weights_variable) + self.bias
        return outputs


def model_fn():
    model = Model()

    def loss(labels, outputs):
        return tf.math.squared_difference(outputs, tf.cast(labels, outputs.dtype))

    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
        data=NUMBERS,
    ),
    case(
        "weights shared by name",
        """\
def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 4, name='shared')
    net = tf.layers.dense(net, 4, name='shared', reuse=True)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="shared by name",
    ),
)


@record(frozen=True)
class _Kind:
    """A layer of ``tf.layers``: Keras's class, and TF1's parameters behind ``inputs``."""

    keras: str
    parameters: tuple[str, ...]
    takes_training: bool = False


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

# By the function's name; parameters in TF1's order.
_FUNCTIONS = {
    "dense": _Kind("Dense", ("units", *_CONV)),
    "conv1d": _Kind("Conv1D", _DILATED),
    "conv2d": _Kind("Conv2D", _DILATED),
    "conv3d": _Kind("Conv3D", _DILATED),
    "conv2d_transpose": _Kind("Conv2DTranspose", _TRANSPOSED),
    "conv3d_transpose": _Kind("Conv3DTranspose", _TRANSPOSED),
    "separable_conv1d": _Kind("SeparableConv1D", _SEPARABLE),
    "separable_conv2d": _Kind("SeparableConv2D", _SEPARABLE),
    "average_pooling1d": _Kind("AveragePooling1D", _POOLING),
    "average_pooling2d": _Kind("AveragePooling2D", _POOLING),
    "average_pooling3d": _Kind("AveragePooling3D", _POOLING),
    "max_pooling1d": _Kind("MaxPooling1D", _POOLING),
    "max_pooling2d": _Kind("MaxPooling2D", _POOLING),
    "max_pooling3d": _Kind("MaxPooling3D", _POOLING),
    "flatten": _Kind("Flatten", ("name", "data_format")),
    "dropout": _Kind("Dropout", ("rate", "noise_shape", "seed", "training", "name"), True),
    "batch_normalization": _Kind(
        "BatchNormalization",
        (*_NORMALIZATION, "training", "trainable", "name", "reuse", *_RENORM,
         "virtual_batch_size", "adjustment"),
        True,
    ),
}  # fmt: skip
_CLASS_PARAMETERS = {
    "Dropout": ("rate", "noise_shape", "seed", "name"),
    "Flatten": ("data_format", "name"),
    "BatchNormalization": (
        *_NORMALIZATION, *_RENORM[:3], "fused", "trainable", "virtual_batch_size", "adjustment",
        "name",
    ),
}  # fmt: skip
_CLASSES = {
    kind.keras: _Kind(kind.keras, _CLASS_PARAMETERS.get(kind.keras, kind.parameters))
    for kind in _FUNCTIONS.values()
}
# Parameters by position in Keras 2 and Keras 3 alike; the rest get their names.
_KERAS_ORDER = {
    "Dense": ("units", "activation", "use_bias"),
    "Dropout": ("rate", "noise_shape", "seed"),
    "Flatten": ("data_format",),
    "BatchNormalization": ("axis", "momentum", "epsilon", "center", "scale"),
}
_SHARED = "its variables are shared by name with another call"
_ONE_LAYER = "make the layer once, before it is called twice"


def layer(module: Module, call: ast.Call, tf: str, regularized: bool = True) -> Layer | None:
    """The layer that a call makes and applies; None where it makes none.

    ``regularized``: whether the program's loss has the regularization terms; TF1 ignores
    regularizers where it has not.

    Raises:
        Refused: it has an argument that no Keras layer has.
    """
    name = name_of(module, call)
    if name in variables.NAMES:
        return variables.variable(module, call, tf, regularized)
    if name.startswith("contrib.layers."):
        return contrib_layers.layer(module, call, tf, name.rpartition(".")[2], regularized)
    head, _, short = name.rpartition(".")
    kind = _FUNCTIONS.get(short) if head == "layers" else None
    if kind is None:
        return recurrent.layer(module, call, tf)
    parameters = ("inputs", *kind.parameters, "reuse", "dtype", "_scope", "_reuse")
    edit = BoundCall(module, call, parameters)
    inputs = edit.get("inputs")
    if inputs is None:
        raise Refused(module, call, f"`{edit.shown}` is not given its inputs")
    training = edit.get("training")
    edit.drop("inputs", "training")
    _constructor(edit, kind, tf, regularized)
    return Layer(call, edit.edits(), (inputs,), training, short, kind.takes_training)


def layer_class(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...] | None:
    """The edits of a call that makes a layer, ``tf.layers.Dense(10)``; None where it makes none.

    Raises:
        Refused: it has an argument that no Keras layer has.
    """
    head, _, short = name_of(module, call).rpartition(".")
    kind = _CLASSES.get(short) if head == "layers" else None
    if kind is None:
        edits = recurrent.cell(module, call, tf)
        return edits if edits is not None else keras_recurrent(module, call, tf)
    edit = BoundCall(module, call, (*kind.parameters, "dtype", "_scope", "_reuse"))
    _constructor(edit, kind, tf, True)
    return edit.edits()


def _constructor(edit: BoundCall, kind: _Kind, tf: str, regularized: bool) -> None:
    """The constructor's arguments, as Keras has them."""
    edit.function(f"{tf}.keras.layers.{kind.keras}")
    order = _KERAS_ORDER.get(kind.keras)
    edit.order(order if order is not None else kind.parameters[:3])
    for name in ("reuse", "_reuse"):
        refuse_unless(edit, name, (None, False), _SHARED, _ONE_LAYER)
    edit.drop("_scope")
    for name in kind.parameters:
        value = edit.get(name)
        if name.endswith("_regularizer") and not regularized:
            edit.drop(name)
        elif name == "activity_regularizer" and value is not None and not is_none(value):
            text = "Keras 2 and Keras 3 scale an `activity_regularizer` differently"
            raise Refused(edit.module, value, text, "add the term to the loss")
        elif name.endswith("_initializer") and is_none(value):
            if name not in ("kernel_initializer", "depthwise_initializer", "pointwise_initializer"):
                text = f"`{name}=None` is Glorot's uniform distribution in TF1"
                assert value is not None
                raise Refused(edit.module, value, text, "name the initializer")
            edit.drop(name)
    if kind.keras == "BatchNormalization":
        _normalization(edit)
    name_argument(edit)


def _normalization(edit: BoundCall) -> None:
    advice = "no Keras layer does this"
    refuse_unless(edit, "renorm", (False, None), "batch renormalisation is TF1's own", advice)
    edit.drop("renorm_clipping", "renorm_momentum", "fused")
    for name in ("virtual_batch_size", "adjustment"):
        refuse_unless(edit, name, (None,), f"`{name}` is TF1's own", advice)


def name_argument(edit: BoundCall) -> None:
    """Keras 3 takes no slash in a name, and a name is None by default."""
    value = edit.get("name")
    known = constant(value) if value is not None else None
    if is_none(value) or (isinstance(known, str) and "/" in known):
        edit.drop("name")


REWRITER = LayerRewriter(RULE, CASES, layer, layer_class)
