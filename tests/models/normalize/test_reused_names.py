"""Variables whose name stands for something computed below them."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, MODEL
from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

RUN = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: rows}))
"""
AGAIN = "shift = tf.Variable(tf.zeros([1]), name='bias')\nshift = tf.square(shift) + shift\n"
PROGRAM = HEAD + AGAIN + MODEL.replace("* scale", "* scale + shift") + RUN


def test_the_variable_gets_the_name_of_its_graph() -> None:
    after = native(PROGRAM)
    assert "bias = tf.Variable(tf.zeros([1]), name='bias')\n" in after
    assert "shift = tf.square(bias) + bias\n" in after
    assert "variables = [w, bias]\n" in after


CLASS = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        table = tf.Variable(tf.zeros([2, 1]))
        table = tf.matmul(self.x, table)
        self.loss = tf.reduce_mean(tf.square(table - 1.0))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


sess = tf.Session()
model = Model()
sess.run(tf.global_variables_initializer())
print(sess.run([model.loss, model.train], {model.x: np.ones([2, 2])}))
"""


def test_in_a_constructor() -> None:
    assert "table = tf.matmul(x, table_variable)\n" in native(CLASS)


@pytest.mark.parametrize("name", ["class", "abs", "rows"])
def test_or_another_where_that_is_taken(name: str) -> None:
    after = native(PROGRAM.replace("'bias'", f"'{name}'"))
    assert f"shift_variable = tf.Variable(tf.zeros([1]), name='{name}')\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shift = tf.square(shift) + shift", "shift += tf.square(shift)"),
        ("\nshift = ", "\nif scale > 1:\n    shift = "),
        ("\nshift = tf.square", "\ndef show():\n    return shift\n\n\nshift = tf.square"),
    ],
    ids=["added to a variable", "only in an arm", "a function reads one of them"],
)
def test_what_is_not_seen_stays(old: str, new: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
    told = [one.message for one in result.findings if one.state in ("kept", "refused")]
    assert any("`shift`" in one or "`tf.Variable`" in one for one in told), told
