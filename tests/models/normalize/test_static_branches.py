"""What Python asks of a tensor's shape where the graph is built, and the program says."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 16])
shape = x.get_shape().as_list()
if len(shape) == 2:
    side = int(np.sqrt(shape[1]))
    if side * side != shape[1]:
        raise ValueError('no square')
    image = tf.reshape(x, [-1, side, side, 1])
elif x.get_shape().ndims == 4:
    image = x
else:
    raise ValueError('no image')
y = tf.layers.dense(tf.reduce_mean(tf.layers.conv2d(image, 3, 2), [1, 2]), 1)
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([4, 16])})
    print(sess.run(y, {x: np.ones([4, 16])}))
"""
RANK = "if len(shape) == 2:"


def test_the_arm_that_runs_is_what_there_is() -> None:
    after = native(PROGRAM)
    assert "side = int(np.sqrt(16))\n" in after
    assert "raise" not in after and "if " not in after.partition("def train_step")[0]


def test_an_image_is_taken_as_it_is() -> None:
    after = native(changed(PROGRAM, ("[None, 16]", "[None, 4, 4, 1]"), ("[4, 16]", "[4, 4, 4, 1]")))
    assert "np.sqrt" not in after and "reshape" not in after


def test_a_number_that_changes_is_compared_by_python() -> None:
    after = native(changed(PROGRAM, ("    if side * side", "    side += 1\n    if side * side")))
    assert "side += 1\nif side * side != 16:\n    raise ValueError('no square')\n" in after


@pytest.mark.parametrize(
    "pairs",
    [
        (("[None, 16])", "None)"),),  # any shape
        ((RANK, "shape.append(1)\nif len(shape) == 3:"),),  # a list that changes
        ((RANK, "if shape[0] == 4:"),),  # of which nothing is known
        ((RANK, "if len(shape) == 2 and shape[0] is None:"),),
    ],
)
def test_what_stays(pairs: tuple[tuple[str, str], ...]) -> None:
    found = "\n".join(said(run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)))
    assert "the session stays" in found
