"""What is said of a class that builds a part of the graph, and stays."""

from __future__ import annotations

import pytest

from migrate_mgpu.models.normalize.objects.class_obstacles import CLASS_STAYS
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Base(object):
    def __init__(self):
        self.w = tf.Variable(tf.ones([2, 1]))

    def nothing(self):
        return tf.constant(1.0)


class Net(object):
    def __init__(self, x, size=1):
        self.w = tf.Variable(tf.ones([2, size]))
        self.out = tf.matmul(x, self.w)

    def saver(self):
        return tf.train.Saver({"w": self.w})


x = tf.placeholder(tf.float32, [None, 2])
net = Net(x)
loss = tf.reduce_mean(tf.square(net.out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: np.ones([3, 2])}))
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("net = Net(x)", "net = Net(x)\nnets = [net]", "    def saver(self):"),
        ("class Net(object)", "class Net(Base)", "    def nothing(self):"),
        ("size=1):\n", "size=1):\n        if size > 2:\n            return\n", "return"),
        ("net = Net(x)", "net = Net(x)\nother = Net(x, 2)", "other = Net(x, 2)"),
    ],
)  # fmt: skip
def test_the_statement_is_named(old: str, new: str, line: str) -> None:
    text = PROGRAM.replace(old, new, 1)
    result = run(("train.py", text), bridge=True, native_sessions=True)
    (found,) = [one for one in result.findings if one.code == "MGPU205"]
    assert found.key == CLASS_STAYS, said(result)
    assert line in text.splitlines()[found.line - 1], said(result)
