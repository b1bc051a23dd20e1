"""Optimizers whose arithmetic TF2 changed: which calls get a class, what is said of others."""

from __future__ import annotations

import pytest
from support.migration import run

PROGRAM = """\
import tensorflow as tf
{imports}
tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
model.compile({optimizer}, 'mse')
"""
TF = "from tensorflow.keras import optimizers"
KERAS = "from keras import backend, optimizers"


@pytest.mark.parametrize(
    ("imports", "optimizer", "written"),
    [
        (TF, "optimizers.RMSprop(0.1)", "TF1RMSprop(0.1)"),
        (TF, "optimizers.RMSprop(0.1, momentum=0.0)", "TF1RMSprop(0.1, momentum=0.0)"),
        (TF, "'rmsprop'", "TF1RMSprop()"),
        (KERAS, "optimizers.RMSprop()", "TF1RMSprop()"),
        (KERAS, "optimizers.Adagrad(lr=0.5)", "TF1Adagrad(learning_rate=0.5)"),
        # The class has another name where its own is taken.
        ("TF1RMSprop = 1\n" + TF, "optimizers.RMSprop(0.1)", "ClassicRMSprop(0.1)"),
    ],
)
def test_what_gets_a_class(imports: str, optimizer: str, written: str) -> None:
    result = run(PROGRAM.format(imports=imports, optimizer=optimizer), bridge=True)
    after = result.files[0].after or ""
    assert f"model.compile({written}" in after
    assert after.count("class ") == 1
    assert "epsilon" in "".join(f.message for f in result.findings if f.code == "MGPU206")


@pytest.mark.parametrize(
    ("imports", "optimizer", "told"),
    [
        (TF, "optimizers.Adam()", ""),
        (TF, "optimizers.Adagrad()", ""),  # the same in tf.keras
        (TF, "optimizers.RMSprop(0.1, momentum=0.9)", ""),  # epsilon is under the root in both
        (TF, "optimizers.RMSprop(0.1, centered=True)", "epsilon"),
        (TF, "optimizers.RMSprop(0.1, momentum=m)", "epsilon"),
        (TF, "optimizers.RMSprop(**options)", "epsilon"),
        (TF, "optimizers.Nadam()", "momentum follows another schedule"),
        (TF, "'nadam'", "momentum follows another schedule"),
        (TF, "{'a': 'rmsprop'}[kind]", "epsilon"),
    ],
)
def test_what_stays_is_told(imports: str, optimizer: str, told: str) -> None:
    result = run(PROGRAM.format(imports=imports, optimizer=optimizer), bridge=True)
    assert "class " not in (result.files[0].after or "")
    found = [(f.state, f.message) for f in result.findings if f.code == "MGPU206"]
    assert [state for state, _ in found] == (["manual"] if told else [])
    assert not told or told in found[0][1]
