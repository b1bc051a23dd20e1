"""Networks that the object which trains them keeps, and several of one class."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

NET = """\
import numpy as np
import tensorflow as tf


class Net(object):
    def __init__(self, x, units=2):
        self.units = units
        self.h = tf.layers.dense(x, units)
        self.out = tf.reduce_sum(self.h, 1)


"""
TRAINER = """\
class Trainer(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.net = Net(self.x)
        self.loss = tf.reduce_mean(tf.square(self.net.out - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def train(self, x):
        for _ in range(3):
            print(self.sess.run([self.loss, self.train_op], {self.x: x})[0])

    def hidden(self, x):
        return self.sess.run(self.net.h, {self.x: x})


"""
MAIN = """\
trainer = Trainer()
trainer.train(np.ones([3, 2]))
print(trainer.hidden(np.ones([3, 2])))
"""


def test_what_is_read_of_a_kept_network_is_a_step() -> None:
    after = native(NET + TRAINER + MAIN)
    assert "class Net(tf.keras.layers.Layer):\n" in after
    assert "return self.compute_h(x).numpy()" in after and "self.net" not in after


def test_it_is_read_of_the_keeper_too() -> None:
    asked = MAIN + "print(trainer.sess.run(trainer.net.out, {trainer.x: np.ones([3, 2])}))\n"
    after = native(NET + TRAINER + asked)
    assert "print(trainer.compute_out(np.ones([3, 2])).numpy())\n" in after


CHANGES = "(self, x):\n        self.net.h = self.net.out\n        for"
UNKNOWN = "what `Net`, a class of the program, makes in the graph is not understood"
STAYS = {
    "it is handed on": TRAINER + MAIN + "print(vars(trainer.net))\n",
    "another one may be in its place": TRAINER + MAIN + "trainer.net = None\n",
    "what is read changes": TRAINER.replace("(self, x):\n        for", CHANGES) + MAIN,
    "another class inherits": TRAINER + "class Other(Trainer):\n    pass\n\n\n" + MAIN,
    "the keeper has an attribute of the name": TRAINER.replace(
        "        self.sess = tf", "        self.net_h = 3\n        self.sess = tf") + MAIN,
}  # fmt: skip


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str) -> None:
    result = run(NET + text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(
        "makes in the graph is not understood" in one or "the session stays" in one
        for one in said(result)
    ), said(result)


SEVERAL = """\
x = tf.placeholder(tf.float32, [None, 2])
one = Net(x)
with tf.variable_scope("second"):
    other = Net(one.h, units=3)
loss = tf.reduce_mean(tf.square(one.out + other.out - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([train, loss], {x: np.ones([3, 2])})[1])
"""


def test_two_objects_of_a_class_are_two_layers() -> None:
    after = native(NET + SEVERAL)
    assert "Net()\n" in after and "Net(units=3)\n" in after


STAYS_SEVERAL = {
    "a list of them": SEVERAL.replace("other = Net(one.h, units=3)", "other = [Net(one.h)][0]"),
    "one of them in a loop": SEVERAL.replace('with tf.variable_scope("second"):', "for _ in [1]:"),
    "one of them is handed on": SEVERAL.replace("loss =", "print(vars(one))\nloss ="),
}


@pytest.mark.parametrize("text", STAYS_SEVERAL.values(), ids=STAYS_SEVERAL)
def test_several_stay(text: str) -> None:
    result = run(NET + text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(UNKNOWN in message for message in said(result)), said(result)
