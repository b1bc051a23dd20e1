"""Functions that make the session of a graph which their script begins."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import migrated

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])


def train(inputs, steps):
    w = tf.Variable(tf.ones([2, 1]))
    loss = tf.reduce_mean(tf.square(tf.matmul(inputs, w)))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            print(sess.run([loss, step], {inputs: [[1.0, 2.0]]})[0])


train(x, 3)
"""


def test_what_the_function_does_stands_where_the_script_calls_it() -> None:
    after = native(PROGRAM)
    assert "def train(" not in after and "for _ in range(3):\n" in after


@pytest.mark.parametrize(
    "old, new",
    [
        ("train(x, 3)\n", "train(x, 3)\ntrain(x, 3)\n"),  # two graphs
        ("train(x, 3)\n", "for one in (x,):\n    train(one, 3)\n"),
        (
            "            print(",
            "            if steps > 5:\n                return\n            print(",
        ),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    text, said = migrated(PROGRAM.replace(old, new), native_sessions=True)
    assert "steps of a session become functions of TF2" not in said
    assert "tf.Session()" in text
