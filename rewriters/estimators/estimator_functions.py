"""TensorFlow's other functions in a network, a loss or an input function get their TF2 names.

## What it does
``tf.to_float(x)`` becomes ``tf.cast(x, tf.float32)``, ``tf.log`` ``tf.math.log``,
``keep_dims`` ``keepdims``, ``tf.nn.dropout(x, 0.9)`` ``tf.nn.dropout(x, rate=0.1)``; initializers
and regularizers become Keras's, with TF1's defaults.

## Why
Names that are TF1's alone do not exist in TF2; others have other arguments, or the same
arguments in another order.

## Safety
A name is taken over unchanged where it is the same object in both, and renamed where
``tf.compat.v1``'s is the same object under the new name (``migrate_mgpu/data``); everything else is
in the table of this module, or keeps its program as it is: placeholders, summaries, ``tf.where``
whose operands may have several shapes, an assertion whose operation nothing depends on (it never
ran in TF1, in TF2 it does). ``tf.image.resize_images`` becomes a function of the program's own that
calls the operation that TF1 called (TF2's ``tf.image.resize`` samples at half pixels), or stays,
with ``preserve_aspect_ratio``. ``l2_regularizer(s)`` is ``L2(s / 2)``. Initializers draw from the
same distributions, not the same numbers.

## References
``tf.math``, ``tf.nn``, ``tf.random``, ``tf.keras.initializers``, ``tf.keras.regularizers``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import IMAGES, case
from migrate_mgpu.core.registry import Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter

RULE = Rule(
    code="MGPU406",
    name="estimator-functions",
    summary="TF1's functions inside a model become TF2's",
)

CASES = (
    case(
        "names that changed in TF2",
        """\
def model_fn(features, labels, mode):
    net = tf.to_float(features) / 255.0
    net = tf.log(tf.reduce_mean(net, [1, 2], keep_dims=True))
    net = tf.squeeze(net, squeeze_dims=[1, 2])
    normal = tf.truncated_normal_initializer(stddev=0.1)
    logits = tf.layers.dense(net, 10, kernel_initializer=normal)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        normal = tf.keras.initializers.TruncatedNormal(stddev=0.1)
        self.logits = tf.keras.layers.Dense(10, kernel_initializer=normal)

    def call(self, features, training=False):
        net = tf.cast(features, tf.float32) / 255.0
        net = tf.math.log(tf.reduce_mean(net, [1, 2], keepdims=True))
        net = tf.squeeze(net, axis=[1, 2])
        logits = self.logits(net)
        return logits


def model_fn():
    model = Model()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
        data=IMAGES,
    ),
    case(
        "images that TF2 samples elsewhere",
        """\
def model_fn(features, labels, mode):
    images = tf.image.resize_images(features, [14, 14], preserve_aspect_ratio=True)
    logits = tf.layers.dense(tf.layers.flatten(images), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="samples at half pixels",
        data=IMAGES,
    ),
)

REWRITER = ModelPartRewriter(RULE, CASES)
