"""Networks that are objects, and are called; constants of their classes, and what they train."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

HEAD = """\
import numpy as np
import tensorflow as tf


class G(object):
    WIDTH = 4

    def __init__(self, name, rate=0.5):
        self.name = name
        self.rate = rate
        self.reuse = False

    def __call__(self, z):
        with tf.variable_scope(self.name, reuse=self.reuse):
            out = tf.layers.dense(z, self.WIDTH, name="out") * self.rate
        self.reuse = True
        self.variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self.name)
        return out


"""
LISTED = (
    HEAD.replace("\n        self.reuse = False", "")
    .replace(", reuse=self.reuse", "")
    .replace("        self.reuse = True\n", "")
    .replace(
        "        self.variables = tf.get_collection("
        "tf.GraphKeys.TRAINABLE_VARIABLES, scope=self.name)\n",
        "",
    )
    .replace(
        "        return out\n",
        "        return out\n\n    @property\n    def variables(self):\n"
        "        return [v for v in tf.global_variables() if self.name in v.name]\n",
    )
)
USE = """\
z = tf.placeholder(tf.float32, [None, 2])
net = G("net", 0.25)
one, other = net(z), net(z + 1.0)
loss = tf.reduce_mean(tf.square(one - 1.0) + other)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=net.variables)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([train, loss], {z: np.ones([3, 2])})[1])
"""
ONCE = USE.replace("one, other = net(z), net(z + 1.0)", "one = other = net(z)")


def test_a_called_network_is_a_layer() -> None:
    after = native(HEAD + USE)
    assert 'net = G(name="net", rate=0.25)' in after
    assert "WIDTH = 4\n" in after and "self.WIDTH" not in after
    assert "object" not in after.replace("objects", "") and "variables = net.tr" in after


def test_what_a_property_lists_is_trained() -> None:
    after = native(LISTED + ONCE.replace("one = other = net(z)", "one = net(z)\nother = one"))
    assert "net.trainable_variables" in after and "global_variables" not in after


UNKNOWN = "of an object of `G`, makes in the graph is not understood"
UNTOLD = "which variables are trained cannot be determined"
STAYS = {
    "handed on": (
        HEAD + USE.replace("net(z), net(z + 1.0)", "[f(z) for f in [net, net]]"),
        "not supported",
    ),
    "told by others whether it is made": (
        HEAD + USE.replace("loss =", "net.reuse = False\nloss ="),
        UNKNOWN,
    ),
    "another class has more of it": (
        HEAD + "class H(G):\n    pass\n\n\n" + USE,
        UNKNOWN,
    ),
    "calls itself": (
        HEAD.replace("        return out\n", "        return out\n\n    def f(self, z):\n"
                     "        return self(z)\n") + USE,
        UNKNOWN,
    ),
    "a name begins with its name": (
        HEAD + USE.replace("one, other = net(z), net(z + 1.0)",
                           'more = G("network")\none, other = net(z), more(z)'),
        UNKNOWN,
    ),
    "read before the last call": (
        HEAD + USE.replace(", net(z + 1.0)", ", 0.0").replace(
            "with tf.S", "again = net(z)\nwith tf.S"),
        UNKNOWN,
    ),
    "a constant that is changed": (
        HEAD + "G.WIDTH = 8\n" + USE,
        UNKNOWN,
    ),
    "what is not trained has a gradient": (
        LISTED.replace("* self.rate", "* tf.get_variable('by', [], trainable=False)")
        + ONCE.replace("one = other = net(z)", "one = net(z)\nother = one"),
        UNTOLD,
    ),
    "averages have a gradient": (
        LISTED.replace(
            "        return out\n\n",
            "        out = tf.layers.batch_normalization(out)\n        return out\n\n",
        )
        + ONCE.replace("one = other = net(z)", "one = net(z)\nother = one"),
        UNTOLD,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, why", STAYS.values(), ids=STAYS)
def test_stays(text: str, why: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(why in message for message in said(result)), said(result)
