"""Blocks whose lines begin with spaces and tabs."""

from __future__ import annotations

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
w = tf.get_variable('w', [2, 1])
loss = tf.reduce_mean(tf.matmul(x, w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(3):
        if i:
        \t# every step but the first
        \tvalue, _ = sess.run([loss, train], {x: np.ones([3, 2])})
        \tif i > 1:
        \t\tprint('''of step
        \ttwo''', value)
        else:
            print(i)
"""


def test_they_are_indented_as_the_rest() -> None:
    after = native(PROGRAM)
    assert "if i:\n        # every step but the first\n        value = train_step(" in after
    assert "        if i > 1:\n            print('''of step\n" in after
    assert "'''of step\n        \ttwo'''" in after  # what a string says


def test_a_line_that_a_backslash_joins_in_a_string() -> None:
    after = native(PROGRAM.replace("'''of step\n        \ttwo'''", "'of step \\\n    two'"))
    assert "'of step \\\n    two'" in after


def test_it_is_left_where_it_does_not_help() -> None:
    text = PROGRAM.replace("sess.run([loss, train]", "sess.partial_run([loss, train]")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in message for message in said(result))
    (file,) = result.files
    assert "\n        \tif i > 1:\n" in (file.after or "")
