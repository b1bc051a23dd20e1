"""An object that makes its session, and a method that gives the variables their first values."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.w = tf.Variable(tf.zeros([2, 1]), name="w")
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - 1.0))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
        self.saver = tf.train.Saver()
        self.sess = tf.Session()

    def load(self):
        self.saver.restore(self.sess, "m.ckpt")

    def fit(self, rows):
        self.sess.run(tf.global_variables_initializer())
        for _ in range(3):
            print(self.sess.run([self.step, self.loss], {self.x: rows})[1])
        self.saver.save(self.sess, "m.ckpt")


def main():
    model = Model()
    model.fit(np.ones([4, 2]))


if __name__ == "__main__":
    main()
"""
PLAIN = changed(
    PROGRAM,
    ('    def load(self):\n        self.saver.restore(self.sess, "m.ckpt")\n\n', ""),
)


def test_a_method_that_is_called_once_may_begin() -> None:
    result = run(PLAIN, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = str(result.files[0].after)
    assert "initializer" not in after and "self.train_step(rows)" in after, after


FIT = "    model.fit(np.ones([4, 2]))\n"
AGAIN = "variables may be initialized more than once"
SEVERAL = "several objects build graphs"
STAYS = {
    "it is called twice": (changed(PLAIN, (FIT, FIT * 2)), AGAIN),
    "it is called in a loop": (changed(PLAIN, (FIT, f"    for _ in range(2):\n    {FIT}")), AGAIN),
    "there are two objects": (
        changed(PLAIN, ("model = Model()", "model, _ = Model(), Model()")),
        SEVERAL,
    ),
    "what calls it is called twice": (PLAIN + "    main()\n", SEVERAL),
    "it is handed on": (changed(PLAIN, (FIT, f"{FIT}    print(model.fit)\n")), AGAIN),
    "something is restored before": (
        changed(PROGRAM, (FIT, f"    model.load()\n{FIT}")),
        "variables are initialized after they were restored",
    ),
}


def stays(text: str, reason: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in one for one in said(result)), said(result)


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_one_that_may_begin_again_stays(text: str, reason: str) -> None:
    stays(text, reason)


ALIAS = changed(
    PLAIN,
    (
        "        self.sess.run(tf.global",
        "        sess = self.sess\n        self.sess.run(tf.global",
    ),
    ("self.sess.run(", "sess.run("),
    ("save(self.sess,", "save(sess,"),
)


def test_a_session_may_get_one_more_name() -> None:
    result = run(ALIAS, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "sess" not in str(result.files[0].after)


MORE = "the session is used for more than `run`"
OTHERWISE = {
    "it is printed": (
        changed(ALIAS, ("        for _", "        print(sess)\n        for _")),
        MORE,
    ),
    "it is handed on": (
        changed(ALIAS, ("        for _", "        vars(sess)\n        for _")),
        MORE,
    ),
    "it is another session later": (
        changed(ALIAS, ("        for _", "        sess = tf.Session()\n        for _")),
        "it makes more than one session",
    ),
    "it is given to a function that runs it": (
        changed(
            ALIAS,
            ("class Model", "def show(sess, loss):\n    print(sess.run(loss))\n\n\nclass Model"),
            ("        for _", "        show(sess, 'loss:0')\n        for _"),
        ),
        "what `loss` fetches cannot be determined",
    ),
}


@pytest.mark.parametrize(("text", "reason"), OTHERWISE.values(), ids=OTHERWISE)
def test_a_name_that_is_used_otherwise_stays(text: str, reason: str) -> None:
    stays(text, reason)
