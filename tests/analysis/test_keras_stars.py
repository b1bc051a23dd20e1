"""`from keras.layers import *` names what Keras has there, and nothing else."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

PROGRAM = """\
import tensorflow as tf
from keras.layers import *
from keras.models import *
import keras.backend as K

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
K.set_session(tf.Session(config=config))

model = Sequential([{layer}])
model.compile("adam", "mse")
model.fit([[1.0]], [[1.0]])
"""


@pytest.mark.parametrize("layer", ["Dense(1, input_shape=(1,))", "Dense(1), Dropout(0.5)"])
def test_a_keras_program_by_stars_is_native(layer: str) -> None:
    """Not a bridge: under v1 behaviour Keras would not train."""
    result = run(PROGRAM.format(layer=layer), bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


@pytest.mark.parametrize("imported", ["*", "CuDNNLSTM"])
def test_a_name_that_keras_has_no_more(imported: str) -> None:
    text = PROGRAM.format(layer="CuDNNLSTM(1)")
    result = run(text.replace("layers import *", f"layers import {imported}"), bridge=True)
    assert [one.state for one in result.programs] == ["refused"], said(result)
    wanted = "`keras.layers.CuDNNLSTM` is not in the Keras of TF2"
    assert any(wanted in one for one in said(result)), said(result)


def test_a_name_that_keras_3_has_again() -> None:
    text = PROGRAM.format(layer="Dense(1)") + "from keras.losses import mean_squared_error\n"
    result = run(text, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


def test_a_module_that_keras_has_no_more() -> None:
    text = PROGRAM.format(layer="Dense(1)").replace("keras.models", "keras.legacy.models")
    result = run("from keras.models import Sequential\n" + text, bridge=True)
    assert [one.state for one in result.programs] == ["refused"], said(result)
    assert any("`keras.legacy.models.*` is not in" in one for one in said(result)), said(result)
