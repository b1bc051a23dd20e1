"""Parts of a graph that a loop builds each time before it runs them: which are made above it."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import HEAD, MODEL
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

LOOP = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        sess.run(train, {x: rows})
        near = tf.less(tf.abs(out - 1.0), 0.5)
        share = tf.reduce_mean(tf.cast(near, tf.float32))
        print(sess.run(share, {x: rows}))
"""


def test_what_is_the_same_each_time_is_made_once() -> None:
    after = native(HEAD + MODEL + LOOP)
    assert "    near = tf.less(tf.abs(out - 1.0), 0.5)\n" in after
    assert after.index("near = ") < after.index("for step in range(3):")
    assert "    print(compute_share(rows).numpy())\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out - 1.0), 0.5)", "out - 1.0), 0.5 / (step + 1))"),
        ("tf.abs(out - 1.0)", "tf.random_uniform([2, 1])"),
        ("tf.abs(out - 1.0)", "tf.nn.dropout(out, 0.5)"),
        ("        share =", "        near = tf.logical_not(near)\n        share ="),
    ],
    ids=["of what the loop counts", "drawn anew", "dropped anew", "a name with two values"],
)
def test_what_differs_from_time_to_time_stays(old: str, new: str) -> None:
    assert LOOP.count(old) == 1
    result = run(HEAD + MODEL + LOOP.replace(old, new), bridge=True, native_sessions=True)
    assert "native" not in {one.state for one in result.programs}, said(result)


def test_classes_of_initializers_are_called() -> None:
    head = HEAD.replace(
        "tf.Variable(tf.zeros([2, 1]))",
        "tf.get_variable('w', [2, 1], initializer=tf.random_normal_initializer)",
    )
    assert "tf.keras.initializers.RandomNormal(stddev=1.0)([2, 1])" in native(head + MODEL + LOOP)


@pytest.mark.usefixtures("builders_stay")
def test_a_constant_moves_what_is_drawn() -> None:
    layer = (
        "def layer(a):\n"
        "    v = tf.Variable(tf.random_normal([2, 1]) + 0.1)\n"
        "    return tf.matmul(a, v)\n\n\n"
    )
    model = layer + MODEL.replace("tf.matmul(x, w)", "layer(x)")
    after = "".join(native(HEAD + model + LOOP).split())
    assert "RandomNormal(mean=0.1,stddev=1.0)" in after
    kept = model.replace("[2, 1])", "[2, 1], mean=0.5)")
    result = run(HEAD + kept + LOOP, bridge=True, native_sessions=True)
    assert any("what this variable begins with" in one for one in said(result)), said(result)
