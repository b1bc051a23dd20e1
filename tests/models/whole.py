"""A small Estimator program, without what drives it."""

from __future__ import annotations

from tests.support.migration import migrated

HEAD = """\
import os

import numpy as np
import tensorflow as tf

X = np.ones([8, 2], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).repeat().batch(4)


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, 1)
    predictions = {"outputs": outputs}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


"""


def converted(body: str) -> str:
    """What became of a program's part behind its functions."""
    after, messages = migrated(HEAD + body)
    assert "return model\n\n\n" in after, messages
    return after.partition("return model\n\n\n")[2]
