"""Parts of the graph that some runs feed, and others compute."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

size = 2
s = tf.placeholder(tf.float32, [None, 3])
r = tf.placeholder(tf.float32, [None, 1])
with tf.variable_scope('actor'):
    a = tf.layers.dense(s, size, activation=tf.nn.tanh)
with tf.variable_scope('critic'):
    q = tf.layers.dense(tf.concat([s, a], 1), 1)
actor = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='actor')
critic = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='critic')
loss = tf.reduce_mean(tf.square(q - r))
train_critic = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=critic)
gain = tf.reduce_mean(q)
train_actor = tf.train.AdamOptimizer(0.1).minimize(-gain, var_list=actor)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    rows = np.ones([4, 3])
    sess.run(train_actor, {s: rows})
    print(sess.run([loss, train_critic], {s: rows, a: rows[:, :2], r: rows[:, :1]})[0])
    print(sess.run(a, {s: rows}))
"""


def test_a_step_takes_what_it_is_fed_and_others_compute_it() -> None:
    after = native(PROGRAM)
    assert "a_spec = tf.TensorSpec([None, size], tf.float32)" in after
    assert "def train_critic_step(s, r, a):" in after
    assert "train_critic_step(s=rows, a=rows[:, :2], r=rows[:, :1])" in after
    step = after.partition("def train_critic_step")[2].partition("apply_gradients")[0]
    assert "dense(s)" not in step
    assert "def train_actor_step(s):" in after


def stays(text: str) -> str:
    """Why a program stays."""
    return "\n".join(said(run(text, bridge=True, native_sessions=True)))


UNNAMED = "something other than a named placeholder is fed"
FED = "    print(sess.run([loss, train_critic], {s: rows, a: rows[:, :2], r: rows[:, :1]})[0])"
LIST = ", var_list=critic"


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        # TF1's gradients go on into the actor, by the values that it computes
        (((LIST, ""),), "what it trains makes a part of the graph that is fed"),
        # its shape is not seen
        (((" a = tf.layers.dense(s, size, activation=tf.nn.tanh)",
           " b = tf.layers.dense(s, size)\n    a = tf.cumsum(b, 1)"),), UNNAMED),
        (((" a = tf.layers.dense(s,", " a = tf.reduce_sum(s, 1) + tf.layers.dense(s,"),), UNNAMED),
        # whether it is fed is not known
        (((FED,
           "    fed = {s: rows, r: rows[:, :1]}\n    if len(rows) > 3:\n"
           "        fed[a] = rows[:, :2]\n    sess.run(train_critic, fed)"),),
         "`a`, a part of the graph, is used outside of `Session.run`"),
    ],
)  # fmt: skip
def test_what_stays(pairs: tuple[tuple[str, str], ...], why: str) -> None:
    assert why in stays(changed(PROGRAM, *pairs))


def test_what_does_not_send_gradients_may_be_made_of_what_is_trained() -> None:
    stopped = changed(PROGRAM, (LIST, ""), (
        "with tf.variable_scope('critic'):\n", "with tf.variable_scope('critic'):\n"
        "    a = tf.stop_gradient(a)\n"))  # fmt: skip
    # the name has two values: it cannot be told which of them is fed
    assert UNNAMED in stays(stopped)
    apart = changed(
        stopped, ("    a = tf.stop_gradient(a)", "    b = tf.stop_gradient(a)"),
        ("tf.concat([s, a], 1)", "tf.concat([s, b], 1)"), ("a: rows[:, :2]", "b: rows[:, :2]"),
        ("minimize(-gain, var_list=actor)", "minimize(-gain, var_list=critic)"),
    )  # fmt: skip
    assert "def train_critic_step(s, r, b):" in native(apart)


LATENT = """\
import numpy as np
import tensorflow as tf


def weights(shape):
    start = tf.random_normal(shape, stddev=0.1)
    return tf.Variable(start)


shape = [None, 3]
x = tf.placeholder(tf.float32, shape)
sizes = x.get_shape().as_list()
n_in = sizes[1]
activation = tf.nn.softplus
w = weights([n_in, 4])
hidden = activation(tf.matmul(x, w))
v = weights([4, 2])
z = tf.matmul(hidden, v) + tf.random_normal(tf.stack([tf.shape(x)[0], 2]))
u = weights([2, n_in])
y = tf.matmul(z, u)
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(x - y)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 3])})
    print(sess.run(y, {z: [[1.0, 2.0]]}), sess.run(z, {x: np.ones([1, 3])}))
"""


def test_the_shape_of_a_product_is_that_of_its_weights() -> None:
    after = native(LATENT)
    assert "z_spec = tf.TensorSpec([None, 2], tf.float32)" in after
    assert "n_in = 3\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("v = weights([4, 2])\nz = tf.matmul(hidden, v)",
         "v = weights([2, 4])\nz = tf.matmul(hidden, v, transpose_b=True)"),
        ("[tf.shape(x)[0], 2])", "[tf.shape(x)[0], 1])"),
    ],
)  # fmt: skip
def test_products_of_unknown_shape_stay(old: str, new: str) -> None:
    assert UNNAMED in stays(changed(LATENT, (old, new)))


FROZEN = """\
import numpy as np
import tensorflow as tf


def network(x, scope, trainable):
    with tf.variable_scope(scope):
        hidden = tf.layers.dense(x, 4, trainable=trainable, name='hidden')
        return tf.layers.dense(hidden, 1, trainable=trainable, name='out')


x = tf.placeholder(tf.float32, [None, 3])
fixed = network(x, 'fixed', False)
told = tf.layers.dense(x, 1, trainable=False, name='told')
out = network(x, 'learned', True)
loss = tf.reduce_mean(tf.square(fixed + told - out))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 3])})
    saver.save(sess, 'model')
"""


def test_no_slots_are_saved_of_what_is_not_trained() -> None:
    after = native(FROZEN)
    assert "'fixed/hidden/kernel': " in after and "'told/kernel': " in after
    assert "'fixed/hidden/kernel/Adam'" not in after and "'told/kernel/Adam'" not in after
    assert "'learned/hidden/kernel/Adam'" in after
    assert "optimizer.variables[-8:]" in after


GIVEN = (
    "train_actor = tf.train.AdamOptimizer(0.1).minimize(-gain, var_list=actor)",
    "of_a = tf.gradients(q, a)[0]\ngrads = tf.gradients(a, actor, -of_a)\n"
    "train_actor = tf.train.AdamOptimizer(0.1).apply_gradients(zip(grads, actor))",
)


def test_gradients_that_a_tensor_is_said_to_have() -> None:
    after = native(changed(PROGRAM, GIVEN))
    assert "tape.gradient(a, train_actor_variables, output_gradients=-of_a)" in after


def test_numbers_that_a_tensor_is_said_to_have_as_gradients_stay() -> None:
    given = changed(PROGRAM, GIVEN, ("actor, -of_a", "actor, np.ones([4, 2], np.float32)"))
    assert "`tf.gradients` with `grad_ys`" in stays(given)
