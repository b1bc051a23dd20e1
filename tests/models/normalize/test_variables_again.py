"""Functions that get variables again by their names; what must stay."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

CELL = """\
import numpy as np
import tensorflow as tf

rows = np.ones([8, 3], np.float32)
x = tf.placeholder(tf.float32, [None, 3])

with tf.variable_scope("cell"):
    weights = tf.get_variable("W", [3, 3])


def cell(inputs):
    with tf.variable_scope("cell", reuse=True):
        W = tf.get_variable("W", [3, 3])
    return tf.tanh(tf.matmul(inputs, W))


hidden = cell(cell(x))
loss = tf.reduce_mean(tf.square(hidden))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: rows})[0])
"""


def test_the_function_has_the_variable_of_the_module() -> None:
    changed = after(run(CELL, native_sessions=True), CELL)
    assert "    return tf.tanh(tf.matmul(inputs, weights))\n" in changed
    assert "reuse" not in changed


STAYS = {
    "another variable may have the name": CELL.replace(
        "hidden = cell(cell(x))\n",
        'with tf.variable_scope("outer"):\n'
        '    with tf.variable_scope("cell"):\n'
        '        other = tf.get_variable("W", [3, 3])\n'
        "    hidden = cell(x)\n",
    ),
    "a variable that is not there": CELL.replace(
        'get_variable("W", [3, 3])\n    return', 'get_variable("V", [3, 3])\n    return'
    ),
    "it is made in another scope": CELL.replace('variable_scope("cell"):', 'variable_scope("c"):'),
    "the block does more": CELL.replace(
        "    return tf.tanh", "        W = W * 2.0\n    return tf.tanh"
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    result = run(STAYS[name], bridge=True, native_sessions=True)
    stays = [one for one in said(result) if "session stays" in one]
    assert any("by `reuse`" in one for one in stays), stays


def test_a_scope_whose_name_is_not_told() -> None:
    """In it the function would get another variable, if there is one."""
    text = CELL.replace(
        "hidden = cell(cell(x))\n",
        "with tf.variable_scope(input()):\n    hidden = cell(cell(x))\n",
    )
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
