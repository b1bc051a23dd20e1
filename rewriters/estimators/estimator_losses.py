"""``tf.losses`` and the cross-entropies of ``tf.nn`` become Keras losses.

## What it does
``tf.losses.sparse_softmax_cross_entropy(labels, logits)`` becomes
``tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)`` where it is the model's
loss, an expression of TF2 where it is a part of one. One-hot labels that are made in the call
are not made any more.

## Why
TF2 has no ``tf.losses``. A Keras loss object knows how many replicas share a batch and what
Keras makes of the labels on the way; a function does not.

## Safety
Equal for the default weights: ``tf.losses`` means over all elements then, as Keras does. By
``weights`` TF1 divides by the number of those that are not zero, which no Keras loss does: a
small function does it; under several replicas such a loss keeps its program, for an evaluation
would take the mean of parts of a batch. ``log_loss`` is a function, too. Losses that no
Keras loss equals (``cosine_distance``, ``mean_pairwise_squared_error``) keep theirs. Labels
outside of the classes, which ``tf.one_hot`` makes a row of zeros, are an error in the sparse
form.

## References
``tf.losses``, ``tf.nn``, ``tf.keras.losses``
"""

from __future__ import annotations

from migrate_mgpu.api.cases import NUMBERS, case
from migrate_mgpu.core.registry import Rule
from migrate_mgpu.models.front.rewriters import ModelPartRewriter

RULE = Rule(
    code="MGPU403",
    name="estimator-losses",
    summary="`tf.losses` and `tf.nn` cross-entropies become Keras losses",
)

CASES = (
    case(
        "one-hot labels made for the loss",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    onehot = tf.one_hot(tf.cast(labels, tf.int32), depth=10)
    loss = tf.losses.softmax_cross_entropy(onehot_labels=onehot, logits=logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
    ),
    case(
        "a loss that is a sum of two",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    squared = tf.losses.mean_squared_error(labels, outputs)
    absolute = tf.losses.absolute_difference(labels, outputs)
    loss = squared + 0.1 * absolute
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    def loss(labels, outputs):
        squared = tf.reduce_mean(tf.keras.losses.MSE(labels, outputs))
        absolute = tf.reduce_mean(tf.keras.losses.MAE(labels, outputs))
        return tf.reshape(squared + 0.1 * absolute, [1])

    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
""",
        data=NUMBERS,
    ),
    case(
        "a loss weighted by tensors",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    positive = tf.cast(labels > 0, tf.float32)
    loss = tf.losses.mean_squared_error(labels, outputs, weights=positive)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        '''\
def weighted_mean(losses, weights):
    """Weighted losses over the number of those whose weight is not zero."""
    weights = tf.cast(weights, losses.dtype)
    if weights.shape.rank > losses.shape.rank:
        weights = tf.squeeze(weights, axis=-1)
    weights *= tf.ones_like(losses)
    count = tf.math.count_nonzero(weights, dtype=losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses * weights), count)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])

    def loss(labels, outputs):
        positive = tf.cast(labels > 0, tf.float32)
        return tf.reshape(
            weighted_mean(
                tf.math.squared_difference(
                    tf.cast(labels, tf.float32), outputs),
                positive),
            [1])

    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=optimizer, loss=loss)
    return model
''',
        data=NUMBERS,
    ),
    case(
        "a loss that no Keras loss equals",
        """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    loss = tf.losses.mean_pairwise_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
""",
        refused="mean_pairwise_squared_error",
        data=NUMBERS,
    ),
)

REWRITER = ModelPartRewriter(RULE, CASES)
