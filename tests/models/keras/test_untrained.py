"""Estimators that nothing trains: they predict and evaluate with a checkpoint's values."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, stays

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features, 4, name="hidden")
    logits = tf.layers.dense(hidden, 2, name="logits")
    tf.train.init_from_checkpoint("model.ckpt", {"/": "/"})
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"logits": logits}
        for index in range(2):
            predictions["logit_%d" % index] = logits[:, index]
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    raise ValueError("only PREDICT")


def input_fn():
    return tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]]).batch(2)


estimator = tf.estimator.Estimator(model_fn)
for row in estimator.predict(input_fn):
    print(row["logits"], row["logit_0"])
"""
FILLED = '            predictions["logit_%d" % index] = logits[:, index]\n'
FOLDER = ("Estimator(model_fn)", 'Estimator(model_fn, model_dir="model")')
BEGINS = ('    tf.train.init_from_checkpoint("model.ckpt", {"/": "/"})\n', "")


def test_nothing_is_made_that_only_trains() -> None:
    after, said = migrated(PROGRAM)
    assert "estimator.init_from_tf1()\n" in after, said
    for word in ("optimizer", "compile", "train_step", "manager", "iterations"):
        assert word not in after


def test_its_folder_is_restored() -> None:
    after, said = migrated(changed(PROGRAM, FOLDER, BEGINS))
    assert 'tf.train.CheckpointManager(checkpoint, "model", max_to_keep=5)' in after, said
    assert "optimizer" not in after and "manager.save" not in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (
            [("for row", "estimator.train(input_fn, steps=1)\nfor row")],
            "no EstimatorSpec is returned for training",
        ),
        (
            [FOLDER, ("for row", 'print(estimator.get_variable_value("global_step"))\nfor row')],
            "the step of a model that nothing trains",
        ),
        ([BEGINS, ("    if mode ==", "    if mode !=")], "no EstimatorSpec is returned in any"),
        # Dictionaries whose items are not set one by one.
        ([(FILLED, "            predictions.pop(index)\n")], "not a dictionary literal"),
        ([(FILLED, FILLED + "            hidden *= 2\n")], "not a dictionary literal"),
        (
            [(FILLED, FILLED.replace("= l", "= predictions['logits'][0] + l"))],
            "not a dictionary literal",
        ),
    ],
)
def test_a_program_stays(pairs: list[tuple[str, str]], why: str) -> None:
    stays(changed(PROGRAM, *pairs), why)


SHARED = """\
import tensorflow as tf


def network(inputs, is_training):
    return tf.layers.dense(tf.layers.dropout(inputs, 0.5, training=is_training), 2)
"""
TRAINED = """\
import tensorflow as tf
from shared import network


def model_fn(features, labels, mode):
    logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.reduce_mean(logits)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: tf.data.Dataset.from_tensors([[1.0]]), steps=1)
"""
ASKED = """\
import tensorflow as tf
from shared import network


def model_fn(features, labels, mode):
    logits = network(features, is_training=IT)
    return tf.estimator.EstimatorSpec(mode, predictions={"y": logits})


estimator = tf.estimator.Estimator(model_fn)
for row in estimator.predict(lambda: tf.data.Dataset.from_tensors([[1.0]])):
    print(row)
"""


def test_a_function_that_trains_in_one_program_alone() -> None:
    others = (("train.py", TRAINED), ("shared.py", SHARED))
    after, said = migrated(ASKED.replace("IT", "False"), *others)
    assert after.count("self.logits = Network()\n") == 2, said
    assert "self.logits(features)\n" in after
    assert "self.logits(features, training=training)\n" in after


def test_a_function_that_never_trains() -> None:
    """Where no other program says whether it trains, it is told so once."""
    after, said = migrated(ASKED.replace("IT", "False"), ("shared.py", SHARED))
    assert "Network(is_training=False)" in after, said


def test_a_function_that_always_trains() -> None:
    others = (("train.py", TRAINED), ("shared.py", SHARED))
    after, said = migrated(ASKED.replace("IT", "True"), *others)
    assert "Network(is_training=True)" in after, said
