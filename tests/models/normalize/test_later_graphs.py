"""Graphs that a script builds one after the other, of which the first has no variables."""

from __future__ import annotations

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

a = tf.placeholder(tf.float32, shape=(2, 2))
b = {made}
with tf.Session() as session:
    print(session.run(b, feed_dict={{a: np.ones([2, 2])}}))

u = tf.Variable(20.0)
cost = u * u + u + 1.0
train_op = tf.train.AdamOptimizer(0.3).minimize(cost)
init = tf.global_variables_initializer()
with tf.Session() as session:
    out = session.run(init)  # nothing
    print(out)
    for i in range(3):
        session.run(train_op)
        print(cost.eval(), u.eval())
"""


def test_the_first_has_no_variables() -> None:
    after = native(PROGRAM.format(made="tf.matmul(a, a)"))
    assert "    out = None  # nothing\n" in after or "out = None" in after


def test_the_first_has_some_without_values() -> None:
    text = PROGRAM.format(made="tf.matmul(a, a) + tf.layers.dense(a, 1)")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
