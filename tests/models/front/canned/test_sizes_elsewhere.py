"""Numbers that a canned Estimator is given out of files that have nothing to do with TensorFlow."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf
from data import kinds, shape

column = tf.feature_column.numeric_column("x", shape=shape)


def train_input():
    x, y = np.ones([8, 4], np.float32), np.ones([8], np.int32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(4).repeat()


model = tf.estimator.DNNClassifier(feature_columns=[column], hidden_units=[3], n_classes=kinds)
model.train(train_input, steps=9)
"""
DATA = "import os\n\nshape = [2, 2]\nkinds = 3\n\n\ndef load():\n    return os.listdir('.')\n"


def test_the_number_of_classes_of_another_file() -> None:
    found, said = migrated(PROGRAM, ("data.py", DATA))
    assert "SparseCategoricalCrossentropy" in found, said
    # A batch may not tell how many numbers it has: `tf.decode_raw` does not.
    given = (
        'tf.reshape(tf.cast(features["x"], tf.float32), [-1, tf.TensorShape(shape).num_elements()])'
    )
    assert given.replace(" ", "") in found.replace(" ", "").replace("\n", "").replace(",)", ")")


@pytest.mark.parametrize(
    "data",
    [
        DATA.replace("kinds = 3", "kinds = len(os.listdir('.'))"),
        DATA + "\n\nif os.environ.get('MORE'):\n    kinds = 4\n",
        DATA.replace("kinds = 3", "if os.environ.get('MORE'):\n    kinds = 4"),
        DATA.replace("kinds = 3", "kinds: int"),
    ],
    ids=["computed", "changed", "under a condition", "no value"],
)
def test_a_number_that_is_not_known_keeps_it(data: str) -> None:
    stays(PROGRAM, "how many classes there are cannot be determined", ("data.py", data))


def test_a_number_of_a_package_keeps_it() -> None:
    """What its `__init__` does is not read."""
    text = PROGRAM.replace("from data import", "from pack.data import")
    others = ("pack/__init__.py", "VERSION = 1\n"), ("pack/data.py", DATA)
    stays(text, "how many classes there are cannot be determined", *others)
