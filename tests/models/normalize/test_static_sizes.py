"""Sizes of weights that are asked of tensors: numbers where they are seen, the bridge elsewhere."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])


def net(x, units, scale=1):
    w0 = tf.get_variable("w0", [4, units])
    h = {hidden}
    w = tf.get_variable("w", [{size}, 1])
    return tf.matmul(h, w)


loss = tf.reduce_mean(tf.square(net(x, 3) - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 4])}})
"""
PLAIN = "tf.nn.relu(tf.matmul(x, w0))"


@pytest.mark.parametrize(
    ("hidden", "size"),
    [
        (PLAIN, "h.get_shape()[1]"),
        (PLAIN, "h.get_shape()[-1].value"),
        (PLAIN, "int(h.shape[-1])"),
        (PLAIN, "h.get_shape().as_list()[1]"),
        (PLAIN + " + tf.get_variable('b', [units])", "h.get_shape()[1]"),
    ],
)
def test_a_size_that_is_seen(hidden: str, size: str) -> None:
    after, told = migrated(PROGRAM.format(hidden=hidden, size=size), native_sessions=True)
    assert "name='w', shape=[units, 1]" in after.replace('"', "'"), told
    assert "get_variable" not in after


def test_a_size_that_has_a_name() -> None:
    hidden = f"{PLAIN}\n    width = h.get_shape()[1].value"
    after, told = migrated(PROGRAM.format(hidden=hidden, size="width"), native_sessions=True)
    assert "name='w', shape=[units, 1]" in after.replace('"', "'"), told


@pytest.mark.usefixtures("builders_stay")
def test_a_name_that_is_given_twice_is_no_size() -> None:
    hidden = f"{PLAIN}\n    width = 4\n    if scale:\n        width = h.get_shape()[1].value"
    after, _ = migrated(PROGRAM.format(hidden=hidden, size="width"), native_sessions=True)
    assert "[width, 1]" in after


def test_a_sum_keeps_its_brackets() -> None:
    text = PROGRAM.format(hidden=PLAIN, size="2 * h.get_shape()[1] // 2")
    after, told = migrated(text.replace("[4, units]", "[4, units + scale]"), native_sessions=True)
    assert "shape=[2 * (units + scale) // 2, 1]" in after, told


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize(
    ("hidden", "size"),
    [
        ("tf.nn.relu(x)", "h.get_shape()[1]"),
        (PLAIN, "h.get_shape()[0]"),
        (PLAIN + " + tf.get_variable('b', [scale])", "h.get_shape()[1]"),
        ("tf.matmul(x, w0, transpose_b=True)", "h.get_shape()[1]"),
        ("tf.concat([tf.matmul(x, w0), x], 1)", "h.get_shape()[1]"),
    ],
    ids=["of a parameter", "of rows", "of a sum that may be wider", "transposed", "joined"],
)
def test_a_size_that_is_not_seen_stays_a_question(hidden: str, size: str) -> None:
    after, _ = migrated(PROGRAM.format(hidden=hidden, size=size), native_sessions=True)
    assert size in after


@pytest.mark.parametrize(
    "more", ["units = units + 1", "sizes.append(7)", "sizes[-1] = 7"], ids=["name", "list", "item"]
)
def test_a_list_that_changes_says_no_size(more: str) -> None:
    hidden = f"tf.reshape(tf.matmul(x, w0), sizes)\n    {more}"
    text = PROGRAM.format(hidden=hidden, size="sizes[-1]")
    text = text.replace("    h =", "    sizes = [-1, units]\n    h =")
    after, _ = migrated(text, native_sessions=True)
    assert "sizes[-1], 1]" in after


def test_weights_at_the_end_of_a_scope_are_made_once() -> None:
    body = "    with tf.variable_scope('a'):\n        w0 = tf.get_variable('w0', [4, 3])\n"
    body += (
        "        h = tf.matmul(x, w0)\n        w = tf.get_variable('w', [3, 1])  # the last one\n"
    )
    start = PROGRAM.index("    w0 =")
    end = PROGRAM.index("    return")
    after, told = migrated(
        (PROGRAM[:start] + body + PROGRAM[end:]).replace("{{", "{").replace("}}", "}"),
        native_sessions=True,
    )
    assert "self.w = self.add_weight(name='w', shape=[3, 1])  # the last one\n" in after, told
    assert "            h = tf.matmul(x, self.w0)\n        return tf.matmul(h, self.w)\n" in after
