"""Functions that return the variables that they have made beside what these compute."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self):
        self.sess = tf.Session()
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.out, params = self._build('new')
        old, old_params = self._build('old', trainable=False)
        self.copy = [o.assign(n) for o, n in zip(old_params, params)]
        self.loss = tf.reduce_mean(tf.square(self.out - self.y) + old)
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
        self.sess.run(tf.global_variables_initializer())

    def _build(self, name, units=8, trainable=True):
        with tf.variable_scope(name):
            hidden = tf.layers.dense(self.x, units, tf.nn.relu, trainable=trainable)
            out = tf.layers.dense(hidden, 1, trainable=trainable)
        params = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope=name)
        return out, params

    def learn(self, x, y):
        self.sess.run(self.copy)
        return self.sess.run([self.train_op, self.loss], {self.x: x, self.y: y})[1]


agent = Agent()
print(agent.learn(np.ones([2, 3]), np.ones([2, 1])))
"""


def test_who_calls_asks_for_the_variables() -> None:
    after = native(PROGRAM)
    assert "            params = [*build.variables]\n" in after
    assert "get_collection" not in after


def test_distributions_become_a_class_of_the_program() -> None:
    after = native(DISTRIBUTION)
    assert "class Normal(tf.experimental.ExtensionType):" in after
    assert "tf.squeeze(choice.sample(1), axis=0)" in after


DISTRIBUTION = (
    PROGRAM.replace("            out = tf.layers", "            mean = tf.layers")
    .replace(
        "        params = tf",
        "        out = tf.distributions.Normal(mean, 1.0)\n        params = tf",
    )
    .replace("        self.out, params =", "        choice, params =")
    .replace(
        "        self.loss =",
        "        self.out = tf.squeeze(choice.sample(1), axis=0)\n        self.loss =",
    )
    .replace(" + old)", " - old.log_prob(self.y))")
)
STAYS = {
    "variables of a scope that is computed": PROGRAM.replace("scope=name)", "scope=name.lower())"),
    "variables that are asked for before all are made": PROGRAM.replace(
        "        return out, params",
        "        out = tf.layers.dense(out, 1)\n        return out, params",
    ),
    "variables that the function uses itself": PROGRAM.replace(
        "        return out, params",
        "        out += tf.nn.l2_loss(params[0])\n        return out, params",
    ),
    "draws with a seed of their own": DISTRIBUTION.replace("sample(1)", "sample(1, seed=3)"),
    "what else a distribution computes": DISTRIBUTION.replace(".log_prob(", ".cdf("),
    "a distribution that is checked": DISTRIBUTION.replace("mean, 1.0)", "mean, 1.0, True)"),
}


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))
