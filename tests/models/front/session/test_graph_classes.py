"""Several classes that build a graph each, which share a session."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import tensorflow as tf

RATE = 0.1


def distance(x, y):
    return tf.reduce_mean(tf.squared_difference(x, y))


class Actor:
    def __init__(self, sess, size):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, size])
        self.w = tf.Variable(tf.ones([size, 1]))
        self.out = tf.matmul(self.x, self.w)
        self.train_op = tf.train.AdamOptimizer(RATE).minimize(tf.reduce_mean(self.out))

    def learn(self, data):
        self.sess.run(self.train_op, {self.x: data})
        return self.sess.run(self.out, {self.x: data})


class Critic:
    def __init__(self, sess, size):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, size])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.out = tf.layers.dense(self.x, 1)
        self.loss = distance(self.out, self.y)
        self.train_op = tf.train.AdamOptimizer(2 * RATE).minimize(self.loss)

    def learn(self, data, values):
        return self.sess.run([self.loss, self.train_op], {self.x: data, self.y: values})[0]


def main():
    with tf.Session() as sess:
        actor = Actor(sess, 2)
        critic = Critic(sess, size=2)
        sess.run(tf.global_variables_initializer())
        for step in range(3):
            values = actor.learn([[1.0, 2.0]])
            print(values, critic.learn([[1.0, 2.0]], values))


main()
"""


def test_each_class_has_steps_of_its_own() -> None:
    after = native(PROGRAM)
    assert "actor = Actor(2)\n" in after and "critic = Critic(size=2)\n" in after
    assert "Session" not in after and "sess" not in after
    assert after.count("self.train_step = train_step\n") == 2
    assert "soft_device_placement" not in after, "nothing names a device"
    named = "        with tf.device('/cpu:0'):\n            self.w = "
    after = native(PROGRAM.replace("        self.w = ", named))
    assert after.count("tf.config.set_soft_device_placement(False)\n") == 1


def test_optimizers_of_one_kind_of_both() -> None:
    after = native(PROGRAM.replace("AdamOptimizer", "RMSPropOptimizer"))
    assert after.count("class RMSprop(") == 1


def test_several_objects_of_one_of_them() -> None:
    text = PROGRAM.replace(
        "        critic = ", "        other = Actor(sess, 2)\n        critic = "
    ).replace(
        "            values = ", "            other.learn([[2.0, 1.0]])\n            values = "
    )
    assert "    other = Actor(2)\n" in native(text)


STAYS = {
    "one that is given a part of the other": (
        PROGRAM.replace("Critic(sess, size=2)", "Critic(sess, 2, actor.out)")
        .replace("class Critic:\n    def __init__(self, sess, size):",
                 "class Critic:\n    def __init__(self, sess, size, y):")
        .replace("self.y = tf.placeholder(tf.float32, [None, 1])", "self.y = y"),
        "has parts of the graph",
    ),
    "one that is given the other": (
        PROGRAM.replace("Critic(sess, size=2)", "Critic(sess, size=2, other=actor)").replace(
            "class Critic:\n    def __init__(self, sess, size):",
            "class Critic:\n    def __init__(self, sess, size, other):",
        ),
        "has parts of the graph",
    ),
    "one that keeps the other": (
        PROGRAM.replace("Critic(sess, size=2)", "Critic(sess, size=2, other=actor)")
        .replace("class Critic:\n    def __init__(self, sess, size):",
                 "class Critic:\n    def __init__(self, sess, size, other):\n"
                 "        self.other = other\n        print(self.other.w)"),
        "has parts of the graph",
    ),
    "parts of both at once": (
        PROGRAM.replace(
            "            print(values",
            "            print(sess.run([actor.out, critic.out], "
            "{actor.x: [[1.0, 2.0]], critic.x: [[1.0, 2.0]]}))\n            print(values",
        ),
        "what `critic.out` fetches cannot be determined",
    ),
    "all variables": (
        PROGRAM.replace("        for", "        print(tf.trainable_variables())\n        for", 1),
        "several objects build graphs, and `tf.trainable_variables` is about all of them",
    ),
    "a saver of both": (
        PROGRAM.replace(
            "        for step", "        saver = tf.train.Saver()\n        for step"
        ).replace("\n\n\nmain()", "\n        saver.save(sess, './model')\n\n\nmain()"),
        "several objects build graphs, and `tf.train.Saver` is about all of them",
    ),
    "a function of both, which is kept": (
        PROGRAM.replace("(tf.reduce_mean(self.out))", "(distance(self.out, 1.0))")
        + "MEASURES = [distance]\n",
        "`distance` is used outside of the graph as well",
    ),
    "variables by one name": (
        PROGRAM.replace(
            "tf.Variable(tf.ones([size, 1]))", "tf.get_variable('w', [size, 1])"
        ).replace(
            "        critic = ",
            "        tf.get_variable_scope().reuse_variables()\n        critic = ",
        ),
        "several objects build graphs",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_what_classes_have_together_stays(text: str, reason: str) -> None:
    assert text != PROGRAM
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


GUARDED = """\
import tensorflow as tf


class Net:
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        with tf.variable_scope('net'):
            self.w = tf.get_variable('w', [size, 1])
        every = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope='net')
        self.norm = tf.add_n([tf.nn.l2_loss(v) for v in every])
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w))) + self.norm
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def fit(self, rows):
        return self.sess.run([self.loss, self.train], {self.x: rows})[0]


if __name__ == '__main__':
    print(Net(3).fit([[1.0, 2.0, 3.0]]))
"""
USER = "from net import Net\n\nnet = Net(2)\nprint(net.fit([[1.0, 2.0]]))\n"


def test_what_a_main_guard_makes_is_no_object_of_an_importer() -> None:
    files = (("net.py", GUARDED), ("main.py", USER))
    result = run(*files, native_sessions=True)
    assert [one.state for one in result.programs] == ["native", "native"], said(result)


@pytest.mark.parametrize(
    ("guard", "user"),
    [
        (GUARDED, USER + "other = Net(2)\nprint(other.fit([[1.0, 2.0]]))\n"),
        (GUARDED.replace("if __name__ == '__main__':\n    ", ""), USER),
    ],
)
def test_several_objects_of_one_program_have_one_collection(guard: str, user: str) -> None:
    result = run(("net.py", guard), ("main.py", user), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}
    assert any("stays, on the bridge" in one for one in said(result)), said(result)
