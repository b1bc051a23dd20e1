"""How many elements a tensor has, where a loop multiplies its dimensions."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2, 3])
h = tf.nn.relu(x)
{loop}
w = tf.get_variable("w", [6, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(tf.reshape(h, [-1, size]), w) - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 2, 3])}})
"""


@pytest.mark.parametrize("shape", ["h.get_shape()[1:].as_list()", "h.get_shape().as_list()[1:]"])
def test_a_product_over_dimensions(shape: str) -> None:
    loop = f"size = 1\nfor d in {shape}:\n    size *= d"
    text = PROGRAM.format(loop=loop)
    assert [one.state for one in run(text, native_sessions=True).programs] == ["native"]
    after, _ = migrated(text, native_sessions=True)
    assert "size = h.get_shape()[1:].num_elements()" in after
    assert "for d in" not in after


OTHERS = {
    "from another number": ("size = 2", "h.get_shape()[1:].as_list()", "size *= d"),
    "a sum": ("size = 1", "h.get_shape()[1:].as_list()", "size += d"),
    "not at once": ("size = 1\nprint(size)", "h.get_shape()[1:].as_list()", "size *= d"),
    "read behind it": ("size = 1", "h.get_shape()[1:].as_list()", "size *= d\nprint(d)"),
    "with more": ("size = 1", "h.get_shape()[1:].as_list()", "size *= d\n    print(1)"),
    "of a tensor": ("size = 1", "tf.shape(h)[1:].as_list()", "size *= d"),
}


@pytest.mark.parametrize("parts", OTHERS.values(), ids=OTHERS)
def test_another_loop_stays(parts: tuple[str, str, str]) -> None:
    begun, shape, product = parts
    loop = f"{begun}\nfor d in {shape}:\n    {product}"
    result = run(PROGRAM.format(loop=loop), native_sessions=True)
    assert not any("num_elements" in (file.after or "") for file in result.files), said(result)
