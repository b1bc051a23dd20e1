"""A minus sign that TF1.15 loses is told: its graph optimizer takes one of two around a mean."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
w = tf.Variable(tf.ones([4, 1]))
errors = tf.square(tf.matmul(x, w) - 1.0)
{lines}
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([train, loss], {{x: np.ones([2, 4])}})[1])
"""
TOLD = "TF1.15 loses the outer minus sign of this"


def _tells(lines: str) -> bool:
    result = run(PROGRAM.format(lines=lines), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    return any(TOLD in one for one in said(result))


@pytest.mark.parametrize(
    "lines",
    [
        "likelihood = -tf.reduce_mean(errors)\nloss = -tf.reduce_mean(likelihood)",
        "likelihood = -tf.reduce_mean(tf.reduce_mean(errors))\n"
        "likelihood = tf.reduce_mean(likelihood)\nloss = -likelihood",
        "loss = tf.negative(tf.reduce_sum(-tf.reduce_mean(errors)))",
    ],
)
def test_a_sign_around_a_mean_of_one_number_is_told(lines: str) -> None:
    assert _tells(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "loss = -(-tf.reduce_mean(errors))",
        "loss = -tf.reduce_mean(-errors)",  # of many numbers
        "loss = -tf.reduce_mean(-tf.reduce_mean(errors, axis=1))",
        "loss = 0.0 - tf.reduce_mean(-tf.reduce_mean(errors))",
    ],
)
def test_other_signs_are_as_they_are_written(lines: str) -> None:
    assert not _tells(lines)
