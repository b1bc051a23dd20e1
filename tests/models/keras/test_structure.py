"""What a Dataset says of its elements: TF2's has no attributes for it."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    step = tf.train.get_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def data():
    x = np.random.RandomState(0).rand(32, 3).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1]))
    dataset = dataset.shuffle(32).repeat(2)
    dataset = dataset.batch(8).prefetch(1)
    print(dataset.output_types)
    return dataset


tf.estimator.Estimator(model_fn).train(data)
"""


@pytest.mark.parametrize("name", ["output_types", "output_shapes", "output_classes"])
def test_a_function_says_it(name: str) -> None:
    after, said = migrated(changed(PROGRAM, ("output_types", name)))
    assert f"print(tf.compat.v1.data.get_{name}(dataset))" in after, said


def test_what_another_object_says_stays_its_own() -> None:
    own = """\
class Reader:
    def __init__(self):
        self.output_types = "x"


def model_fn"""
    after, said = migrated(
        changed(PROGRAM, ("def model_fn", own), ("dataset.output_types", "Reader().output_types"))
    )
    assert "print(Reader().output_types)" in after, said


@pytest.mark.parametrize(
    "dataset", ["made", "(dataset if made else made())", "dataset.apply(made).unbatched()"]
)
def test_what_may_be_no_dataset_stays(dataset: str) -> None:
    text = changed(PROGRAM, ("dataset.output_types", f"{dataset}.output_types"))
    stays(text.replace("def data()", "def data(made=None)"), "`output_types` of a Dataset is TF1")
