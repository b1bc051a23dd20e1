"""Layers of what is fed as float64, and variables of NumPy's arrays."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

rows = np.ones([3, 2])
x = tf.placeholder(tf.float64, [None, 2])
flat = {flat}
out = tf.layers.dense(flat, 1)
loss = tf.reduce_mean(tf.square(out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {{x: rows}}))
"""
TOLD = "tf.keras.layers.Dense(1, dtype='float64')"


def of(flat: str, **names: str) -> str:
    text = PROGRAM.format(flat=flat)
    for old, new in names.items():
        text = text.replace(old, new)
    return text


def test_a_layer_of_float64_is_told_so() -> None:
    assert TOLD in native(of("tf.nn.relu(x) / 2"))
    assert TOLD in native(of("tf.cast(tf.shape(x), tf.float64) * x"))


def test_a_layer_of_what_is_cast_is_not() -> None:
    assert "tf.keras.layers.Dense(1)\n" in native(of("tf.cast(x, tf.float32)"))
    assert "tf.keras.layers.Dense(1)\n" in native(of("tf.to_float(x) / 2"))


def test_the_type_of_an_array() -> None:
    after = native(of("tf.nn.relu(x)").replace("tf.float64", "rows.dtype"))
    assert "tf.keras.layers.Dense(1, dtype=x_spec.dtype.name)" in after
    after = native(of("x / 255").replace("tf.float64", "rows.dtype"))  # it may be one of bytes
    assert "tf.keras.layers.Dense(1)\n" in after


@pytest.mark.parametrize(
    "flat",
    ["tf.one_hot(tf.argmax(x, 1), 2)", "tf.layers.batch_normalization(x, training=False)"],
)
def test_it_stays(flat: str) -> None:
    result = run(of(flat), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("a layer is given what may be float64" in one for one in said(result)), said(result)


ARRAYS = """\
import numpy as np
import tensorflow as tf

rows = np.ones([3, 2])
values = np.random.randn(2, 2)
{made}
x = tf.placeholder(tf.int32, [None])
w = tf.Variable({value})
loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(w, x)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {{x: [0, 1]}}))
{below}
"""
SINGLE = [
    "values.astype(np.float32)",
    "values.astype('float32').T",
    "np.zeros([2, 2], np.float32)",
    "-np.float32(values)",
    "np.array(values, dtype='float32') + np.ones([2], np.float32)",
]
DOUBLE = [
    "values",
    "values.astype(np.float64)",
    "np.zeros([2, 2])",
    "np.zeros([2], np.float32)[0] * 2.0",
    "values.astype(np.float32) * values",
    "values.astype(kind)",
]


@pytest.mark.parametrize("value", SINGLE)
def test_arrays_of_float32(value: str) -> None:
    native(ARRAYS.format(made="", value=value, below=""))
    native(ARRAYS.format(made=f"first = {value}", value="first", below="first = w"))


@pytest.mark.parametrize("value", DOUBLE)
def test_others(value: str) -> None:
    for made, given in (("kind = float", value), (f"kind = float\nfirst = {value}", "first")):
        result = run(
            ARRAYS.format(made=made, value=given, below=""), bridge=True, native_sessions=True
        )
        assert any("its variables may be float64" in one for one in said(result)), said(result)
