"""Methods that build more right behind what makes the one object: its constructor calls them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
from types import SimpleNamespace

import numpy as np
import tensorflow as tf

data = SimpleNamespace()
data.train = np.ones([4, 2], np.float32)


class Model(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])

    def build(self, width):
        self.out = tf.layers.dense(self.x, width)

    def losses(self):
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def train(self):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                _, loss = sess.run([self.train_op, self.loss], feed_dict={self.x: data.train})
                print(loss)


model = Model(2)
# The network.
model.build(3)
model.losses()

model.train()
"""


def test_the_constructor_builds_all() -> None:
    after = native(PROGRAM)
    assert "def build" not in after and "def losses" not in after
    assert after.endswith("model = Model(2)\n\nmodel.train()\n")
    assert after.count("# The network.") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model.build(3)\n", "print('built')\nmodel.build(3)\n"),  # not right behind it
        ("model.build(3)\n", "model.build(len(data.train))\n"),  # given what may not be known there
        ("tf.layers.dense(self.x, width)", "tf.layers.dense(model.x, width)"),  # by its own name
        ("model = Model(2)\n", "model = Model(2)\nother = Model(3)\n"),  # several objects
        ("model.losses()\n", "model.losses()\nmodel.build(4)\n"),  # again
    ],
)
def test_others_stay_methods(old: str, new: str) -> None:
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_a_method_may_give_its_object_something_by_its_own_name() -> None:
    """`self.loss = ...`, in `loss`: from then on it is that."""
    text = PROGRAM.replace("def losses(", "def loss(").replace("model.losses()", "model.loss()")
    after = native(text)
    assert "def loss(" not in after and "loss = tf.reduce_mean" in after
    for again in ("model.loss()\nmodel.loss()\n", "print(model.loss(1))\nmodel.loss()\n"):
        result = run(text.replace("model.loss()\n", again), bridge=True, native_sessions=True)
        assert [one.state for one in result.programs] == ["bridge"]


def test_what_a_module_of_the_run_makes_may_be_the_object() -> None:
    """`held.train` may be a method of the class's: then it is called twice."""
    main = PROGRAM.replace("data = SimpleNamespace()", "from held import give\ndata = give(1)")
    main = main.replace("data.train = np.ones([4, 2], np.float32)\n", "")
    held = ("held.py", "import tensorflow as tf\n\n\ndef give(one):\n    return tf.flags\n")
    result = run(("main.py", main), held, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
