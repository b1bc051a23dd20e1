"""Names that a scope gives to several variables, one after the other."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

PROGRAM = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
W = tf.Variable(tf.ones([2, 2]))
h = tf.matmul(x, W)
W = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(tf.matmul(h, W))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([train, loss], {x: [[1.0, 2.0]]}))
"""


def test_each_has_a_name_of_its_own() -> None:
    result = run(PROGRAM, native_sessions=True)
    assert [program.state for program in result.programs] == ["native"], said(result)
    assert "W_2 = tf.Variable(tf.ones([2, 1]))" in after(result, PROGRAM)
    assert "tf.matmul(h, W_2)" in after(result, PROGRAM) and "tf.matmul(x, W)" in after(
        result, PROGRAM
    )


def test_scopes_tell_them_apart() -> None:
    text = PROGRAM.replace("W = tf.Variable(tf.ones([2, 2]))", '{0}"in"{1}, [2, 2])').replace(
        "W = tf.Variable(tf.ones([2, 1]))", '{0}"out"{1}, [2, 1])'
    )
    text = text.replace("{0}", "with tf.variable_scope(").replace(
        "{1}", '):\n    W = tf.get_variable("w"'
    )
    result = run(text, native_sessions=True)
    assert [program.state for program in result.programs] == ["native"], said(result)
    assert "tf.matmul(h, out_W)" in after(result, PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A function reads it, whichever it is then.
        ("with tf.Session", "def show():\n    return W\n\n\nwith tf.Session"),
        # Only one of two is made, perhaps.
        (
            "W = tf.Variable(tf.ones([2, 1]))",
            "if x is not None:\n    W = tf.Variable([[1.], [2.]])",
        ),
        # Somebody looks for it by its text.
        ("with tf.Session", 'print(globals()["W"])\nwith tf.Session'),
    ],
)
def test_a_name_stays_where_it_is_not_seen_which_variable_it_is(old: str, new: str) -> None:
    assert PROGRAM.count(old) == 1
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any("`W` is also assigned elsewhere" in one for one in said(result)), said(result)
