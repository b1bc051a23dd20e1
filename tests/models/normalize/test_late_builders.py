"""A method that builds an object's graph, which the program calls right behind the constructor."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, rate):
        self.rate = rate

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1) - 1.0))
        self.step = tf.train.GradientDescentOptimizer(self.rate).minimize(self.loss)
        self.start()

    def start(self):
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def fit(self, rows):
        return self.sess.run([self.step, self.loss], {self.x: rows})[1]


def main():
    model = Model(0.1)
    model.build()
    print(model.fit(np.ones([4, 2])))


main()
"""
CALL = "    model.build()\n"
NONES = changed(
    PROGRAM,
    (
        "        self.rate = rate\n",
        "        self.sess = None\n        self.rate = rate\n        self.x = None\n",
    ),
)


def test_the_constructor_builds_it() -> None:
    result = run(PROGRAM, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = str(result.files[0].after)
    assert "build()" not in after and "    def fit(self, rows):\n" in after
    assert "    model = Model(0.1)\n    print(model.fit(" in after


def test_what_the_constructor_leaves_open_it_no_longer_sets() -> None:
    result = run(NONES, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert "None\n" not in str(result.files[0].after)


def test_the_class_may_stand_in_another_module() -> None:
    place = PROGRAM.index("def main")
    model = PROGRAM[:place].rstrip() + "\n"
    main = "import numpy as np\nfrom model import Model\n\n\n" + PROGRAM[place:]
    result = run(("model.py", model), ("main.py", main), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["native"], said(result)


STAYS = {
    "something stands between": changed(PROGRAM, (CALL, f"    model.rate = 0.2\n{CALL}")),
    "it is called twice": changed(PROGRAM, (CALL, CALL * 2)),
    "it may not be called": changed(PROGRAM, (CALL, f"    if model.rate:\n    {CALL}")),
    "it takes something": changed(
        PROGRAM,
        ("def build(self)", "def build(self, units=1)"),
        ("model.build()", "model.build(2)"),
    ),
    "its value is used": changed(PROGRAM, (CALL, "    print(model.build())\n")),
    "several objects are made": changed(PROGRAM, ("def main", "other = Model(0.3)\n\n\ndef main")),
    "what is open is asked for": changed(
        NONES,
        ("        self.start()\n", "        if self.sess is None:\n            self.start()\n"),
    ),
    "what may be called asks for what is open": changed(
        NONES,
        (
            "    def build(self):\n",
            "    def build(self):\n        if self.rate:\n            self.show()\n",
        ),
        ("    def fit", "    def show(self):\n        print(self.sess)\n\n    def fit"),
    ),
    "it is another object's": changed(
        PROGRAM,
        (CALL, "    build(model)\n"),
        ("def main", "def build(m):\n    m.build()\n\n\ndef main"),
    ),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_may_be_something_else_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("on the bridge: `self.sess`" in one for one in said(result)), said(result)
