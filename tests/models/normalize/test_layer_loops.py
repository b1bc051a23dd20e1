"""Loops of a constructor that make variables, or put what they compute in a list."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, sizes):
        self.sizes = sizes
        self.x = tf.placeholder(tf.float32, [None, 2])
        found = []
        for i, size in enumerate(self.sizes):
            with tf.variable_scope("layer_%d" % i):
                w = tf.get_variable("w", [2, size], initializer=tf.ones_initializer())
                found.append(tf.matmul(self.x, w))
        self.out = tf.concat(found, 1)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


class Trainer(object):
    def __init__(self):
        self.model = Model([1, 2])
        self._sess = tf.Session()
        self._sess.run(tf.global_variables_initializer())

    def step(self):
        feed = {self.model.x: np.ones([3, 2])}
        return self._sess.run([self.model.train_op, self.model.loss], feed)[1]

    def close(self):
        self._sess.close()


trainer = Trainer()
print(trainer.step())
trainer.close()
"""


def test_the_list_begins_in_the_function() -> None:
    after = native(PROGRAM)
    assert "        dense_layers = DenseLayers(self.sizes)\n" in after
    assert "        found = []\n        for (i, size), w_layer in zip(" in after
    assert "found = []" not in after[after.index("class Model") :]


def test_what_closes_the_session_has_nothing_left() -> None:
    after = native(PROGRAM)
    assert "    def close(self):\n        pass\n" in after and "trainer.close()\n" in after
    assert "_sess" not in after


def test_what_an_object_keeps_is_read_of_it() -> None:
    more = """\
feed = {trainer.model.x: np.ones([1, 2])}
print(trainer._sess.run(trainer.model.out, feed))
"""
    after = native(PROGRAM.removesuffix("trainer.close()\n") + more)
    assert "print(trainer.model.compute_out(**feed).numpy())\n" in after


LOOP = "                found.append(tf.matmul(self.x, w))\n"
STAYS = {
    "the list has something before": ("found = []", "found = [tf.identity(self.x)]"),
    "the loop calls a method": ("[2, size]", "[2, self.width(size)]"),
    "the loop gives the object something": (LOOP, LOOP + "                self.last = w\n"),
    "the loop may end": (LOOP, LOOP + "            if i:\n                break\n"),
}


@pytest.mark.parametrize("case", STAYS)
def test_a_loop_stays(case: str) -> None:
    text = PROGRAM.replace(*STAYS[case])
    if "self.width" in text:
        text = text.replace("\n\nclass Trainer", "\n    def width(self, size):\n"
                            "        return size\n\n\nclass Trainer")  # fmt: skip
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one for one in said(result))
