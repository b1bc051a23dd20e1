"""Transformations of datasets that `apply` takes: methods of the dataset."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(np.ones([8, 3], np.float32))
data = data.apply(APPLIED)
x = data.make_one_shot_iterator().get_next()
w = tf.Variable(tf.ones([3, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        print(sess.run([train, loss])[1])
"""
BATCHED = "data = data.batch(4)\ndata = data.apply("


@pytest.mark.parametrize(
    ("applied", "written"),
    [
        (
            "tf.contrib.data.map_and_batch(lambda one: one * 2, 4)",
            "data = data.map(lambda one: one * 2, num_parallel_calls=4).batch(4)\n",
        ),
        (
            "tf.data.experimental.map_and_batch(lambda one: one * 2, 4, drop_remainder=True)",
            "num_parallel_calls=4).batch(4, drop_remainder=True)\n",
        ),
    ],
)
def test_a_method_stands_there(applied: str, written: str) -> None:
    assert written in native(PROGRAM.replace("APPLIED", applied))


@pytest.mark.parametrize(
    ("applied", "written"),
    [
        ("tf.contrib.data.shuffle_and_repeat(8)", "data = data.shuffle(8).repeat()\n"),
        ("tf.data.experimental.shuffle_and_repeat(8, 2)", "data = data.shuffle(8).repeat(2)\n"),
        ('tf.contrib.data.prefetch_to_device("/gpu:0", 2)', "data = data.prefetch(2)\n"),
        ('tf.data.experimental.prefetch_to_device("/gpu:0")', "data = data.prefetch(1)\n"),
        ('tf.contrib.data.prefetch_to_device("/gpu:0", None)', "data = data.prefetch(1)\n"),
    ],
)
def test_of_batches(applied: str, written: str) -> None:
    text = PROGRAM.replace("data = data.apply(", BATCHED).replace("APPLIED", applied)
    assert written in native(text)


def test_others_stay() -> None:
    text = PROGRAM.replace("APPLIED", "tf.contrib.data.ignore_errors()")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("`data.apply` is not supported in code" in one for one in said(result)), said(result)
