"""Values that are computed, and may be fed besides."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.int32, [None, 5])
        self.counts = tf.count_nonzero(self.x, 1, dtype=tf.int32)
        table = tf.get_variable('table', [6, 2], initializer=tf.ones_initializer())
        rows = tf.nn.embedding_lookup(table, self.x)
        mask = tf.sequence_mask(self.counts, 5, dtype=tf.float32)
        self.cost = tf.reduce_sum(tf.square(rows) * mask[:, :, tf.newaxis])
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.cost)


model = Model()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    rows = np.array([[1, 2, 3, 0, 0], [4, 5, 1, 2, 0]])
    print(sess.run([model.cost, model.train], {model.x: rows})[0])
    print(sess.run(model.cost, {model.x: rows, model.counts: [1, 2]}))
"""
MADE = "tf.count_nonzero(self.x, 1, dtype=tf.int32)"


def test_what_is_fed_is_a_parameter_and_computed_elsewhere() -> None:
    after = native(PROGRAM)
    assert "counts_spec = tf.TensorSpec([None], tf.int32)" in after
    assert "def compute_cost(x, counts):" in after
    made = "def train_step(x):\n            counts = tf.math.count_nonzero(x, 1, dtype=tf.int32)\n"
    assert made in after


def test_what_follows_from_numbers_is_made_in_the_step() -> None:
    zeros = changed(PROGRAM, (MADE, "tf.zeros([2], tf.int32)"))
    after = native(zeros)
    assert "counts_spec = tf.TensorSpec([2], tf.int32)" in after
    assert "def train_step(x):\n            counts = tf.zeros([2], tf.int32)\n" in after


UNNAMED = "something other than a named placeholder is fed"
DOUBLED = ("        self.counts", "        self.y = self.x * 2\n        self.counts")
SIZED = ("        self.counts", "        size = 2\n        self.counts")


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        # its shape is not known
        ((("[None, 5])\n", ")\n"),), UNNAMED),
        ((DOUBLED, ("self.x, 1, dtype", "self.y, 1, dtype")), UNNAMED),
        # a kind of value whose type and shape are not known
        (((MADE, f"tf.cast({MADE}, tf.int32)"),), UNNAMED),
        # it follows from what is computed
        (
            (DOUBLED, (MADE, "tf.zeros([tf.shape(self.y)[0]], tf.int32)")),
            "the default of this placeholder follows from `y`",
        ),
        # where a step computes it, its size is another one
        (
            (
                SIZED,
                (MADE, "tf.zeros([size], tf.int32)"),
                ("        table", "        size = 3\n        table"),
            ),
            "of which the default of a placeholder is made, has two values",
        ),
    ],
)
def test_others_stay(pairs: tuple[tuple[str, str], ...], why: str) -> None:
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)
