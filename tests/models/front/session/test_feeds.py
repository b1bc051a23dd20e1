"""Feeds that functions return, and items of dictionaries that get other values."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
rate = tf.placeholder(tf.float32, [])
loss = tf.reduce_mean(rate * tf.square(tf.layers.dense(x, 1)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def feeds_of(rows, scale):
    feeds = {x: rows, rate: scale}
    return feeds


sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range(3):
    feed_dict = feeds_of(np.ones([4, 2]), 0.5)
    sess.run(train, feed_dict=feed_dict)
    feed_dict[rate] = 1.0
    print(sess.run(loss, feed_dict=feed_dict))
"""


def test_steps_take_what_functions_return() -> None:
    after = native(PROGRAM)
    assert "    feeds = {'x': rows, 'rate': scale}\n    return feeds\n" in after
    assert "    feed_dict['rate'] = 1.0\n" in after
    assert "train_step(**feed_dict)" in after and "compute_loss(**feed_dict)" in after


def test_functions_may_be_given_the_placeholders() -> None:
    pairs = (
        ("def feeds_of(rows, scale):", "def feeds_of(rows, inputs, rate_pl, scale=0.5):"),
        ("{x: rows, rate: scale}", "{inputs: rows, rate_pl: scale}"),
        ("feeds_of(np.ones([4, 2]), 0.5)", "feeds_of(np.ones([4, 2]), x, rate_pl=rate)"),
    )
    after = native(changed(PROGRAM, *pairs))
    assert "def feeds_of(rows, scale=0.5):\n    feeds = {'x': rows, 'rate': scale}\n" in after
    assert "feeds_of(np.ones([4, 2]))\n" in after


def test_what_changes_is_not_known_to_a_step() -> None:
    """A flag that is fed True, and False later, is a tensor of the step."""
    pairs = (
        ("def feeds_of(rows, scale):\n    feeds = {x: rows, rate: scale}\n    return feeds\n", ""),
        ("rate = tf.placeholder(tf.float32, [])", "rate = tf.placeholder(tf.bool, [])"),
        ("rate * tf", "tf.cast(rate, tf.float32) * tf"),
        ("feeds_of(np.ones([4, 2]), 0.5)", "{x: np.ones([4, 2]), rate: True}"),
        ("feed_dict[rate] = 1.0", "feed_dict[rate] = False"),
    )
    after = native(changed(PROGRAM, *pairs))
    assert "'rate': True}" in after and "feed_dict['rate'] = False" in after
    assert "def train_step(x, rate):" in after


def test_numbers_in_dictionaries_become_what_a_feed_made_of_them() -> None:
    pairs = (
        ("rate = tf.placeholder(tf.float32, [])", "rate = tf.placeholder(tf.bool, [])"),
        ("rate * tf", "tf.cast(rate, tf.float32) * tf"),
        ("for _ in", "for i in"),
        ("rate: scale}", "rate: len(rows) % 2}"),
        ("feed_dict[rate] = 1.0", "feed_dict[rate] = i % 2"),
    )
    after = native(changed(PROGRAM, *pairs))
    assert "'rate': bool(len(rows) % 2)}" in after
    assert "feed_dict['rate'] = bool(i % 2)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    feed_dict[rate] = 1.0\n", "    print(feed_dict)\n", "has another use as well"),
        ("    feed_dict[rate] = 1.0\n", "    feed_dict.update({x: 1})\n", "is used outside of"),
        ("rate: scale}", "}", "is added to a dictionary"),
        ("    return feeds", "    return feeds if scale else {}", "cannot be determined"),
        ("    return feeds", "    print(feeds)\n    return feeds", "has another use as well"),
        (
            "    feed_dict = feeds_of(",
            "    print(feeds_of(1, 2))\n    feed_dict = feeds_of(",
            "use",
        ),
        ("{x: rows, rate: scale}", "{x: rows, rate: loss}", "is used outside of"),
        ("feeds_of(np.ones([4, 2]), 0.5)", "feeds_of(loss, 0.5)", "is used outside of"),
        ("feeds_of(np.ones([4, 2]), 0.5)\n", "{x: np.ones([4, 2])}\n", "is added to a dictionary"),
    ],
)
def test_others_stay(old: str, new: str, why: str) -> None:
    result = run(PROGRAM.replace(old, new, 1), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)


OPTIONAL = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(out - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def feeds_of(rows, labels=None):
    feeds = {x: rows}
    if labels is not None:
        feeds[y] = labels
    return feeds, len(rows)


sess = tf.Session()
sess.run(tf.global_variables_initializer())
for labels in np.ones([3, 4, 1]):
    feed_dict, _ = feeds_of(np.ones([4, 2]), labels)
    sess.run(train, feed_dict=feed_dict)
feed_dict, count = feeds_of(np.ones([4, 2]))
print(count, sess.run(out, feed_dict=feed_dict))
"""


def test_a_call_decides_what_a_function_adds_to_a_dictionary() -> None:
    after = native(
        OPTIONAL.replace("feed_dict, count", "asked, count").replace(
            "sess.run(out, feed_dict=feed_dict)", "sess.run(out, feed_dict=asked)"
        )
    )
    assert "        feeds['y'] = labels\n    return feeds, len(rows)\n" in after
    assert "def train_step(x, y):" in after and "def compute_out(x):" in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        # one name has what two calls gave
        ((), "what is fed cannot be determined"),
        # a step that does not need the labels may be given them, and takes no more than it needs
        (
            (
                ("feed_dict, count = feeds_of(np.ones([4, 2]))\n", ""),
                ("print(count, ", "print("),
            ),
            "whether `y` is fed here cannot be determined",
        ),
    ],
)
def test_what_a_call_may_add_stays(pairs: tuple[tuple[str, str], ...], why: str) -> None:
    result = run(changed(OPTIONAL, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)


ROWS = """\
import numpy as np
import tensorflow as tf

rows = []
for label in (0, 1, 1):
    rows.append(np.eye(2)[label])
y = tf.placeholder(tf.int32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
loss = tf.reduce_mean(tf.square(tf.matmul(tf.cast(y, tf.float32), w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {y: rows})[0])
"""


def test_a_list_of_arrays_of_floats_becomes_one_array_of_integers() -> None:
    assert "train_step(np.array(rows))" in native(ROWS)
    literal = ROWS.replace("{y: rows}", "{y: [np.eye(2)[0]]}")
    assert "train_step(np.array([np.eye(2)[0]]))" in native(literal)
    # These are what the step takes.
    assert "train_step(rows)" in native(ROWS.replace("np.eye(2)", "np.eye(2, dtype=int)"))
    assert "train_step(rows)" in native(ROWS.replace("tf.int32", "tf.float32"))
