"""Placeholders that are asked for by their names."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
{before}
kept = tf.placeholder(tf.float32, name="kept")
w = tf.Variable(tf.ones([3, 1]))
y = tf.nn.dropout(tf.matmul(x, w), keep_prob={asked})
loss = tf.reduce_mean(tf.square(y - 1.0))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 3]), kept: 0.9}})
"""
ASKED = "tf.get_default_graph().get_tensor_by_name('kept:0')"


def test_it_is_what_was_made_by_that_name() -> None:
    text = PROGRAM.format(before="", asked=ASKED)
    after, told = migrated(text, native_sessions=True)
    assert "get_tensor_by_name" not in after and "rate=1 - kept" in after, told


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("other = tf.identity(x, name='kept')", ASKED),  # the placeholder is `kept_1` then
        ("", ASKED.replace("kept:0", "kept:1")),
        ("", ASKED.replace("kept:0", "held:0")),
        ("graph = tf.Graph()", ASKED.replace("tf.get_default_graph()", "graph")),
    ],
    ids=["a name that is taken", "another output", "another name", "another graph"],
)
def test_what_may_be_something_else_stays(before: str, asked: str) -> None:
    result = run(PROGRAM.format(before=before, asked=asked), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
