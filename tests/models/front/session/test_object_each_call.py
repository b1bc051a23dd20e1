"""A function that makes an object, with its graph and session, at each of its calls."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

CLASS = """\
import numpy as np
import tensorflow as tf

rows = np.ones([4, 2], np.float32)


class Model:
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, 2])
        with tf.variable_scope("out", reuse=False):
            self.out = tf.layers.dense(self.x, size)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train = tf.train.AdamOptimizer(0.1).minimize(self.loss)


"""
FIT = """\
def fit(size):
    tf.reset_default_graph()
    model = Model(size)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(model.train, {model.x: rows})
    return sess.run(model.out, {model.x: rows})


"""
CALLS = "print([fit(size) for size in (1, 2)])\n"
PROGRAM = CLASS + FIT + CALLS
OWN_GRAPH = """\
def fit(size):
    with tf.Graph().as_default():
        model = Model(size)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(model.train, {model.x: rows})
            return sess.run(model.out, {model.x: rows})


"""


def test_each_call_makes_an_object() -> None:
    after = native(PROGRAM)
    assert (
        "    model = Model(size)\n    for _ in range(3):\n        model.train_step(rows)" in after
    )
    assert "return model.compute_out(rows).numpy()" in after


def test_a_graph_of_its_own_is_one_too() -> None:
    after = native(CLASS + OWN_GRAPH + CALLS)
    assert "    model = Model(size)\n    model.train_step(rows)\n" in after


def test_an_interactive_session_s_growth_is_set_once() -> None:
    after = native(PROGRAM.replace("tf.Session()", "tf.InteractiveSession()"))
    assert after.index("set_memory_growth") < after.index("class Model")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    model = Model(size)\n", "    for _ in range(2):\n        model = Model(size)\n", ""),
        ("print([", "other = Model(3)\nprint([", "more than once"),
        ("    tf.reset_default_graph()\n", "", "more than once"),
        ("    return", "    tf.train.Saver().save(sess, './model')\n    return", ""),
        (
            "    tf.reset_default_graph()\n    model = Model(size)\n",
            "    model = Model(size)\n    tf.reset_default_graph()\n",
            "more than once",
        ),
        (
            "tf.Session()",
            "tf.Session(config=tf.ConfigProto(allow_soft_placement=True))",
            "a configuration is made with each of several graphs",
        ),
        (
            "    sess.run(tf.global_variables_initializer())\n",
            "    for _ in range(2):\n        sess.run(tf.global_variables_initializer())\n",
            "variables are initialized in a loop or a block",
        ),
        (
            "rows = np.ones([4, 2], np.float32)\n",
            "rows = tf.Session().run(tf.ones([4, 2]))\n",
            "",
        ),
    ],
)
def test_stays(old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"]
    assert any(reason in message for message in said(result)), said(result)


def test_growth_is_not_set_behind_what_computes() -> None:
    text = PROGRAM.replace("tf.Session()", "tf.InteractiveSession()")
    text = text.replace("rows = np", "shape = tf.TensorShape([4, 2])\nrows = np")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
