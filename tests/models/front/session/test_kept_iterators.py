"""Iterators that methods of an object begin anew, and what changes once its graph is built."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

OBJECT = """import numpy as np
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.training = False
        data = tf.data.Dataset.from_tensor_slices(np.ones([12, 3], np.float32)).batch(4)
        other = tf.data.Dataset.from_tensor_slices(np.zeros([8, 3], np.float32)).batch(4)
        iterator = tf.data.Iterator.from_structure(data.output_types, data.output_shapes)
        x = iterator.get_next()
        self.train_init = iterator.make_initializer(data)
        self.test_init = iterator.make_initializer(other)
        w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
        x = tf.layers.dropout(x, 0.5, training=self.training)
        self.loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def epoch(self, sess, writer):
        self.training = True
        sess.run(self.train_init)
        for step in range(3):
            print(sess.run([self.train_op, self.loss])[1])
        sess.run(self.test_init)
        print(sess.run(self.loss))

    def train(self):
        with tf.Session() as sess:
            writer = tf.summary.FileWriter("events")
            sess.run(tf.global_variables_initializer())
            self.epoch(sess, writer)


net = Net()
net.train()
"""


def test_an_object_keeps_what_its_methods_begin() -> None:
    after = native(OBJECT)
    assert "        self.iterator = iterator\n        self.data = data\n" in after
    assert "        self.other = other\n" in after
    assert "        self.iterator = iter(self.data)\n" in after
    assert "        self.iterator = iter(self.other)\n" in after
    assert "self.train_step(self.iterator)" in after
    assert "training=False" in after  # as TF1's graph was built, whatever a method says later


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # the dataset that an iterator began with has no name any more
        (
            "        self.test_init = iterator.make_initializer(other)\n",
            "        data = other\n        self.test_init = iterator.make_initializer(data)\n",
            "`data` is another dataset below, and an iterator begins with this one",
        ),
        # an attribute of that name is something else
        (
            "self.training = True",
            "self.iterator = self.training = True",
            "`iterator`, which a method begins an iterator by, is no attribute of its object",
        ),
        # a method that may change it runs before the graph is built
        (
            "        self.training = False\n",
            "        self.training = False\n        self.choose()\n",
            "`self.training` changes, and the graph was built with one of its values",
        ),
        # one call gives another writer
        (
            "self.epoch(sess, writer)",
            "self.epoch(sess, writer)\\n            self.epoch(sess, None)",
            "what writer `writer` is is not seen",
        ),
    ],
)
def test_what_is_not_seen_stays(old: str, new: str, why: str) -> None:
    text = OBJECT.replace(old, new.replace("\\n", "\n"))
    if "choose" in new:
        method = "    def choose(self):\n        self.training = True\n\n    def epoch"
        text = text.replace("    def epoch", method, 1)
    if "writer" in why:
        shown = 'tf.summary.scalar("loss", self.loss)\n        self.shown = tf.summary.merge_all()'
        text = text.replace("    def epoch", f"        {shown}\n\n    def epoch", 1)
        text = text.replace(
            "print(sess.run([self.train_op, self.loss])[1])",
            "writer.add_summary(sess.run([self.train_op, self.shown])[1], step)",
        )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any(why in one for one in said(result)), said(result)


def test_a_script_begins_with_the_dataset_of_that_line() -> None:
    text = """import numpy as np
import tensorflow as tf

pairs = tf.data.Dataset.from_tensor_slices(np.ones([12, 3], np.float32)).batch(4)
iterator = tf.data.Iterator.from_structure(pairs.output_types, pairs.output_shapes)
x = iterator.get_next()
train_init = iterator.make_initializer(pairs)
pairs = tf.data.Dataset.from_tensor_slices(np.zeros([8, 3], np.float32)).batch(4)
test_init = iterator.make_initializer(pairs)
w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        sess.run(train_init)
        print(sess.run([train_op, loss])[1])
        sess.run(test_init)
        print(sess.run(loss))
"""
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("`pairs` is another dataset below" in one for one in said(result)), said(result)
