"""Which state a program ends in."""

from __future__ import annotations

import pytest

from migrate_mgpu.run.migrate import migrate

KERAS = """\
import tensorflow as tf
from tensorflow import keras
{asks}
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
{uses}
model.fit([[1.0]], [[1.0]])
"""
PLACEHOLDER = "x = tf.compat.v1.placeholder(tf.float32, [None, 1])"


@pytest.mark.parametrize(
    "asks",
    ["print(tf.__version__)", "assert tf.__version__", "tf.executing_eagerly()", "import os"],
)
def test_a_version_that_is_only_shown_decides_nothing(asks: str) -> None:
    """A placeholder raises in eager code, whatever version was printed before."""
    text = KERAS.format(asks=asks, uses=PLACEHOLDER)
    found = migrate([("train.py", text.encode())], bridge=True, write=False)
    (program,) = found.programs
    assert program.state == "refused"
    assert "`tf.compat.v1.placeholder` is TF1's" in program.reasons[0]
    assert not any(file.changed for file in found.files)


@pytest.mark.parametrize(
    ("asks", "uses"),
    [
        ("TF2 = tf.__version__.startswith('2')", f"if not TF2:\n    {PLACEHOLDER}"),
        ("", f"if not tf.executing_eagerly():\n    {PLACEHOLDER}"),
    ],
)
def test_a_version_switch_knows_when_to_use_tf1(asks: str, uses: str) -> None:
    text = KERAS.format(asks=asks, uses=uses)
    found = migrate([("train.py", text.encode())], bridge=True, write=False)
    assert [program.state for program in found.programs] == ["native"]
