"""Regularizers of variables, as terms where all of them are read."""

from __future__ import annotations

from pathlib import Path

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


UNKNOWN = "`regularizer` of a variable is not supported in a native program"
TWICE = PROGRAM.replace("x = tf", "SCALE = 0.1\nx = tf").replace("0.1)\nw", "SCALE)\nw")
BUILT = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])


def terms_of(name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [2, 1], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    return tf.matmul(x, w), tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


"""
RUN = PROGRAM[PROGRAM.index("train = ") :]
ONE = f"{BUILT}out, more = terms_of('a')\nloss = tf.reduce_mean(tf.square(out)) + more\n{RUN}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PROGRAM.replace("terms = ", f"{LAYER}terms = "), UNKNOWN),
        (PROGRAM.replace("REGULARIZATION_LOSSES)", "REGULARIZATION_LOSSES, scope='a')"), UNKNOWN),
        (
            PROGRAM.replace(f"terms = {READ}\n", "").replace("w = tf", f"terms = {READ}\nw = tf"),
            "nothing is collected before it",
        ),
        (
            PROGRAM.replace(
                "reg = tf.contrib.layers.l2_regularizer(0.1)", "reg = lambda w: w[0, 0]"
            ),
            UNKNOWN,
        ),
        (TWICE.replace("regularizer(SCALE)", "regularizer(np.random.rand())"), UNKNOWN),
    ],
)
def test_terms_that_may_be_others_stay(text: str, why: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any("the session stays" in one and why in one for one in said(result)), said(result)


def test_a_function_that_is_called_twice_collects_the_first_terms_again() -> None:
    assert "tf.nn.l2_loss(w)" in native(ONE)
    again = ONE.replace("out, more = terms_of('a')", "terms_of('b')\nout, more = terms_of('a')")
    result = run(again, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)


def test_a_scale_with_a_name() -> None:
    assert "tf.multiply(SCALE, tf.nn.l2_loss(w))" in native(TWICE)
    after = native(TWICE.replace("out = ", "SCALE = 0.5\nout = "))
    assert "SCALE_value = 0.5\n" in after and "tf.multiply(SCALE, tf.nn.l2_loss(w))" in after


def test_another_object_collects_the_first_ones_terms_again() -> None:
    path = Path(__file__).parents[3] / "fixtures" / "session" / "variable_terms" / "before.py"
    begun = "    with tf.Session() as sess:\n"
    other = '    with tf.variable_scope("more"):\n        other = Machine(5, 3, 0.02)\n'
    asked = "            train(sess, machine, x, y)\n"
    text = path.read_text().replace(begun, other + begun)
    text = text.replace(asked, asked + asked.replace("machine", "other"))
    result = run(text, bridge=True, native_sessions=True)
    why = "several objects build graphs, and `tf.get_collection` is about all of them"
    assert any("the session stays" in one and why in one for one in said(result)), said(result)
