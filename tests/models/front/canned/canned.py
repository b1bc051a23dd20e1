"""Small programs with canned Estimators, and what the tool makes of them."""

from __future__ import annotations

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
