"""Statements of a constructor that builds a graph: one thing each, by one name each."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self, size):
        self.size = size
        self._build()
        t_params = tf.get_collection('target_params')
        e_params = tf.get_collection('eval_params')
        self.replace_op = [tf.assign(t, e) for t, e in zip(t_params, e_params)]
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _build(self):
        self.x = tf.placeholder(tf.float32, [None, self.size])
        with tf.variable_scope('eval_net'):
            c_names, n, w_init = \\
                ['eval_params', tf.GraphKeys.GLOBAL_VARIABLES], 1, tf.ones_initializer()
            w = tf.get_variable('w', [self.size, n], initializer=w_init, collections=c_names)
            b = tf.get_variable('b', [1, n], collections=c_names)
            self.q = tf.matmul(self.x, w) + b
        with tf.variable_scope('target_net'):
            # c_names are the collections
            c_names = ['target_params', tf.GraphKeys.GLOBAL_VARIABLES]
            w = tf.get_variable('w', [self.size, n], initializer=w_init, collections=c_names)
            b = tf.get_variable('b', [1, n], collections=c_names)
            self.q_next = tf.matmul(self.x, w) + b
        self.loss = tf.reduce_mean(self.q)
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def learn(self, data):
        self.sess.run(self.replace_op)
        _, loss = self.sess.run([self.train_op, self.loss], feed_dict={self.x: data})
        return loss, self.sess.run(self.q_next, feed_dict={self.x: data})


agent = Agent(2)
for _ in range(3):
    print(agent.learn(np.ones([4, 2])))
"""


def test_collections_of_variables_become_lists() -> None:
    after = native(PROGRAM)
    assert "t_params = [target_net_w, target_net_b]\n" in after
    assert "e_params = [w, b]\n" in after
    assert "collection" not in after and "c_names" not in after


def test_each_variable_has_an_initializer_of_its_own() -> None:
    after = native(PROGRAM)
    for name in ("eval_net", "target_net"):
        made = f"tf.keras.initializers.Ones()([self.size, n]), name='{name}/w')\n"
        assert f"w = tf.Variable(\n            {made}" in after
    assert "w_init" not in after and "        n = 1\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # in no collection of all variables: TF1 would not give it a first value
        ("['eval_params', tf.GraphKeys.GLOBAL_VARIABLES]", "['eval_params']"),
        # one of TF1's own
        ("'eval_params'", "tf.GraphKeys.MODEL_VARIABLES"),
        # something is put in as well
        (
            "        self.loss = ",
            "        tf.add_to_collection('eval_params', w)\n        self.loss = ",
        ),
        # asked for before all is in it
        (
            "        with tf.variable_scope('target_net'):\n",
            "        first = tf.get_collection('target_params')\n"
            "        with tf.variable_scope('target_net'):\n",
        ),
        # asked for by a name that is not known
        ("        self.sess.run(self.replace_op)", "        tf.get_collection(self.size)"),
    ],
)
def test_collections_that_are_not_all_seen_stay(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new)
    assert text != PROGRAM
    result = run(text, bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any("`collections` of a variable is not supported" in one for one in said(result))


def test_a_collection_that_objects_share_stays() -> None:
    """The second object's lists would have the first one's variables as well."""
    text = PROGRAM.replace("agent = Agent(2)", "other = Agent(2)\nagent = Agent(2)")
    assert "`tf.get_collection` is about all of them" in " ".join(
        said(run(text, bridge=True, native_sessions=True))
    )


def test_a_name_that_a_branch_gives_stays() -> None:
    text = PROGRAM.replace(
        "        self.loss = ",
        "        if self.size > 2:\n            w = None\n        self.loss = ",
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any("`collections` of a variable is not supported" in one for one in said(result))


AVERAGED = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
ema = tf.train.ExponentialMovingAverage(0.9)
{}kept = tf.trainable_variables() + tf.moving_average_variables()
with tf.control_dependencies([step]):
    train = ema.apply(kept)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train, {{x: np.ones([4, 3])}})
"""


def test_no_averages_are_kept_before_the_first() -> None:
    assert "moving_average_variables" not in native(AVERAGED.format(""))


def test_averages_that_are_kept_before_stay() -> None:
    result = run(AVERAGED.format("first = ema.apply([w])\n"), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert "averages of other variables than" in " ".join(said(result))
