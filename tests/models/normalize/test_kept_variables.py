"""Variables of an object's graph that other code asks for."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        out = tf.layers.dense(self.x, 1)
        self.cost = tf.reduce_mean(tf.square(out))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.cost)


agent = Agent()
weights = tf.trainable_variables()[0]  # what it knows
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    _, known = sess.run([agent.train, weights], {agent.x: np.ones([3, 2])})
    print(known)
"""


def test_the_object_has_the_variable() -> None:
    after = native(PROGRAM)
    assert "[0]  # what it knows\n" in after
    assert "known = agent.train_step(np.ones([3, 2]))" in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (
            (("s()[0]", "s()[-1]"),),
            "what `weights` fetches",
        ),  # others may be made behind the object
        ((("s()[0]", "s('scope')[0]"),), "what `weights` fetches cannot be determined"),
        (
            (("agent = Agent()", "agent = Agent()\nagent = Agent()"),),
            "several objects build",
        ),
        (
            (("    def __init__", "    def weights(self):\n        return 1\n\n    def __init__"),),
            "what `weights` fetches cannot be determined",
        ),
        ((("= tf.trainable", "= tf.Variable([1.0])\nweights = tf.trainable"),), "`tf.Variable`"),
    ],
)
def test_others_stay(pairs: tuple[tuple[str, str], ...], why: str) -> None:
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)
