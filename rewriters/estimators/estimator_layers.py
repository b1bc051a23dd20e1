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
table names the measurement). What Keras does not have keeps the whole program as it is:
``reuse=True``, renormalization, virtual batches, a ``normalizer_fn``, an
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

from migrate_mgpu.api.cases import IMAGES, NUMBERS, case
from migrate_mgpu.core.registry import Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter

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

REWRITER = ModelPartRewriter(RULE, CASES)
