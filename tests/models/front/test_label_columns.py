"""A loss by operators, of an output that may be a column and labels that may be a list."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import HEAD
from tests.support.migration import migrated

TOLD = "TF1 compares each label with each output here"
PROGRAM = (
    HEAD
    + """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, {units})
    loss = {loss}
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn, steps=10)
"""
)


@pytest.mark.parametrize(
    ("loss", "units", "told"),
    [
        ("tf.nn.l2_loss(outputs - labels)", "1", True),
        ("tf.reduce_mean(tf.squared_difference(labels, outputs))", "1", True),
        ("tf.nn.l2_loss(outputs - labels)", "3", False),
        ("tf.losses.mean_squared_error(labels, outputs)", "1", False),  # it asserts one shape
        ("tf.nn.l2_loss(tf.squeeze(outputs, 1) - labels)", "1", False),  # which is restored
    ],
)
def test_what_broadcasts_is_told(loss: str, units: str, told: bool) -> None:
    after, said = migrated(PROGRAM.format(loss=loss, units=units))
    assert "tf.estimator" not in after, said
    assert any(TOLD in one for one in said) is told, said
