"""Parts of a graph that are built where they are run, of what one object has."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model:
    def __init__(self):
        def cells(size):
            return tf.nn.rnn_cell.LSTMCell(size, reuse=False)

        self.x = tf.placeholder(tf.float32, [None, 2])
        self.w = tf.Variable(tf.ones([2, 1]))
        self.logits = tf.matmul(self.x, self.w)
        self.loss = tf.reduce_mean(tf.square(self.logits))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


sess = tf.InteractiveSession()
model = Model()
sess.run(tf.global_variables_initializer())
rows = np.ones([3, 2])
sess.run(model.train_op, {model.x: rows})
print(sess.run(tf.round(tf.sigmoid(model.logits)), {model.x: rows}))
value, again = sess.run([model.loss, tf.round(tf.sigmoid(model.logits))], {model.x: rows})
"""


def test_the_constructor_builds_it_once() -> None:
    after = native(PROGRAM)
    assert after.count("round_of_logits = tf.round(tf.sigmoid(logits))\n") == 2  # in two steps
    assert "print(model.compute_round_of_logits(rows).numpy())\n" in after
    assert "for tensor in model.compute_loss_and_round_of_logits(\n" in after


def test_a_function_that_nothing_calls_goes() -> None:
    assert "cells" not in native(PROGRAM)


CALL = "tf.round(tf.sigmoid(model.logits))"
STAYS = {
    "of what is known where it runs": "tf.reduce_max(model.logits, axis=len(rows.shape) - 1)",
    "a draw": "tf.nn.dropout(model.logits, 0.5)",
    "more than a value": "tf.assign(model.w, model.w * 0.5)",
}


@pytest.mark.parametrize("case", STAYS)
def test_what_else_is_built_there_stays(case: str) -> None:
    result = run(PROGRAM.replace(CALL, STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("cannot be determined" in one for one in said(result))
