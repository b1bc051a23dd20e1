"""Objects that build a graph each, one behind the other, in a script."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

data = np.ones([4, 2], np.float32)


class Model:
    def __init__(self, rate):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1)))
        self.step = tf.train.GradientDescentOptimizer(rate).minimize(self.loss)


def show(value):
    print(value)


tf.reset_default_graph()
sess = tf.Session()
model = Model(0.1)
sess.run(tf.global_variables_initializer())
show(sess.run([model.step, model.loss], feed_dict={model.x: data})[1])

tf.reset_default_graph()
sess = tf.Session()
model = Model(0.2)
sess.run(tf.global_variables_initializer())


def again():
    return sess.run([model.step, model.loss], feed_dict={model.x: data})[1]


show(again())
"""


def test_later_objects_get_names_of_their_own() -> None:
    after = native(PROGRAM)
    assert "model = Model(0.1)" in after and "model_2 = Model(0.2)" in after
    assert "return model_2.train_step(data)" in after
    assert "set_memory_growth" not in after


def test_an_interactive_session_grows_the_memory_above_the_class() -> None:
    after = native(PROGRAM.replace("tf.Session", "tf.InteractiveSession"))
    assert after.index("set_memory_growth") < after.index("class Model")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "\ntf.reset_default_graph()\nsess = tf.Session()\nmodel = Model(0.2)",
            "\nsess = tf.Session()\nmodel = Model(0.2)",
        ),  # one graph
        ("model = Model(0.2)\n", "model = Model(0.2)\nprint(sess.run(model.loss))\n"),
        (
            "model = Model(0.2)\nsess.run(tf.global_variables_initializer())\n",
            "model = Model(0.2)\n",
        ),
        ("\nmodel = Model(0.2)\n", "\n"),  # the first one's, whose graph is gone
        (
            "sess = tf.Session()\nmodel = Model(0.2)",
            "sess = tf.Session()\nprint(model)\nmodel = Model(0.2)",
        ),
        ("    print(value)", "    print(value, model)"),  # either of both
        ("\nshow(again())", "\ntf.train.Saver().save(sess, 'model')\nshow(again())"),
        ("tf.reset_default_graph()\n", "tf.reset_default_graph()\ntf.set_random_seed(1)\n"),
        ("\nshow(again())", "\nshow(sess.run(tf.reduce_sum(model.x), {model.x: data}))"),
        ("        self.step", "        print(sess)\n        self.step"),
        ("model = Model(0.2)\n", "model = [Model(0.2)][0]\n"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


def test_each_graph_lists_its_own_variables() -> None:
    text = PROGRAM.replace(
        "        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1)))\n",
        "        w = tf.Variable(tf.ones([2, 1]))\n"
        "        decay = tf.contrib.layers.l2_regularizer(rate)\n"
        "        total = tf.contrib.layers.apply_regularization(decay, tf.trainable_variables())\n"
        "        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w))) + total\n",
    )
    after = native(text)
    assert "tf.multiply(rate, tf.nn.l2_loss(weight)) for weight in [w]" in after
    layers = text.replace("        w =", "        h = tf.layers.dense(self.x, 2)\n        w =")
    listed = text.replace("        decay =", "        tf.get_collection('losses')\n        decay =")
    for other in (layers, listed):
        result = run(other, bridge=True, native_sessions=True)
        assert [one.state for one in result.programs] == ["bridge"]
