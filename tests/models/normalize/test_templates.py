"""`tf.make_template`: calls in a scope that shares its variables, and what keeps it."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


def line(x, size):
    w = tf.get_variable('w', [3, size], initializer=tf.zeros_initializer())
    return tf.matmul(x, w)


x = tf.placeholder(tf.float32, [None, 3])
model = tf.make_template('model', line, size=2)
loss = tf.reduce_mean(tf.square(model(x) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(sess.run([loss, train], {x: np.ones([4, 3])}))
"""


def test_calls_share_their_variables() -> None:
    after = native(PROGRAM)
    assert "make_template" not in after
    assert "Line(size=2)" in after


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("size=2)", "size=2, unique_name_='one')"),
        PROGRAM.replace("model(x) - 1.0", "apply(model, x)").replace(
            "x = tf.pl", "def apply(f, x):\n    return f(x) - 1.0\n\n\nx = tf.pl", 1
        ),
        PROGRAM.replace("x = tf.pl", "with tf.variable_scope('model'):\n    pass\nx = tf.pl", 1),
    ],
    ids=["a name of its own", "a function that is given it", "a scope of its name"],
)
def test_stays(program: str) -> None:
    result = run(program, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}
    assert "`tf.make_template`" in " ".join(said(result)) or "`model`" in " ".join(said(result))
