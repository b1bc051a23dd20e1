"""Regularizers of variables, as terms where all of them are read."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
reg = tf.contrib.layers.l2_regularizer(0.1)
w = tf.get_variable("w", [2, 3], regularizer=reg)
v = tf.get_variable("v", [3, 1], regularizer=tf.contrib.layers.l1_regularizer(0.2))
out = tf.matmul(tf.matmul(x, w), v)
terms = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
loss = tf.reduce_mean(tf.square(out)) + tf.add_n(terms)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([train, loss], feed_dict={x: np.ones([4, 2])})[1])
"""
READ = "tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)"


def test_terms_stand_where_they_are_read() -> None:
    after = native(PROGRAM)
    assert "regularizer" not in after and "reg =" not in after
    assert "tf.multiply(0.1, tf.nn.l2_loss(w))" in after
    assert "tf.multiply(0.2, tf.reduce_sum(tf.abs(v)))" in after


def test_the_sum_of_all() -> None:
    text = PROGRAM.replace(f"terms = {READ}\n", "").replace(
        "tf.add_n(terms)", "tf.losses.get_regularization_loss()"
    )
    assert "tf.add_n([tf.multiply(0.1, tf.nn.l2_loss(w)), " in native(text)


LAYER = "out = tf.layers.dense(out, 1, kernel_regularizer=reg)\n"


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.replace("terms = ", f"{LAYER}terms = "),
        PROGRAM.replace("REGULARIZATION_LOSSES)", "REGULARIZATION_LOSSES, scope='a')"),
        PROGRAM.replace(f"terms = {READ}\n", "").replace("w = tf", f"terms = {READ}\nw = tf"),
        PROGRAM.replace("reg = tf.contrib.layers.l2_regularizer(0.1)", "reg = lambda w: w[0, 0]"),
        PROGRAM.replace(
            'w = tf.get_variable("w"', 'for i in range(2):\n    w = tf.get_variable("w%d" % i'
        ),
    ],
)
def test_terms_that_may_be_others_stay(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    why = (
        "`regularizer` of a variable is not supported",
        "regulariz",
        "whether",
        "nothing is collected",
    )
    kept = [message for message in said(result) if "the session stays" in message]
    assert any(one in message for message in kept for one in why), kept
