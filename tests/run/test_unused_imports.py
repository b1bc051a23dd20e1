"""Imports of what TF2 lost and nothing uses: they keep no Estimator from becoming a Keras model."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, TAIL
from tests.support.migration import migrated

IMPORT = "from tensorflow.contrib import summary\n"
PROGRAM = (
    HEAD.replace("import tensorflow as tf\n", "import tensorflow as tf\n{}")
    + f"""\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1).replace("{", "{{").replace("}", "}}")}

estimator = tf.estimator.Estimator(model_fn)
"""
    + TAIL
)


@pytest.mark.parametrize(
    "line", [IMPORT, "import tensorflow.contrib.slim as slim\n", IMPORT.replace("\n", "  # why\n")]
)
def test_it_goes(line: str) -> None:
    after, said = migrated(PROGRAM.format(line))
    assert "contrib" not in after, said
    assert "tf.keras.layers.Dense(3)" in after


@pytest.mark.parametrize(
    "line",
    [
        IMPORT + "__all__ = ['summary']\n",
        IMPORT + "print(summary)\n",
        "from tensorflow.contrib.framework import *\n",
    ],
)
def test_it_stays(line: str) -> None:
    after, _ = migrated(PROGRAM.format(line))
    assert "tf.keras.layers.Dense(3)" not in after


def test_what_another_module_takes_stays() -> None:
    other = ("other.py", "from program import summary\n")
    after, _ = migrated(PROGRAM.format("import other\n" + IMPORT), other)
    assert "tf.keras.layers.Dense(3)" not in after
    after, said = migrated(PROGRAM.format("import other\n" + IMPORT), ("other.py", "x = 1\n"))
    assert "tf.keras.layers.Dense(3)" in after, said
