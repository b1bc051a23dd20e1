"""Keras's learning phase, set by the mode of a model_fn."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, HEAD, TAIL
from tests.support.migration import migrated, stays

K = "from tensorflow.keras import backend as K\n"
TRAIN = "mode == tf.estimator.ModeKeys.TRAIN"
ARMS = f"""\
    if {TRAIN}:
        K.set_learning_phase(1)
    else:
        K.set_learning_phase(0)
"""
NET = """\
    net = tf.keras.layers.Dense(8)(features) * 2.0
    net = tf.keras.layers.Dropout(0.4)(net)
"""
OTHER = "def other(net):\n    return tf.keras.layers.Dropout(0.5)(net)\n\n\n"


def program(lines: str, above: str = "") -> str:
    model_fn = (
        f"def model_fn(features, labels, mode):\n{lines}    logits = tf.layers.dense(net, 3)\n"
    )
    made = "\n\nestimator = tf.estimator.Estimator(model_fn)\n"
    head = HEAD.replace("import tensorflow", K + "import tensorflow")
    return head + above + model_fn + END.format(rate=0.1) + made + TAIL


@pytest.mark.parametrize(
    "lines",
    [
        ARMS,
        ARMS.replace(" == ", " != ")
        .replace("(1)", "(2)")
        .replace("(0)", "(1)")
        .replace("(2)", "(0)"),
        f"    K.set_learning_phase({TRAIN})\n",
        f"    training = {TRAIN}\n    K.set_learning_phase(training)\n",
    ],
)
def test_layers_are_told(lines: str) -> None:
    after, said = migrated(program(lines + NET))
    assert "(net, training=training)" in after, said
    assert "set_learning_phase" not in after
    assert "import backend" not in after


@pytest.mark.parametrize(
    ("lines", "above"),
    [
        (ARMS.replace("(0)", "(1)") + NET, ""),  # in every mode
        ("    K.set_learning_phase(1)\n" + NET, ""),
        (f"    if {TRAIN}:\n        K.set_learning_phase(1)\n" + NET, ""),
        (ARMS.replace("TRAIN", "EVAL") + NET, ""),
        (NET + ARMS, ""),  # behind the layer
        (ARMS + NET.replace("Dropout(0.4)", "BatchNormalization()"), ""),
        (ARMS + NET + "    net = other(net)\n", OTHER),
        (ARMS + ARMS + NET, ""),
        (ARMS + NET, "K.set_learning_phase(1)\n\n\n"),
    ],
)
def test_it_stays(lines: str, above: str) -> None:
    stays(program(lines, above), "set_learning_phase")


def test_the_phase_of_the_default_graph_is_no_estimators() -> None:
    after, said = migrated(program(NET, "K.set_learning_phase(1)\n\n\n"))
    assert "set_learning_phase" not in after, said
    assert "training=False" in after


@pytest.mark.parametrize(
    "above",
    [
        "def set_phase():\n    K.set_learning_phase(1)\n\n\nset_phase()\n\n\n",
        # Of a Keras model that the program trains besides.
        "net = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nK.set_learning_phase(1)\n\n\n",
    ],
)
def test_other_phases_stay(above: str) -> None:
    stays(program(NET, above), "`tf.keras.backend.set_learning_phase` is TF1 API")
