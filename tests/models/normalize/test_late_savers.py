"""Savers that branches below the session make."""

import pytest

from tests.support.migration import migrated

PROGRAM = """\
import os
import sys
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    if os.path.exists("m.index"):
        saver = tf.train.Saver()
        saver.restore(sess, "m")
        sess.close()
        sys.exit()
    else:
        sess.run(train, {x: [[1.0, 2.0]]})
        saver = tf.train.Saver()
        saver.save(sess, "m")
    print(sess.run(loss, {x: [[1.0, 2.0]]}))
"""


def test_one_saver_is_made_above_the_session() -> None:
    text, said = migrated(PROGRAM, native_sessions=True)
    assert "steps of a session become functions of TF2" in said
    assert "Session" not in text and "sess.close" not in text
    assert text.count("saver = ") == 1


@pytest.mark.parametrize(
    "old, new",
    [
        # another number of checkpoints is kept by the second
        ("{x: [[1.0, 2.0]]})\n        saver = tf.train.Saver()",
         "{x: [[1.0, 2.0]]})\n        saver = tf.train.Saver(max_to_keep=2)"),
        # each turn makes one, which knows none of the earlier checkpoints
        ("    else:\n", "    for step in range(2):\n"),
        # it has a variable that the one above would not
        ("{x: [[1.0, 2.0]]})\n        saver",
         "{x: [[1.0, 2.0]]})\n        late = tf.Variable(1.0)\n"
         "        saver"),
        # above, the saver would be one of another graph
        ("with tf.Session() as", "with tf.Session(graph=tf.get_default_graph()) as"),
        # what follows uses the session
        ("        sys.exit()\n", "        print(sess.run(w))\n"),
    ],
)  # fmt: skip
def test_others_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    text, said = migrated(PROGRAM.replace(old, new), native_sessions=True)
    assert "steps of a session become functions of TF2" not in said
    assert "tf.Session(" in text
