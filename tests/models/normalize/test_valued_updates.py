"""Updates in a list, and values that run them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
net = tf.layers.batch_normalization(tf.layers.dense(x, 4), training=True)
loss = tf.reduce_mean(tf.square(tf.layers.dense(net, 1) - y))
optimizer = tf.train.GradientDescentOptimizer(0.1)
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
apply_op = optimizer.minimize(loss)
updates.append(apply_op)
update_op = tf.group(*updates)
with tf.control_dependencies([update_op]):
    train_tensor = tf.identity(loss, name='train_op')
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        value = sess.run(train_tensor, {x: np.ones([4, 3]), y: np.ones([4, 1])})
        print(step, value)
"""
RUN = "value = sess.run(train_tensor, "


def test_a_value_runs_the_updates() -> None:
    after = native(PROGRAM)
    assert "training=True" in after
    assert "value = train_step(" in after or "_, value = " in after


@pytest.mark.parametrize(
    "line",
    [
        "again, value = sess.run([net, train_tensor], ",
        "value, again = sess.run([train_tensor, net], ",
        "_, value = sess.run([x, train_tensor], ",
        "value = 1 + sess.run(train_tensor, ",
    ],
)
def test_other_runs(line: str) -> None:
    native(PROGRAM.replace(RUN, line))


def test_a_run_whose_value_nobody_has() -> None:
    native(PROGRAM.replace(RUN, "sess.run(train_tensor, ").replace("print(step, value)", ""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What it is, is not the value itself.
        ("tf.identity(loss, name='train_op')", "tf.identity(loss + 1)"),
        # Somebody else has it.
        ("with tf.Session()", "shown = train_tensor * 2\nwith tf.Session()"),
        # One list has the value among others, and a name has the list.
        (RUN, "value = sess.run([train_tensor, net], "),
        # The list has more.
        ("updates.append(apply_op)", "updates.append(apply_op)\nupdates.append(tf.no_op())"),
        ("update_op = tf.group", "print(updates)\nupdate_op = tf.group"),
    ],
)
def test_stays(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
