"""Sessions that functions and methods make: one gives first values, the others restore them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self, size):
        x = tf.placeholder(tf.float32, [None, size])
        w = tf.Variable(tf.ones([size, 1]), name='w')
        out = tf.matmul(x, w)
        self.x = x
        self.out = out
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.saver = tf.train.Saver()

    def train(self, data):
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                print(sess.run([self.loss, self.train_op], feed_dict={self.x: data})[0])
            self.saver.save(sess, './model')

    def test(self, data):
        with tf.Session() as session:
            self.saver.restore(session, './model')
            return session.run(self.out, feed_dict={self.x: data})


def main():
    data = np.ones([4, 2])
    model = Model(2)
    model.train(data)
    for _ in range(2):
        print(model.test(data))


main()
"""
# The same with functions.
FUNCTIONS = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]), name='w')
out = tf.matmul(x, w)
loss = tf.reduce_mean(tf.square(out))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()


def train(data):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            print(sess.run([loss, train_op], feed_dict={x: data})[0])
        saver.save(sess, './model')


def test(data):
    with tf.Session() as sess:
        saver.restore(sess, './model')
        print(sess.run(out, feed_dict={x: data}))


if __name__ == '__main__':
    train(np.ones([4, 2]))
    test(np.ones([4, 2]))
"""


def test_methods_have_no_sessions_any_longer() -> None:
    after = native(PROGRAM)
    assert (
        "        for _ in range(3):\n            print(" in after
        and "self.train_step(data)" in after
    )
    assert "        self.saver.save('./model')\n" in after
    assert "        self.saver.restore('./model')\n        return self.compute_out(data)" in after
    assert "        self.saver = saver\n" in after


def test_functions_have_no_sessions_any_longer() -> None:
    after = native(FUNCTIONS)
    assert "def test(data):\n    saver.restore('./model')\n    print(compute_out(data)" in after


def test_a_session_of_one_method() -> None:
    text = PROGRAM[: PROGRAM.index("    def test")] + PROGRAM[PROGRAM.index("\ndef main") :]
    native(text.replace("    for _ in range(2):\n        print(model.test(data))\n", ""))


def test_what_is_restored_may_be_initialized_before() -> None:
    old = "            self.saver.restore(session, './model')\n"
    native(
        PROGRAM.replace(old, "            session.run(tf.global_variables_initializer())\n" + old)
    )


def test_modes_exclude_each_other() -> None:
    text = FUNCTIONS.replace(
        "    train(np.ones([4, 2]))\n    test(np.ones([4, 2]))\n",
        "    import sys\n    if len(sys.argv) > 1:\n        test(np.ones([4, 2]))\n"
        "    else:\n        train(np.ones([4, 2]))\n",
    )
    native(text)


STAYS = {
    "tested before it is trained": (
        PROGRAM.replace("    model.train(data)\n", "").replace(
            "        print(model.test(data))\n",
            "        print(model.test(data))\n    model.train(data)\n",
        ),
        "this session may begin before the one that gives the variables their values",
    ),
    "trained twice": (
        PROGRAM.replace("    model.train(data)\n", "    model.train(data)\n" * 2),
        "its session may be made more than once",
    ),
    "trained in a loop": (
        PROGRAM.replace("in range(2):\n", "in range(2):\n        model.train(data)\n"),
        "its session may be made more than once",
    ),
    "values of its own": (
        PROGRAM.replace(
            "self.saver.restore(session, './model')",
            "session.run(tf.global_variables_initializer())",
        ),
        "a later session starts without restoring a checkpoint",
    ),
    "some of the values": (
        PROGRAM.replace("        w = ", "        b = tf.Variable(1.0, name='b')\n        w = ")
        .replace("        out = ", "        out = b * ")
        .replace("tf.train.Saver()", "tf.train.Saver([w])"),
        "a later session restores some of the variables alone",
    ),
    "metrics that begin anew": (
        FUNCTIONS.replace(
            "loss = tf.reduce",
            "mean, add = tf.metrics.mean(out)\nloss = tf.reduce",
        ).replace(
            "global_variables_initializer())",
            "global_variables_initializer())\n        sess.run(tf.local_variables_initializer())",
        ).replace(
            "        saver.restore(sess, './model')\n",
            "        sess.run([tf.global_variables_initializer(), "
            "tf.local_variables_initializer()])\n        saver.restore(sess, './model')\n"
            "        sess.run(add, feed_dict={x: data})\n        print(sess.run(mean))\n",
        ),
        "a later session begins its metrics anew",
    ),
    "one within another": (
        PROGRAM.replace(
            "            self.saver.save(sess, './model')\n",
            "            self.saver.save(sess, './model')\n            print(self.test(data))\n",
        ),
        "a session may be made within another one",
    ),
    "called by another name": (
        PROGRAM.replace("print(model.test(data))", "print(list(map(model.test, [data])))"),
        "this session may begin before the one that gives the variables their values",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_sessions_with_values_of_their_own_stay(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any(reason in message for message in said(result)), said(result)
