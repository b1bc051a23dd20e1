"""Networks in methods of a class: their layers' objects, their parts, what repeats one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class norm(object):
    def __init__(self, momentum=0.9, name="norm"):
        with tf.variable_scope(name):
            self.momentum = momentum
            self.name = name

    def __call__(self, x, train=True):
        return tf.contrib.layers.batch_norm(x, decay=self.momentum, updates_collections=None,
                                            is_training=train, scope=self.name)


def linear(x, size, name, with_w=False):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [x.get_shape()[-1], size], initializer=tf.ones_initializer())
        if with_w:
            return tf.matmul(x, w), w
        return tf.matmul(x, w)


class Model:
    def __init__(self, sess):
        self.sess = sess
        # what normalizes
        self.bn = norm(name="g_bn")

        self.build()

    def build(self):
        self.z = tf.placeholder(tf.float32, [None, 3])
        self.out = self.generator(self.z)
        self.sampler = self.sampler(self.z)
        self.loss = tf.reduce_mean(tf.square(self.out - 1.0))

    def train(self, data):
        op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        tf.global_variables_initializer().run()
        for _ in range(3):
            _ = self.sess.run([op], feed_dict={self.z: data})
        print(self.sess.run(self.sampler, feed_dict={self.z: data}))

    def generator(self, z):
        with tf.variable_scope("generator") as scope:
            # the first layer
            self.h0, self.h0_w = linear(z, 4, "h0", with_w=True)
            h0 = tf.nn.relu(self.bn(self.h0))
            return tf.nn.tanh(linear(h0, 2, "h1"))

    def sampler(self, z):
        with tf.variable_scope("generator") as scope:
            scope.reuse_variables()
            h0 = tf.nn.relu(self.bn(linear(z, 4, "h0"), train=False))
            h1 = linear(h0, 2, "h1")
            return tf.nn.tanh(h1)


with tf.Session() as sess:
    model = Model(sess)
    model.train(np.ones([4, 3]))
"""


def test_what_repeats_a_network_calls_it_again() -> None:
    after = native(PROGRAM)
    assert "class Generator(" in after and "class Sampler" not in after
    assert "        sampler = generator(z, is_training=False)\n" in after
    assert "h0_w" not in after and "with_w" not in after and "class norm" not in after
    assert "what normalizes" not in after and "# the first layer" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            return tf.nn.tanh(h1)", "            return tf.nn.sigmoid(h1)"),
        ('            h1 = linear(h0, 2, "h1")', '            h1 = linear(h0 * 2.0, 2, "h1")'),
        (
            '            h1 = linear(h0, 2, "h1")',
            '            h1 = linear(h0, 2, "h1")\n            other = linear(h0, 2, "h1")',
        ),
    ],
)
def test_what_is_another_network_stays(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new)
    assert text != PROGRAM
    result = run(text, native_sessions=True, bridge=True)
    assert result.programs[0].state != "native"
    assert any("linear is called in two ways" in one for one in said(result))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("self.name = name", "self.name = name + '_0'", "linear is called in two ways"),
        (
            "        self.build()",
            "        self.build()\n        self.bn.momentum = 0.5",
            "makes in the graph",
        ),
        ("print(self.sess", "print(self.h0_w.name, self.sess", "applies as well"),
    ],
)
def test_what_is_read_elsewhere_stays(old: str, new: str, why: str) -> None:
    text = PROGRAM.replace(old, new)
    assert text != PROGRAM
    result = run(text, native_sessions=True, bridge=True)
    assert result.programs[0].state != "native"
    assert any(why in one for one in said(result)), said(result)


FIXTURE = Path(__file__).parents[3] / "fixtures" / "session" / "dcgan" / "before"
STAYS = {
    "a program that trains and tests": (
        "main.py",
        "        else:\n            dcgan.test()",
        "        dcgan.test()",
        "variables are initialized after something has run",
    ),
    "what is merged anew and read before": (
        "model.py",
        '        """Draws samples with what was trained."""',
        "        print(self.d_sum)",
        "a part of the graph is stored in something other than a variable",
    ),
    "a part that other code reads": (
        "main.py",
        "            dcgan.test()",
        "            print(dcgan.h1_w)",
        "`linear`, which is called here, uses the graph",
    ),
    "an object that other code calls": (
        "main.py",
        "            dcgan.test()",
        "            dcgan.g_bn0(data)",
        "`__init__`, which is called here, uses the graph",
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "why"), STAYS.values(), ids=STAYS)
def test_what_is_not_sure_stays(name: str, old: str, new: str, why: str) -> None:
    files = {one.name: one.read_text() for one in FIXTURE.glob("*.py")}
    assert old in files[name]
    files[name] = files[name].replace(old, new)
    result = run(*files.items(), native_sessions=True, bridge=True)
    assert [one.state.partition(",")[0] for one in result.programs] == ["bridge"]
    assert any(why in one for one in said(result)), said(result)
