"""The names that Keras gives inputs and output layers, written out."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf


def get_estimator():
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(4, input_shape=[3]))
    model.add(tf.keras.layers.Dense(2))
    model.compile(loss="mse", optimizer="sgd")
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir="folder")
    return estimator, model.input.name.split(":")[0]


def input_fn():
    points = np.ones([8, 3], np.float32)
    return tf.data.Dataset.from_tensor_slices((points, points[:, :2])).repeat().batch(4)


estimator, name = get_estimator()
estimator.train(input_fn, steps=4)
print(name)
"""
ADDED = "    model.add(tf.keras.layers.Dense(2))\n"
KEPT = "what else is done here with the Keras model cannot be analyzed"
FED = PROGRAM.replace(', model.input.name.split(":")[0]', ', ""').replace(
    "((points, points[:, :2]))", '(({"input_1": points}, points[:, :2]))'
)
UNNAMED = "features by a name that Keras gives an input"
BUILT = """\
    inputs = tf.keras.layers.Input(shape=[3])
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(inputs))
"""
FUNCTIONAL = FED[: FED.index("    model = ")] + BUILT + FED[FED.index("    model.compile") :]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ('model.input.name.split(":")[0]', "dense_input"),
        ("model.input.name", "dense_input:0"),
        ("model.input_names[0]", "dense_input"),
    ],
)
def test_the_name_of_the_input_is_a_text(asked: str, text: str) -> None:
    after, _ = migrated(PROGRAM.replace('model.input.name.split(":")[0]', asked))
    assert f', "{text}"\n' in after
    assert 'model.add(tf.keras.Input(shape=[3], name="dense_input"))\n' in after
    assert 'Dense(2, name="dense_1")' in after


def test_a_layer_that_is_imported_by_its_name() -> None:
    named = PROGRAM.replace("tf.keras.layers.Dense(4", "Dense(4").replace(
        "import tensorflow as tf\n",
        "import tensorflow as tf\nfrom tensorflow.keras.layers import Dense\n",
    )
    after, _ = migrated(named)
    assert 'model.add(tf.keras.Input(shape=[3], name="dense_input"))\n' in after
    assert "model.add(Dense(4))\n" in after


def test_an_input_that_is_fed_by_its_name_gets_it() -> None:
    assert 'tf.keras.layers.Input(shape=[3], name="input_1")' in migrated(FUNCTIONAL)[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("estimator, name = ", "get_estimator()\nestimator, name = "),  # numbered on
        ("def input_fn():", "tf.keras.layers.Dense(3)\n\n\ndef input_fn():"),
        (ADDED, f"    if name:\n    {ADDED}"),
        ("Dense(4, input_shape=[3])", "Dense(4, input_dim=3)"),
        ("model.input.name", "model.output.name"),
        ('model.input.name.split(":")[0]', "model.input"),
    ],
)
def test_names_that_are_not_known_stay(old: str, new: str) -> None:
    program = PROGRAM.replace(old, new)
    assert program != PROGRAM
    stays(program, KEPT)


@pytest.mark.parametrize("more", ["tf.keras.layers.Input(shape=[3])\n", "get_estimator()\n"])
def test_another_input_may_have_the_name_that_features_have(more: str) -> None:
    stays(FUNCTIONAL.replace("estimator, name = ", f"{more}estimator, name = "), UNNAMED)
