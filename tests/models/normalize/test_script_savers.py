"""A saver that the function with the session makes, and a session that is closed as it is left."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import sys

import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable("w", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def main():
    saver = tf.train.Saver(max_to_keep=3)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run([step, loss], feed_dict={x: np.ones([4, 2])})[1])
        if len(sys.argv) > 1:
            saver.save(sess, sys.argv[1])
            sess.close()
            sys.exit(1)
        print("not saved")


main()
"""


def test_the_script_makes_it() -> None:
    after = native(PROGRAM)
    assert after.index(", max_to_keep=3)") < after.index("def main():")
    assert "        saver.save(sys.argv[1])\n        sys.exit(1)\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # it runs on
        ("            sys.exit(1)\n", ""),
        ("            sys.exit(1)\n", "            sys.exit(sess.run(loss))\n"),
        # another name of the script's
        ("loss = tf.reduce_mean", "saver = None\nloss = tf.reduce_mean"),
        # a saver of what is not there yet
        ("\n\nmain()", "\n\nmore = tf.get_variable('more', [1])\nmain()"),
        # what it is given may be another thing there
        ("max_to_keep=3", "max_to_keep=len(sys.argv)"),
        # several
        ("\n\nmain()\n", "\n\nmain()\nmain()\n"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))


RESTORED = PROGRAM.replace(
    "        sess.run(tf.global_variables_initializer())\n",
    "        if len(sys.argv) > 2:\n"
    "            sess.run(tf.global_variables_initializer())\n"
    "            saver.restore(sess, sys.argv[2])\n"
    "        else:\n"
    "            sess.run(tf.global_variables_initializer())\n",
)


def test_what_is_restored_behind_the_first_values() -> None:
    after = native(RESTORED)
    assert "    if len(sys.argv) > 2:\n        saver.restore(sys.argv[2])\n    print(" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "            sess.run(tf.global_variables_initializer())\n"
            "            saver.restore(sess, sys.argv[2])\n",
            "            saver.restore(sess, sys.argv[2])\n"
            "            sess.run(tf.global_variables_initializer())\n",
        ),
        (
            "            sess.run(tf.global_variables_initializer())\n"
            "            saver.restore(sess, sys.argv[2])\n",
            "            for _ in range(2):\n"
            "                sess.run(tf.global_variables_initializer())\n"
            "                saver.restore(sess, sys.argv[2])\n",
        ),
    ],
)
def test_first_values_behind_what_is_restored_keep_it(old: str, new: str) -> None:
    assert old in RESTORED
    result = run(RESTORED.replace(old, new), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
