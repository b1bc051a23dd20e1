"""Whole programs through the tool: converted in all parts, or left with the reason."""

from __future__ import annotations

from migrate_mgpu.engine.run import migrate

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


def migrated(text: str) -> tuple[str, list[str]]:
    """What the tool makes of a program, and what it says."""
    result = migrate([("train.py", text.encode())], bridge=False, write=False)
    (file,) = result.files
    assert file.error is None, file.error
    return file.after or text, [finding.message for finding in result.findings]


def stays(text: str, reason: str) -> None:
    """A program is left as it is, and the reason is said."""
    after, messages = migrated(text)
    assert any(reason in message for message in messages), messages
    assert after == text


def test_a_model_that_only_predicts() -> None:
    text = HEAD.replace("loss=loss, train_op=train_op", "predictions=predictions")
    text += "for row in tf.estimator.Estimator(model_fn).predict(input_fn):\n    print(row)\n"
    stays(text, "the EstimatorSpec has no loss")
