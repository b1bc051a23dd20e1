"""Sessions that loops make anew, and what keeps them there."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

PROGRAM = """\
import tensorflow as tf


def train(path):
    with tf.Graph().as_default():
        w = tf.Variable(1.0, name="w")
        step = tf.train.AdamOptimizer(0.1).minimize(tf.square(w))
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            saver.save(sess, path)


def test(path):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        w = tf.Variable(1.0, name="w")
        y = w * x
        saver = tf.train.Saver()
        for turn in range(3):  # each a session
            with tf.Session() as sess:
                saver.restore(sess, path)
                print(sess.run(y, {x: turn}))
            print("done")


train("model")
test("model")
"""


def test_what_restores_first_needs_no_session_of_its_own() -> None:
    result = run(PROGRAM, native_sessions=True)
    assert [program.state for program in result.programs] == ["native"], said(result)
    assert (
        "    for turn in range(3):  # each a session\n"
        "        saver.restore(path)\n"
        "        print(compute_y(turn).numpy())\n"
        '        print("done")\n'
    ) in after(result, PROGRAM)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # It has first values in each turn, and not those that it restored before.
        ("saver.restore(sess, path)", "sess.run(tf.global_variables_initializer())"),
        # It goes on where nothing was restored: TF1's fails there.
        (
            "                saver.restore(sess, path)\n",
            "                try:\n                    saver.restore(sess, path)\n"
            "                except ValueError:\n                    pass\n",
        ),
        # Its iterator begins anew in each session.
        (
            "        y = w * x\n",
            "        d = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()\n"
            "        y = w * x * tf.cast(d, tf.float32)\n",
        ),
        # So does a stream of random numbers with a seed.
        ("y = w * x", "y = w * x + tf.random_normal([], seed=4)"),
        # What it changes is lost with it.
        ("print(sess.run(y, {x: turn}))", "print(sess.run(tf.assign(w, w + 1.0)))"),
        # It is used behind its block.
        ('print("done")', "print(sess.graph)"),
    ],
)
def test_a_session_stays_in_its_loop_where_it_has_more_than_what_it_restored(
    old: str, new: str
) -> None:
    assert PROGRAM.count(old) == 1
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]


def test_averages_that_a_program_keeps_itself_are_not_restored_by_name() -> None:
    text = PROGRAM.replace(
        "        saver = tf.train.Saver()\n        for",
        "        ema = tf.train.ExponentialMovingAverage(0.9)\n"
        "        move = ema.apply(tf.trainable_variables())\n"
        "        saver = tf.train.Saver(ema.variables_to_restore())\n        for",
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any("the values of averages in a program that keeps some" in o for o in said(result))
