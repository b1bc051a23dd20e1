"""Steps that a method makes for the one object: its constructor makes them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
from types import SimpleNamespace
import sys

import numpy as np
import tensorflow as tf

config = SimpleNamespace(rate=0.1, steps=3)


def read_data(sess, count):
    return np.ones([count, 2], np.float32)


class Model(object):
    def __init__(self, sess, size):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, size])
        self.out = tf.layers.dense(self.x, 1)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.saver = tf.train.Saver()

    def train(self, options):
        data = read_data(self.sess, 4)
        # Goes down.
        optim = tf.train.AdamOptimizer(options.rate).minimize(self.loss)
        try:
            tf.global_variables_initializer().run()
        except:
            tf.initialize_all_variables().run()
        for _ in range(options.steps):
            _, loss = self.sess.run([optim, self.loss], feed_dict={self.x: data})
            print(loss)


with tf.Session() as sess:
    model = Model(sess, 2)
    model.train(config)
"""


def test_the_constructor_makes_the_step() -> None:
    after = native(PROGRAM)
    assert "model = Model(2, options=config)\nmodel.train(config)\n" in after
    assert after.count("# Goes down.") == 1
    assert after.index("Adam(options.rate") < after.index("def train")
    assert "data = read_data(4)" in after and "try:" not in after


def test_a_setting_that_the_constructor_has_is_not_given_again() -> None:
    text = PROGRAM.replace(
        "def __init__(self, sess, size):", "def __init__(self, sess, size, told):"
    )
    after = native(text.replace("Model(sess, 2)", "Model(sess, 2, config)"))
    assert "Model(2, config)" in after and "Adam(told.rate" in after


FLAGS = """\
tf.app.flags.DEFINE_float("rate", 0.1, "")
tf.app.flags.DEFINE_integer("steps", 3, "")
config = tf.app.flags.FLAGS
"""


def test_it_may_be_trained_under_a_condition() -> None:
    text = PROGRAM.replace("config = SimpleNamespace(rate=0.1, steps=3)\n", FLAGS)
    after = native(text.replace("    model.train(", "    if config.steps:\n        model.train("))
    assert "model = Model(2, options=config)\nif config.steps:\n    model.train(config)" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # it is made anew each time
        ("    model.train(config)\n", "    model.train(config)\n    model.train(config)\n"),
        ("    model.train(config)\n", "    for _ in range(2):\n        model.train(config)\n"),
        # the settings may lack it where nothing trains
        ("    model.train(", "    if len(sys.argv) > 1:\n        model.train("),
        # a scope gives what is made there other names
        ("    model.train(", "    with tf.variable_scope('a'):\n        model.train("),
        # the setting is another one until then
        ("    model.train(config)\n", "    config.rate = 0.5\n    model.train(config)\n"),
        ("model.train(config)", "model.train(SimpleNamespace(rate=0.1, steps=3))"),
        ("        # Goes", "        options = SimpleNamespace(rate=1.0, steps=2)\n        # Goes"),
        # a saver has what there is until then
        ("        # Goes", "        self.saver = tf.train.Saver()\n        # Goes"),
        # it may not be made, and a saver asks for it
        (
            "        # Goes",
            "        if options.rate > 1:\n            return\n        # Goes",
        ),
        # a session that the function uses
        ("    return np.ones", "    print(sess)\n    return np.ones"),
        # another initializer, where the first one fails
        ("            tf.initialize_all_variables().run()", "            print('none')"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new)
    if "return\n" in new:
        text = text.replace(
            "            print(loss)\n", "            tf.train.Saver().save(self.sess, 'm')\n"
        )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))
