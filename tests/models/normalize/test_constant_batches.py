"""Input functions that spell out their one batch."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import random
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"logits": logits}})
{END.format(rate=0.1)}

def input_fn():
    features = {{"x": [[1.0, -2.0], [3.0, 4.0]]}}
    labels = tf.constant([0, 1])
    return features, labels


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=9)
"""
ASKED = """

def asked():
    return {"x": tf.constant([[1.0, 2.0]])}


rows = estimator.predict(asked)
print(next(rows)["logits"])
"""


def test_a_batch_that_is_spelled_out_is_the_same_in_each_step() -> None:
    found, said = migrated(PROGRAM + ASKED)
    assert "    return tf.data.Dataset.from_tensors((features, labels)).repeat()\n" in found, said
    assert 'from_tensors({"x": tf.constant([[1.0, 2.0]])}).repeat()\n' in found
    assert "    for batch in asked()\n" in found  # TF1 predicts for it without an end


def test_rows_of_python_2() -> None:
    asked = ASKED.replace("next(rows)", "rows.next()")
    assert 'print(next(rows)["logits"])\n' in migrated(PROGRAM + asked)[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[3.0, 4.0]", "[3.0, random.random()]"),
        ("tf.constant([0, 1])", "tf.random_uniform([2], 0, 3, tf.int32)"),
        ("    labels =", "    features['y'] = [[1.0]]\n    labels ="),
        ('{"x"', '{str(4): [[1.0]], "x"'),
    ],
)
def test_batches_that_stay(old: str, new: str) -> None:
    stays(changed(PROGRAM, (old, new)), "the tensors that this input function returns")
