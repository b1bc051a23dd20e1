"""The names that TF1's contrib gives the variables of its layers."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim

x = tf.placeholder(tf.float32, [None, 4])
one = slim.fully_connected(x, 3{first})
other = slim.fully_connected(one, 1{second})
loss = tf.reduce_mean(tf.square(other - 1.0))
some = [v for v in tf.trainable_variables() if v.name.startswith("{word}")]
train = tf.train.AdamOptimizer(0.01).minimize(loss, var_list=some)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 4])}})
"""


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [(", scope='d_one'", ", scope='g_one'", "d_"), ("", ", scope='g'", "fully_connected")],
)
def test_variables_are_chosen_by_the_name_of_their_scope(
    first: str, second: str, word: str
) -> None:
    after = native(PROGRAM.format(first=first, second=second, word=word))
    assert "variables = one_layer.trainable_variables\n" in after


def test_a_scope_that_no_layer_has_is_told() -> None:
    text = PROGRAM.format(first="", second="", word="conv")
    result = run(text, bridge=True, native_sessions=True)
    assert any("no variable is seen whose name begins with `conv`" in one for one in said(result))


@pytest.mark.parametrize("layer", ["slim.dropout(x, 0.9)", "slim.batch_norm(x)"])
def test_layers_train_where_they_are_told_nothing(layer: str) -> None:
    text = PROGRAM.format(first="", second=", scope='g'", word="g/")
    after, told = migrated(
        text.replace("slim.fully_connected(x, 3)", layer), bridge=True, native_sessions=True
    )
    assert "(x, training=True)" in after, told


SCOPES = PROGRAM.format(first=", scope='d_one'", second=", scope='g_one'", word="d_")
CHOSEN = '[v for v in tf.trainable_variables() if v.name.startswith("d_")]'


@pytest.mark.parametrize(
    "given",
    [
        "every",
        "[v for v in every]",
        '[v for v in every if "d_" or "g_" in v.name]',
        '[v for v in every if "d_" in v.name or "g_"]',
    ],
)
def test_what_leaves_nothing_out_is_all_of_it(given: str) -> None:
    assert CHOSEN in SCOPES
    text = SCOPES.replace("some = " + CHOSEN, f"every = tf.trainable_variables()\nsome = {given}")
    after = native(text)
    assert "variables = [*one_layer.trainable_variables, *other_layer.trainable_variables]" in after


@pytest.mark.parametrize(
    "given",
    [
        '[v for v in every if "" or print(v)]',
        "[v for v in every if print(v) or True]",
        "[w for v in every for w in [v]]",
    ],
)
def test_what_may_leave_something_out_stays(given: str) -> None:
    text = SCOPES.replace("some = " + CHOSEN, f"every = tf.trainable_variables()\nsome = {given}")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
