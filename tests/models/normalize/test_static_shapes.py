"""Products of dimensions as sizes of weights: numbers where they are seen, the bridge elsewhere."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.oracle import FIXTURES
from tests.support.migration import changed, migrated, run, said

PROGRAM = (FIXTURES / "session" / "pooled_sizes" / "before.py").read_text("utf-8")
PRODUCT = "shape[1] * shape[2] * shape[3]"
FIRST = "strides=[1, 2, 2, 1], padding='VALID'"
CALL = "    logits = network(images, regularizer)\n"


def size(text: str) -> str:
    """What the size of the last weights is written as."""
    after = native(text)
    return after.partition("self.nodes = ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("old", "new", "factors"),
    [
        ("SIZE = 17", "SIZE = 17", "2 * 2 * 3"),
        ("SIZE = 17", "SIZE = 24", "3 * 3 * 3"),  # 24, 11, 6; 6, 3
        (FIRST, "strides=[1, 1, 1, 1], padding='SAME'", "5 * 5 * 3"),  # 17, 17, 9; 9, 5
        ("ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'",
         "ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding='VALID'", "1 * 6 * 3"),
        (PRODUCT, "int(net.shape[1]) * net.get_shape()[2].value * 3", "2 * 2 * 3"),
        ("= network(images", "= network(tf.reshape(images, [-1, SIZE, SIZE, 1])", "2 * 2 * 3"),
    ],
)  # fmt: skip
def test_what_a_convolution_and_a_pool_leave(old: str, new: str, factors: str) -> None:
    assert size(changed(PROGRAM, (old, new))) == factors


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[BATCH, SIZE, SIZE, 1])\n    labels", "[BATCH, None, None, 1])\n    labels"),
        ("[BATCH, SIZE, SIZE, 1])\n    labels", "None)\n    labels"),
        # A number that changes is none.
        ("SIZE = 17\n", "SIZE = 17\nSIZE = SIZE + 1\n"),
        # Another call gives it another image.
        (CALL, CALL + "    with tf.variable_scope('other'):\n"
               "        print(network(tf.zeros([6, 33, 33, 1]), None))\n"),
        ("padding='VALID')", "padding='VALID', data_format='NHWC')"),
        ("padding='VALID')", "padding=str('VALID'))"),
        # The list gets other sizes.
        ("        nodes = ", "        shape.append(1)\n        nodes = "),
        # It is of a tensor whose size nothing here says.
        ("shape = net.get", "shape = tf.image.resize_images(net, [2, 2]).get"),
    ],
)  # fmt: skip
def test_what_is_not_seen_stays(old: str, new: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)
    told = [one.message for one in result.findings if one.state in ("kept", "refused")]
    wanted = ("`nodes`", "`shape`", "`network`", "tensor")
    assert any(word in one for one in told for word in wanted), told


BLOCKS = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4, 4, 1])


def block(x, widths, name):
    inner, outer = widths
    before = x.get_shape().as_list()[3]
    with tf.variable_scope(name):
        w = tf.get_variable("w", [1, 1, before, inner])
        y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))
        v = tf.get_variable("v", [3, 3, inner, {outer}])
        y = tf.nn.conv2d(y, v, [1, 1, 1, 1], "SAME")
    return {given}


def net(x):
    x1 = block(x, [2, 5], "one")
    x2 = block(x1, [3, 6], "two")
    pooled = {pooled}
    w = tf.get_variable("w", [pooled.shape[1], 3])
    return tf.matmul(pooled, w)


loss = tf.reduce_mean(tf.square(net(x) - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 4, 4, 1])}})
"""
MEAN = "tf.reduce_mean(x2, axis=(1, 2))"


@pytest.mark.parametrize(
    ("outer", "given", "pooled", "size"),
    [
        ("outer", "tf.nn.relu(y)", MEAN, "[6, 3]"),
        ("outer", "tf.nn.relu(y)", "tf.reduce_max(x2, [-3, 2])", "[6, 3]"),
        ("outer", "tf.nn.relu(y)", f"tf.layers.flatten({MEAN})", "[6, 3]"),
        ("7", "tf.nn.relu(y)", MEAN, "[7, 3]"),
        ("outer", "tf.add(y, tf.nn.relu(y))", MEAN, "[6, 3]"),
        ("outer", "tf.layers.dropout(y, training=True)", MEAN, "[6, 3]"),
        ("outer * 2", "tf.nn.relu(y)", MEAN, "[12, 3]"),
        ("widths[-1] if False else 6", "tf.nn.relu(y)", MEAN, ""),
        ("outer", "tf.add(y, x)", MEAN, ""),  # the second block is not as wide as the first
        ("outer", "tf.concat([y, y], 3)", MEAN, ""),
        ("outer", "tf.nn.relu(y)", "tf.reduce_mean(x2, axis=(1, 3))", "[4, 3]"),
        ("outer", "tf.nn.relu(y)", "tf.reduce_mean(x2, axis=(1, 2), keepdims=False)", ""),
    ],
)
def test_a_size_that_functions_of_the_program_tell(
    outer: str, given: str, pooled: str, size: str
) -> None:
    text = BLOCKS.format(outer=outer, given=given, pooled=pooled)
    states = [one.state for one in run(text, bridge=True, native_sessions=True).programs]
    after, _ = migrated(text, native_sessions=True)
    assert states == (["native"] if size else ["bridge"])
    assert not size or f"shape={size}" in after
