"""Methods that are given the session: savers that they make, and those that nobody calls."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, weights):
        self.x = tf.placeholder(tf.float32, [None, 3])
        weights = tf.constant(weights, tf.float32)
        self.w = tf.get_variable('w', [3, 1])
        self.answer = tf.reduce_sum(tf.matmul(self.x, self.w) * weights, 1)
        {shown}
        self.loss = tf.reduce_mean(tf.square(self.answer))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def train(self, sess, x):
        return sess.run([self.loss, self.train_op], {{self.x: x}})[0]

    def eval(self, sess, x):
        return sess.run(self.loss, {{self.x: x}})

    def answers(self, {session}, x):
        return {session}.run(self.answer, {{self.x: x}})

    def save(self, sess, path):
        saver = tf.train.Saver({saved})
        saver.save(sess, path)


{beside}
with tf.Session() as sess:
    model = Model([[2.0]])
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(model.train(sess, np.ones([4, 3])), model.w.eval().sum())
    print(model.eval(sess, np.ones([4, 3])))
    model.save(sess, 'model')
"""


def text(shown: str = "", session: str = "sess", saved: str = "", beside: str = "") -> str:
    return PROGRAM.format(shown=shown, session=session, saved=saved, beside=beside)


def native(program: str) -> str:
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    return migrated(program, bridge=True, native_sessions=True)[0]


def test_they_are_methods_of_tf2() -> None:
    after = native(text())
    for line in (
        "def answers(self, x):",
        "def save(self, path):",
        "saver = Saver(self.checkpoint_variables)",
        "        saver.save(path)",
        "print(model.eval(np.ones([4, 3])))",
        "weights_tensor = tf.constant(weights, tf.float32)",
    ):
        assert line in after, after
    assert "sess" not in after


LOOP = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.w = tf.get_variable('w', [3, 1])
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w)))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def train(self, sess, x):
        saver = tf.train.Saver({keeps})
        for step in range(9):
            print(sess.run([self.loss, self.train_op], {{self.x: x}})[0])
            saver.save(sess, 'model', global_step=step)

    def save(self, sess):
        {other}


with tf.Session() as sess:
    model = Model()
    sess.run(tf.global_variables_initializer())
    model.train(sess, np.ones([4, 3]))
    {again}
"""
OTHER = "saver = tf.train.Saver()\n        saver.save(sess, 'other')"


@pytest.mark.parametrize(
    ("keeps", "written"),
    [("", "Saver(self.checkpoint_variables)"),
     ("max_to_keep=2", "Saver(self.checkpoint_variables, max_to_keep=2)")],
)  # fmt: skip
@pytest.mark.parametrize(
    ("other", "again"),
    [("pass", ""), ("pass", "model.train(sess, np.ones([4, 3]))"), (OTHER, "model.save(sess)")],
)
def test_each_saver_of_a_method_deletes_its_own_files(
    keeps: str, written: str, other: str, again: str
) -> None:
    """A new saver knows of no file of the one before: one saver for both would delete some."""
    after = native(LOOP.format(keeps=keeps, other=other, again=again))
    assert f"        saver = {written}\n        for step in range(9):\n" in after, after
    assert after.count("Saver(self.checkpoint_variables") == 1 + (other == OTHER), after


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"saved": "[tf.global_variables()[0]]"}, "what a saver saves cannot"),
        ({"session": "session"}, "`self`, which has parts of the graph, is used in another way"),
        ({"beside": "late = tf.Variable(1.0)"}, "`tf.Variable` is not supported"),
        ({"shown": "print(self.answer, later)"}, "answer`, a part of the graph, is used"),
        ({"shown": "print(np.mean(self.answer))"}, "answer`, a part of the graph, is used"),
    ],
)
def test_what_is_not_understood_keeps_its_program(words: dict[str, str], why: str) -> None:
    result = run(text(**words), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(why in one for one in said(result)), said(result)


@pytest.mark.parametrize(
    "shown",
    [
        "print(self.answer)",
        "print('answer', self.answer.get_shape().as_list())",
        "print('w: {}'.format(self.w))",
    ],
)
def test_what_shows_the_graph_goes(shown: str) -> None:
    after = native(text(shown))
    assert after.count("print(") == 2, after


def test_what_shows_values_of_the_object_stays() -> None:
    after = native(text("print('made')"))
    assert "print('made')" in after


RATE = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.{data}, [None, 3])
rate = tf.placeholder(tf.float64, [])
w = tf.Variable(tf.zeros([3, 1], tf.{data}))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.AdamOptimizer(rate).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(sess.run([loss, train], {{x: np.ones([4, 3]), rate: 0.1}})[0])
"""


def test_a_rate_of_float64_is_rounded_as_tf1_does() -> None:
    after = native(RATE.format(data="float32"))
    assert ".learning_rate.assign(tf.cast(rate, tf.float32))" in after


def test_variables_of_float64_keep_their_program() -> None:
    result = run(RATE.format(data="float64"), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("may be float64" in one for one in said(result)), said(result)


WEIGHTS = """\
import numpy as np
import tensorflow as tf


def weight(size):
    return tf.Variable(np.ones([size, 1], {dtype}), name='w')
"""
TRAIN = """\
import numpy as np
import tensorflow as tf

from weights import weight

x = tf.placeholder(tf.int32, [None, 3])
w = weight(3)
loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(x, w.dtype.base_dtype), w)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(sess.run([loss, train], {x: np.ones([4, 3])})[0])
"""


def test_a_variable_that_another_module_makes_may_be_of_float64() -> None:
    files = (("train.py", TRAIN), ("weights.py", WEIGHTS.format(dtype="np.float64")))
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
