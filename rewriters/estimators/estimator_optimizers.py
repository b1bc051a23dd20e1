"""Optimizers and learning rate schedules of ``tf.train`` become Keras's.

## What it does
``tf.train.AdamOptimizer(0.01)`` becomes ``tf.keras.optimizers.Adam(0.01, epsilon=1e-8)``:
TF1's value is written out wherever Keras's default is another one. Schedules lose their
``global_step``: Keras's count the optimizer's own steps, from 0 as TF1's do. A rate that is
calculated from the global step becomes a ``LearningRateSchedule`` of the program's own, a class
derived from ``tf.train.Optimizer`` that applies gradients itself one of Keras's.

## Why
TF2 has no ``tf.train.AdamOptimizer``, and Keras's optimizers differ: in Adam's, Adadelta's
and Adagrad's epsilon, in RMSProp's first mean squares, in what a learning rate that changes
does to a momentum.

## Safety
20 steps on the same gradients, the weights equal to 1e-6 (the docs' table names the
measurement). TF1's RMSProp starts its mean squares at one; the small class that is written
for it says so in its epsilon. TF1's momentum sums up gradients and multiplies the sum by the
learning rate of the step; where the rate changes, a class does that. An optimizer that decides
by the names of variables stays where Keras's names have the words that it looks for and TF1's
have not, or the other way round. Proximal optimizers that regularize,
AdagradDA, SyncReplicas and those of ``tf.contrib.opt`` have no equal: their programs stay.

## References
``tf.train``, ``tf.keras.optimizers``, ``tf.keras.optimizers.schedules``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import case
from migrate_mgpu.core.registry import Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter

RULE = Rule(
    code="MGPU404",
    name="estimator-optimizers",
    summary="`tf.train` optimizers and schedules become `tf.keras.optimizers`",
)

CASES = (
    case(
        "RMSProp and a schedule",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(0.1, step, 1000, 0.9, staircase=True)
    train_op = tf.train.RMSPropOptimizer(rate, momentum=0.9).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
class RMSprop(tf.keras.optimizers.RMSprop):
    """RMSprop whose mean squares begin at one, as TF1's do: `rho ** step` of it is left."""

    @property
    def epsilon(self):
        return self._epsilon + self.rho ** tf.cast(self.iterations + 1, tf.float32)

    @epsilon.setter
    def epsilon(self, value):
        self._epsilon = value

    def get_config(self):
        return {**super().get_config(), 'epsilon': self._epsilon}


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.9, staircase=True)
    optimizer = RMSprop(rate, momentum=0.9, epsilon=1e-10)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
    ),
    case(
        "momentum and a schedule",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(step, [100, 200], [0.1, 0.01, 0.001])
    optimizer = tf.train.MomentumOptimizer(learning_rate=rate, momentum=0.9)
    train_op = optimizer.minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
class Momentum(tf.keras.optimizers.SGD):
    """SGD whose momentum sums up gradients, as TF1's; the step's rate multiplies the sum."""

    def __init__(self, learning_rate, **kwargs):
        super().__init__(1.0, **kwargs)
        self.schedule = learning_rate

    def update_step(self, gradient, variable, *args):
        before = tf.identity(variable)
        super().update_step(gradient, variable, *args)
        rate = tf.cast(self.schedule(self.iterations), variable.dtype)
        variable.assign(before + rate * (variable - before))


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([100, 200], [0.1, 0.01, 0.001])
    optimizer = Momentum(learning_rate=rate, momentum=0.9)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
    ),
    case(
        "optimize_loss",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.contrib.layers.optimize_loss(
        loss,
        tf.train.get_global_step(),
        learning_rate=0.1,
        optimizer='Adam',
        clip_gradients=5.0)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(
        learning_rate=0.1, epsilon=1e-8, global_clipnorm=5.0)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
    ),
    case(
        "create_train_op",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.1)
    train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer, clip_gradient_norm=5.0)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8, clipnorm=5.0)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
    ),
    case(
        "no Keras optimizer",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="ProximalAdagradOptimizer",
    ),
)

REWRITER = ModelPartRewriter(RULE, CASES)
