"""Names that a program gives to functions of TensorFlow's."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import migrated

PROGRAM = """\
import tensorflow as tf

ACTIVATION = tf.nn.tanh

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(ACTIVATION(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: [[1.0, 2.0]]})[0])
"""


def test_a_name_of_a_function_of_one_tensor_stays() -> None:
    after = native(PROGRAM)
    assert "ACTIVATION = tf.nn.tanh\n" in after
    assert "tf.reduce_mean(ACTIVATION(tf.matmul(x, w)))" in after


@pytest.mark.parametrize(
    "old, new",
    [
        ("ACTIVATION = tf.nn.tanh", "ACTIVATION = tf.log"),  # another name in TF2
        ("ACTIVATION = tf.nn.tanh", "ACTIVATION = tf.nn.tanh\nACTIVATION = tf.nn.relu"),
        ("ACTIVATION(tf.matmul(x, w))", "ACTIVATION(tf.matmul(x, w), name='a')"),
        ("ACTIVATION = tf.nn.tanh", "ACTIVATION = tf.nn.tanh\nprint(ACTIVATION)"),
        ("tf.nn.tanh", "tf.nn.dropout"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    text, said = migrated(PROGRAM.replace(old, new), native_sessions=True)
    assert "steps of a session become functions of TF2" not in said
    assert "tf.Session()" in text


SCOPE = """\
def lrelu(x, name="lrelu"):
    with tf.variable_scope(name):
        return tf.maximum(x, 0.2 * x)


"""


def test_a_scope_of_variables_where_none_are_made_names_what_is_computed() -> None:
    text = PROGRAM.replace("ACTIVATION = tf.nn.tanh\n\n", f"\n{SCOPE}")
    after = native(text.replace("ACTIVATION", "lrelu"))
    assert "    with tf.name_scope(name):\n        return tf.maximum" in after
