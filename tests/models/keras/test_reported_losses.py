"""Losses that an EstimatorSpec reports beside the one that is minimized; optimizers of params."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode, params):
    outputs = tf.layers.dense(features, 1, name="outputs")
    loss = tf.losses.mean_squared_error(labels, outputs)
    total = 4.0 * loss
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = params["optimizer"](0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)
    return tf.estimator.EstimatorSpec(mode, loss=total)


def input_fn():
    data = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(4)


estimator = tf.estimator.Estimator(model_fn, params={"optimizer": tf.train.AdagradOptimizer})
estimator.train(input_fn, steps=3)
print(estimator.evaluate(input_fn, steps=1)["loss"])
"""
OTHER = "training reports another value than it minimizes, and than evaluations report"
MINIMIZED = "the value that is minimized is not the loss of the EstimatorSpec"
NO_OPTIMIZER = "its optimizer is not one of tf.train"


def test_the_loss_that_is_minimized_and_the_one_that_is_reported() -> None:
    after, said = migrated(PROGRAM)
    assert "loss = self.batch_loss(labels, outputs)\n        gradients" in after, said
    assert after.count("self.mean_loss.update_state(self.test_loss(labels, outputs))") == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("return tf.estimator.EstimatorSpec(mode, loss=total)\n",
         "return tf.estimator.EstimatorSpec(mode, loss=loss)\n", OTHER),
        ("return tf.estimator.EstimatorSpec(mode, loss=total)\n",
         "total *= 2.0\n    return tf.estimator.EstimatorSpec(mode, loss=total)\n", OTHER),
        ("    return tf.estimator.EstimatorSpec(mode, loss=total)\n", "", OTHER),
        ("minimize(loss, ", "minimize(loss * 2.0, ", MINIMIZED),
        ("return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)",
         "loss = 3.0 * loss\n        "
         "return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)", MINIMIZED),
        ("tf.estimator.Estimator(model_fn,",
         "tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig("
         "train_distribute=tf.distribute.MirroredStrategy()),",
         "evaluation has a different loss than training, on several replicas"),
    ],
)  # fmt: skip
def test_others_stay(old: str, new: str, why: str) -> None:
    assert old in PROGRAM
    stays(PROGRAM.replace(old, new), why)


@pytest.mark.parametrize(
    "made",
    [
        'params["optimizer"](0.1)',
        'params.get("optimizer", tf.train.AdamOptimizer)\n        optimizer = optimizer(0.1)',
    ],
)
def test_a_class_of_params_makes_the_optimizer(made: str) -> None:
    after, said = migrated(PROGRAM.replace('params["optimizer"](0.1)', made))
    assert "optimizer = tf.keras.optimizers.Adagrad(0.1" in after, said
    assert "AdagradOptimizer" not in after and "= model_fn()" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    total = ", '    print(params["optimizer"])\n    total = '),
        ("estimator.train(", 'other = {"optimizer": tf.train.AdamOptimizer}\nestimator.train('),
        ("params={", "params={**{}, "),
        ('params["optimizer"](0.1)',
         'params["optimizer"]\n        rate = 0.1\n        optimizer = optimizer(rate)'),
    ],
)  # fmt: skip
def test_a_class_that_may_be_another_stays(old: str, new: str) -> None:
    assert old in PROGRAM
    stays(PROGRAM.replace(old, new), NO_OPTIMIZER)


def test_mock_by_a_name_of_the_programs() -> None:
    tested = PROGRAM.replace("\n\n\ndef model_fn", "\n\nmock = tf.test.mock\n\n\ndef model_fn", 1)
    after, said = migrated(tested + "print(mock.sentinel.end)\n")
    assert "from unittest import mock\n" in after and "tf.test" not in after, said
    after, _ = migrated(tested.replace("mock = ", "fakes = "))
    assert "from unittest import mock\n" in after and "\nfakes = mock\n" in after
    taken = tested.replace("mock = tf.test.mock", "mock = None\nfakes = tf.test.mock")
    stays(taken, "`tf.test.mock` is TF1 API")
