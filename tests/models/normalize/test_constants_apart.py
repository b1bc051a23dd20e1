"""Numbers that become parts of the graph by their own names."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

width = -0.5


def kernel(x):
    return tf.exp(width * tf.square(x))


x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2]))
width = tf.constant(width)
loss = tf.reduce_mean(kernel(x) * w)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: np.ones([2, 2])})[0])
"""
ABOVE = "x = tf.placeholder"


def test_the_number_gets_a_name_of_its_own() -> None:
    after = native(changed(PROGRAM, (ABOVE, f"print(width)\n{ABOVE}")))
    assert "width_value = -0.5\n" in after and "print(width_value)\n" in after
    assert "width = tf.constant(width_value)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # a function reads the number
        (ABOVE, f"print(kernel(np.ones([1, 2])))\n{ABOVE}"),
        (ABOVE, f"def shown():\n    return kernel(tf.zeros([1]))\n\n\nknown = shown()\n{ABOVE}"),
        # it may not be one
        (
            "\nwidth = tf.constant(width)\n",
            "\nif np.random.rand() > 0.5:\n    width = tf.constant(width)\n",
        ),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
