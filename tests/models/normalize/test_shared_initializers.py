"""Initializers that a module makes once, for layers of its functions."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run

PROGRAM = """\
import numpy as np
import tensorflow as tf

weight_init = tf.random_normal_initializer(stddev=0.02)
weight_regularizer = None


def dense(x, units):
    return tf.layers.dense(
        x, units, kernel_initializer=weight_init, kernel_regularizer=weight_regularizer)


x = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(dense(dense(x, 3), 1)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {x: np.ones([3, 2])})[0])
"""


def test_a_layer_is_given_its_own() -> None:
    text = native(PROGRAM)
    assert "kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.02)" in text
    assert "weight_init" not in text and "weight_regularizer" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def dense", "print(weight_init)\n\n\ndef dense"),  # used otherwise
        ("def dense", "if np.ones(1):\n    weight_init = None\n\n\ndef dense"),
    ],
)
def test_what_keeps_the_program(old: str, new: str) -> None:
    (found,) = run(PROGRAM.replace(old, new), native_sessions=True).programs
    assert found.state == "left (--no-bridge)"
