"""What Keras does otherwise in TF2 is told where its session goes."""

from __future__ import annotations

import pytest

from tests.support.migration import run

PROGRAM = """\
import tensorflow as tf
from tensorflow.keras import layers

{v1}.keras.backend.set_session({v1}.Session(config={v1}.ConfigProto(allow_soft_placement=True)))
model = tf.keras.Sequential([{layer}, layers.Dense(1)])
model.compile(tf.keras.optimizers.{optimizer}, "mse")
"""


@pytest.mark.parametrize(
    ("layer", "optimizer", "v1", "told"),
    [
        ("layers.LSTM(4)", "Adam()", "tf", ["its gates"]),
        ("layers.GRU(4)", "RMSprop(0.1)", "tf", ["its gates", "its reset gate", "adds epsilon"]),
        ("layers.GRU(4, reset_after=True)", "Adam()", "tf", ["its gates"]),
        ("layers.LSTM(4, recurrent_activation='sigmoid')", "Adam()", "tf", []),
        ("layers.SimpleRNN(4)", "Adam()", "tf", []),
        ("layers.LSTM(4)", "RMSprop()", "tf.compat.v1", []),  # TF2's already
    ],
)
def test_what_changes_by_itself(layer: str, optimizer: str, v1: str, told: list[str]) -> None:
    code = PROGRAM.format(layer=layer, optimizer=optimizer, v1=v1)
    result = run(code, bridge=True)
    assert [program.state for program in result.programs] == ["native"]
    found = [
        one.message for one in result.findings if (one.code, one.state) == ("MGPU202", "manual")
    ]
    assert len(found) == len(told)
    assert all(text in message for text, message in zip(told, found))
