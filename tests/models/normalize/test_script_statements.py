"""Statements of a module that builds a graph, in the forms that its readers know."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

PROGRAM = """\
import tensorflow as tf

slim = tf.contrib.slim
SETTINGS = {"is_training": False}


def network(x):
    x = slim.fully_connected(x, 3)
    return slim.batch_norm(x, **SETTINGS)


x = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(network(x))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([train, loss], {x: [[1.0, 2.0]]}))
"""


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("x, **SETTINGS", "arguments of `tf.contrib.slim.batch_norm` come from `**`"),
        ("*[x]", "which argument of `tf.contrib.slim.batch_norm` this is cannot be determined"),
        ("x, verbose=1", "`tf.contrib.slim.batch_norm` is given `verbose`, which is not known"),
    ],
)
def test_a_layer_with_arguments_that_are_not_known_keeps_its_program(
    given: str, reason: str
) -> None:
    """Whether it trains is not said by what is not seen; and no run ends by it."""
    result = run(PROGRAM.replace("x, **SETTINGS", given), bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any(reason in one for one in said(result)), said(result)
