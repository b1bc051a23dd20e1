"""Branches that compute several parts, of which some code asks for less."""

import pytest

from tests.support.migration import migrated

PROGRAM = """\
import tensorflow as tf

SQUARE = True
a = tf.placeholder(tf.float32, [None, 2])
b = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
if SQUARE:
    first = tf.square(tf.matmul(a, w))
    second = tf.square(tf.matmul(b, w))
    answer = first
else:
    first = tf.abs(tf.matmul(a, w))
    second = tf.abs(tf.matmul(b, w))
    answer = first
loss = tf.reduce_mean(first - second)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {a: [[1.0, 2.0]], b: [[2.0, 1.0]]}))
    print(sess.run(answer, {a: [[1.0, 2.0]]}))
"""

NATIVE = "steps of a session become functions of TF2"


def test_each_name_gets_a_condition() -> None:
    text, said = migrated(PROGRAM, native_sessions=True)
    assert NATIVE in said
    assert "def compute_answer(a):" in text
    assert text.count("if SQUARE:") == 2 and "answer = first\n" in text


def test_what_is_fed_whole_stays_together() -> None:
    program = PROGRAM.replace("sess.run(answer, {a: [[1.0, 2.0]]})", "'done'")
    text, said = migrated(program, native_sessions=True)
    assert NATIVE in said and text.count("if SQUARE:") == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # an arm in another order, or with another name
        (
            "    answer = first\nelse",
            "    last = first\n    answer = first\nelse",
            "is not fed here",
        ),
        # a comment would have no place
        ("if SQUARE:\n", "if SQUARE:\n    # squares\n", "is not fed here"),
        # it draws, which each operation does by its number
        ("first = tf.abs(", "first = tf.random_normal([1]) + tf.abs(", "is not fed here"),
    ],
)
def test_branches_that_stay_together(old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    _, said = migrated(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert NATIVE not in said and any(reason in one for one in said), said
