"""Small programs with canned Estimators, and what the tool makes of them."""

from __future__ import annotations

import re

from tests.support.migration import File, migrated, stays

# Replicas are given no columns that are known when the program runs.
REPLICAS = "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"

HEAD = """\
import tensorflow as tf

fc = tf.feature_column


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"b": [1.0], "a": [2]}, [1]))
    return data.repeat().batch(1)


"""


def program(body: str) -> str:
    return HEAD + body


def dense(columns: str, more: str = "") -> str:
    """A dense classifier of columns, trained."""
    return f"est = tf.estimator.DNNClassifier([4], {columns}{more})\nest.train(input_fn, steps=2)\n"


def made_when_run(body: str, reason: str, *others: File) -> None:
    """The model asks columns as the program makes them; under a strategy it stays."""
    after, said = migrated(program(body), *others)
    assert "class FeatureColumns(tf.keras.layers.Layer):" in after, said
    assert " = FeatureColumns(feature_columns)" in after or "WeightedColumns(feature_col" in after
    assert "tf.estimator" not in after
    given, count = re.subn(r"\)(\n *est\.train)", r", config=config)\1", body)
    assert count == 1
    stays(program(REPLICAS + given), reason, *others)
