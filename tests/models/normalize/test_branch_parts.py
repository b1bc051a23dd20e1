"""Parts of a graph that are built under a condition, and only compute: above it."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import sys

import numpy as np
import tensorflow as tf

show = len(sys.argv) > 1
count = 1


def decoder(z, reuse=False):
    with tf.variable_scope("decoder", reuse=reuse):
        w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
        return tf.matmul(z, w)


x = tf.placeholder(tf.float32, [None, 2])
z_in = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(decoder(x) - 1.0))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

# What is shown
if show:
    grid = np.eye(2)
    decoded = decoder(z_in, reuse=True)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train_op, feed_dict={x: np.ones([4, 2])})
    if show:
        print(sess.run(decoded, feed_dict={z_in: grid}))
"""


def test_it_is_computed_where_it_is_asked_for() -> None:
    after = native(PROGRAM)
    assert "def compute_decoded(z_in):" in after
    assert "# What is shown\nif show:\n    grid = np.eye(2)\n" in after


def test_a_block_of_that_alone_is_left_empty() -> None:
    after = native(
        PROGRAM.replace("    grid = np.eye(2)\n", "").replace("z_in: grid", "z_in: [[1, 2]]")
    )
    assert "if show:\n    pass\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # it makes variables of its own
        ("(z_in, reuse=True)", "(z_in, reuse=tf.AUTO_REUSE)"),
        ("decoder(z_in, reuse=True)", "tf.layers.dense(z_in, 3)"),
        ("decoder(z_in, reuse=True)", "tf.matmul(z_in, tf.Variable(tf.ones([2, 3])))"),
        # it is made of what the block says
        ("(z_in, reuse=True)", "(z_in * grid[0, 0], reuse=True)"),
        ("    grid =", "    count = 2\n    grid ="),
        ("2, 3]", "2, width]"),
        ("        return tf.matmul(z, w)", "        return decoder(tf.matmul(z, w))"),
        # it is asked for where it may not be
        ("    if show:\n        print(", "    if count:\n        print("),
        ("    if show:\n        print(", "    if True:\n        print("),
        # there is another one
        ("\nwith tf.Session", "else:\n    decoded = x\n\nwith tf.Session"),
        # what it calls does more
        ("        return tf.matmul", "        print(reuse)\n        return tf.matmul"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new)
    if "width" in new:
        text = text.replace("count = 1\n", "width = 3\n").replace("grid =", "width = 3\n    grid =")
    if "count = 2" in new:
        text = text.replace("(z_in, reuse=True)", "(z_in * count, reuse=True)")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))
