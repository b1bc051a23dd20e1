"""Loops of layers whose first turn takes another tensor than the others."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

sizes = [5, 4, 3]
x = tf.placeholder(tf.float32, [None, 6])
for i, size in enumerate(sizes):
    if i == 0:
        # what is fed
        h = tf.layers.dense(x, size, activation=tf.nn.relu)
    else:
        h = tf.layers.dense(h, size, activation=tf.nn.relu)
y = tf.layers.dense(h, 1)
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 6])})
    print(sess.run(y, {x: np.ones([4, 6])}))
"""
TEST = "if i == 0:"


def test_each_turn_does_what_the_others_do() -> None:
    after = native(PROGRAM)
    assert "h = x\n" in after and "if i" not in after
    ranged = changed(PROGRAM, ("for i, size in enumerate(sizes):", "for i in range(3):"),
                     ("(x, size,", "(x, sizes[i],"), ("(h, size,", "(h, sizes[i],"))  # fmt: skip
    assert "h = x\n" in native(ranged)


@pytest.mark.parametrize(
    "pairs",
    [
        # the first turn does something else
        (("dense(x, size, activation=tf.nn.relu", "dense(x, size, activation=tf.nn.tanh"),),
        (("(x, size, activation=tf.nn.relu)", "(x + 1, size, activation=tf.nn.relu)"),),
        (("dense(x, size, activation=tf.nn.relu)", "dense(x, size)"),),
        # it is not the first
        ((TEST, "if i == 1:"),),
        (("enumerate(sizes)", "enumerate(sizes, 1)"),),
        # the tensor is there before, or asked for above
        (("for i, size", "h = x\nfor i, size"), (TEST, "print(h)\n    if i == 0:")),
        (("    else:\n", "        i = 1\n    else:\n"),),
    ],
)
def test_what_stays(pairs: tuple[tuple[str, str], ...]) -> None:
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
