"""All trained variables, fetched at once: which they are, and what stays."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

MADE = 'b = tf.Variable(tf.zeros([2]), name="b")'
PROGRAM = f"""\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 2])
{MADE}
steps = tf.Variable(0, trainable=False)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
variables = tf.trainable_variables()
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, steps)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train, feed_dict={{x: np.ones([4, 3])}})
    print(sess.run(variables))
"""
LISTED, CALL = "print([w.numpy(), b.numpy()])", "sess.run(tf.trainable_variables())"
LATER = 'd = tf.get_variable("d", [2])'


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [("train = ", f"{LATER}\ntrain = ")],
    ],
    ids=["by a name", "made later"],
)
def test_its_variables(pairs: list[tuple[str, str]]) -> None:
    assert LISTED in native(changed(PROGRAM, *pairs))


REASON = "what `variables` fetches cannot be determined"


def test_where_they_are_fetched() -> None:
    after = native(changed(PROGRAM, ("sess.run(variables)", CALL)))
    assert "def evaluate():\n    return trained_variables\n" in after
    # A list has no `numpy()`.
    assert "print(tf.nest.map_structure(lambda value: value.numpy(), evaluate()))" in after


STAYS = {
    "a layer makes some": [("tf.matmul(x, w) + b", "tf.layers.dense(tf.matmul(x, w) + b, 2)")],
    "a function makes some": [(MADE, "def f():\n    return tf.Variable([0.0, 0.0])\n\nb = f()")],
    "one may not be trained": [('name="b")', 'name="b", trainable=len("b") > 0)')],
    "one is made in a loop": [(MADE, f"for _ in range(2):\n    {MADE}")],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one for one in said(result)), said(result)
    if case == "a layer makes some":
        assert any(REASON in one for one in said(result)), said(result)
