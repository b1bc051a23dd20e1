"""Parts of a graph that are built when somebody asks for them, and placeholders from outside."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import functools
import numpy as np
import tensorflow as tf


def lazy_property(function):
    attribute = "_cache_" + function.__name__

    @property
    @functools.wraps(function)
    def decorator(self):
        if not hasattr(self, attribute):
            with tf.variable_scope(function.__name__):
                setattr(self, attribute, function(self))
        return getattr(self, attribute)

    return decorator


class Model:
    def __init__(self, data, target):
        self.data = data
        self.target = target
        self.optimize
        self.error

    @lazy_property
    def prediction(self):
        size = int(self.data.get_shape()[1])
        w = tf.Variable(tf.truncated_normal([size, 1]))
        return tf.matmul(self.data, w)

    @lazy_property
    def optimize(self):
        loss = tf.reduce_mean(tf.square(self.prediction - self.target))
        return tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    @lazy_property
    def error(self):
        return tf.reduce_mean(tf.abs(self.prediction - self.target))


x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
model = Model(x, y)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range(3):
    sess.run(model.optimize, {x: np.ones([4, 3]), y: np.ones([4, 1])})
    print(sess.run(model.error, {x: np.ones([4, 3]), y: np.ones([4, 1])}))
"""


def test_the_constructor_builds_what_it_asks_for() -> None:
    after = native(PROGRAM)
    assert "x_spec = tf.TensorSpec([None, 3]" in after or "data_spec = tf.TensorSpec(" in after
    assert "model = Model()\n" in after and "@lazy_property" not in after
    assert "tf.Variable(tf.random.truncated_normal([3, 1]))" in after


STAYS = {
    "it is not asked for before it is run": (
        PROGRAM.replace("        self.error\n", ""),
        "what `Model`, a class of the program, makes in the graph is not understood",
    ),
    "another part would be built before it": (
        PROGRAM.replace("        loss = ", "        v = tf.Variable(1.0)\n        loss = v * "),
        "what `Model`, a class of the program, makes in the graph is not understood",
    ),
    "the decorator does more": (
        PROGRAM.replace(
            "        return getattr", "        print(attribute)\n        return getattr"
        ),
        "what `Model`, a class of the program, makes in the graph is not understood",
    ),
    "two objects": (
        PROGRAM.replace("model = Model(x, y)", "model = Model(x, y)\nother = Model(x, y)"),
        "the session stays",
    ),
    "a placeholder that is read before the object is made": (
        PROGRAM.replace("model = Model(x, y)", "doubled = x * 2.0\nmodel = Model(x, y)").replace(
            "print(sess.run(model.error, ", "print(sess.run([model.error, doubled], "
        ),
        "something other than a named placeholder is fed",
    ),
}


@pytest.mark.parametrize("text, why", STAYS.values(), ids=STAYS)
def test_what_may_be_built_otherwise_stays(text: str, why: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(why in message for message in said(result)), said(result)
