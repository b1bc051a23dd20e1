"""Layers that are trained where the mode is training: trained ones."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, whole
from tests.support.migration import migrated, stays

PROGRAM = f"""\
def network(features, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    return tf.layers.dense(features, 4, trainable=training)


def model_fn(features, labels, mode):
    net = network(features, mode)
    trained = mode == tf.estimator.ModeKeys.TRAIN
    logits = tf.layers.dense(net, 3, trainable=trained)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn)
"""
DEPENDS = "depends on the tensor"


def test_the_argument_goes() -> None:
    after, messages = migrated(whole(PROGRAM))
    assert "tf.keras.layers.Dense(4)" in after, messages
    assert "trainable" not in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mode == tf.estimator.ModeKeys.TRAIN", "mode != tf.estimator.ModeKeys.TRAIN"),
        ("(features, mode)\n    trained", "(network(features, mode), mode)\n    trained"),
        ("    loss = ", "    tf.trainable_variables()\n    loss = "),
    ],
)
def test_layers_that_stay(old: str, new: str) -> None:
    stays(whole(PROGRAM.replace(old, new)), DEPENDS)
