"""Functions that only make a session."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


def make_session():
    \"\"\"Takes what it needs.\"\"\"
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    return tf.Session(config=config)


x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with make_session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(sess.run([loss, train], {x: np.ones([4, 3])})[0])
"""
CLASS = """\
import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) - 1.0))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def make_session(self):
        return tf.Session(config=tf.ConfigProto(allow_soft_placement=True))

    def train(self):
        with self.make_session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(3):
                print(sess.run([self.loss, self.step], {self.x: np.ones([4, 3])})[0])


trainer = Trainer()
trainer.train()
"""


@pytest.mark.parametrize("program", [PROGRAM, CLASS])
def test_it_is_made_where_it_is_called(program: str) -> None:
    after = native(program)
    assert "make_session" not in after
    assert "set_soft_device_placement(True)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Called twice; given something; its config is a name of the caller's, too.
        ("with make_session() as sess", "make_session().close()\nwith make_session() as sess"),
        ("def make_session():", "def make_session(growth=True):"),
        ("x = tf.placeholder", "config = 3\nx = tf.placeholder"),
        # It does more.
        ("    return tf.Session", "    print(config)\n    return tf.Session"),
    ],
)
def test_stays(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new, 1), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
