"""Datasets of placeholders, which the run that begins their iterator is fed."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

X = np.ones([8, 2], np.float32)
x = tf.placeholder(tf.float32, [None, 2])
data = tf.data.Dataset.from_tensor_slices(x).batch(3)
iterator = data.make_initializable_iterator()
rows = iterator.get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(rows, 1)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for epoch in range(2):
    sess.run(iterator.initializer, {x: X})
    while True:
        try:
            sess.run(train)
        except tf.errors.OutOfRangeError:
            break
"""


def in_function(text: str) -> str:
    head, body = text.split("\n\n", 1)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{head}\n\n\ndef main():\n{lines}\n\nmain()\n"


@pytest.mark.parametrize("text", [PROGRAM, in_function(PROGRAM)], ids=["script", "function"])
def test_each_epoch_begins_with_the_same(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = str(result.files[0].after)
    assert "from_tensor_slices(tf.cast(X, tf.float32)).batch(3)\n" in after
    assert "    iterator = iter(data)\n" in after and "placeholder" not in after


BEGINS = "    sess.run(iterator.initializer, {x: X})\n"
STAYS = {
    "other values in each epoch": changed(PROGRAM, (BEGINS, f"    X = X + epoch\n{BEGINS}")),
    "values that change in place": changed(PROGRAM, (BEGINS, f"    X += epoch\n{BEGINS}")),
    "values that are made later": changed(
        PROGRAM,
        ("X = np.ones([8, 2], np.float32)\n", ""),
        ("sess = tf", "X = np.ones([8, 2], np.float32)\nsess = tf"),
    ),
    "a part of the values": changed(PROGRAM, ("{x: X}", "{x: X[epoch:]}")),
    "other values behind it": PROGRAM + "sess.run(iterator.initializer, {x: X + 1.0})\n",
    "a placeholder that is used as well": changed(
        PROGRAM, ("loss = ", "size = tf.shape(x)\nloss = ")
    ),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_may_be_something_else_stays(text: str) -> None:
    for one in (text, in_function(text)):
        result = run(one, native_sessions=True, bridge=True)
        assert [one.state for one in result.programs] == ["bridge"], said(result)
        assert any("a dataset is made of `x`" in message for message in said(result))
