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
        ("    feed_dict[rate] = 1.0\n", "    feed_dict.update(x=1)\n", "has another use as well"),
        ("    feed_dict[rate] = 1.0\n", "    feed_dict.update({loss: 1})\n", "used outside of"),
        ("rate: scale}", "}", "`rate` is not fed here, and is needed"),
        ("    return feeds", "    return feeds if scale else {}", "cannot be determined"),
        ("    return feeds", "    print(feeds)\n    return feeds", "has another use as well"),
        (
            "    feed_dict = feeds_of(",
            "    print(feeds_of(1, 2))\n    feed_dict = feeds_of(",
            "use",
        ),
        ("{x: rows, rate: scale}", "{x: rows, rate: loss}", "is used outside of"),
        ("feeds_of(np.ones([4, 2]), 0.5)", "feeds_of(loss, 0.5)", "is used outside of"),
        ("feeds_of(np.ones([4, 2]), 0.5)\n", "{x: np.ones([4, 2])}\n", "`rate` is not fed here"),
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
    for name in ("asked", "feed_dict"):
        text = OPTIONAL.replace("feed_dict, count", f"{name}, count")
        after = native(text.replace("run(out, feed_dict=feed_dict)", f"run(out, feed_dict={name})"))
        assert "        feeds['y'] = labels\n    return feeds, len(rows)\n" in after
        assert "def train_step(x, y):" in after and "def compute_out(x):" in after


def test_a_step_picks_what_it_needs_of_a_dictionary_that_may_have_more() -> None:
    pairs = (("feed_dict, count = feeds_of(np.ones([4, 2]))\n", ""), ("print(count, ", "print("))
    after = native(changed(OPTIONAL, *pairs))
    assert "def compute_out(x):" in after and "compute_out(feed_dict['x'])" in after
    assert "train_step(**feed_dict)" in after


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        # what has a value where it is not fed
        (
            (
                (
                    "y = tf.placeholder(tf.float32, [None, 1])",
                    "y = tf.placeholder_with_default(1.0, [])",
                ),
                ("for labels in np.ones([3, 4, 1]):", "for labels in (1.0, None):"),
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


MODEL = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.out = tf.layers.dense(self.x, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - self.y))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def feeds(self, training, batch):
        feed_dict = {self.x: batch[0]}
        if training:
            feed_dict[self.y] = batch[1]
        return feed_dict

    def step(self, sess, training, batch):
        feed_dict = self.feeds(training, batch)
        if training:
            return sess.run([self.train, self.loss], feed_dict)[1]
        else:
            return sess.run(self.out, feed_dict)


model = Model()
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print(model.step(sess, True, np.ones([2, 4, 2])))
print(model.step(sess, False, np.ones([1, 4, 2])))
"""


BEGUN = "feed_dict = {self.x: batch[0]}\n"
ADDED = "        if training:\n            feed_dict[self.y] = batch[1]\n"
ASKED = "        if training:\n            return"
CALLED = "        feed_dict = self.feeds(training, batch)\n"


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        (("self.feeds(training, batch)", "self.feeds(batch=batch, training=training)"),),
        (("            return sess.run(self.out", "            return 1 * sess.run(self.out"),),
        (
            (CALLED, ""),
            ("self.loss], feed_dict)", "self.loss], self.feeds(True, batch))"),
            ("self.out, feed_dict)", "self.out, feed_dict=self.feeds(False, batch))"),
        ),
        (
            ("{self.x: batch[0]}", "{}"),
            (ADDED, f"        feed_dict[self.x] = batch[0]\n{ADDED}"),
        ),
        (
            ("{self.x: batch[0]}", "dict()"),
            (ADDED, f"        feed_dict.update({{self.x: batch[0]}})\n{ADDED}"),
        ),
        (
            (BEGUN, "if not training:\n            return {self.x: batch[0]}\n"),
            (ADDED, "        feed_dict = {self.x: batch[0], self.y: batch[1]}\n"),
        ),
        (
            (
                BEGUN,
                "if training:\n"
                "            feed_dict = dict(zip([self.x, self.y], batch))\n"
                "        else:\n"
                f"            {BEGUN}",
            ),
            (ADDED, ""),
        ),
    ],
)
def test_methods_give_what_is_fed(pairs: tuple[tuple[str, str], ...]) -> None:
    after = native(changed(MODEL, *pairs))
    assert "def train_step(x, y):" in after and "def compute_out(x):" in after


@pytest.mark.parametrize(
    "asked",
    [
        # whether it trains is asked otherwise than where the feeds are made
        "        if len(batch) > 1:\n            return",
        # the condition's name has another value below
        f"        training = len(batch) > 1\n{ASKED}",
    ],
)
def test_a_step_of_an_object_picks_what_it_needs(asked: str) -> None:
    after = native(changed(MODEL, (ASKED, asked)))
    assert "self.compute_out(feed_dict['x'])" in after or '(feed_dict["x"])' in after
    assert "self.train_step(**feed_dict)" in after


OTHER = "\n\n    def other(self):\n        return self.feeds(False, [1])"


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        (((BEGUN, f"{BEGUN}        print(feed_dict)\n"),), "has another use as well"),
        ((("dict[self.y] = batch[1]", "dict.update(batch[1])"),), "`y` is not fed here"),
        (
            (
                ("        return feed_dict", f"        return feed_dict, 1{OTHER}"),
                (CALLED, CALLED.replace("feed_dict", "feed_dict, _")),
            ),
            "has another use as well",
        ),
        ((("{self.x: batch[0]}", "dict(zip([self.x], batch), a=1)"),), "cannot be determined"),
    ],
)
def test_methods_that_give_something_else_stay(
    pairs: tuple[tuple[str, str], ...], why: str
) -> None:
    result = run(changed(MODEL, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)


TURNS = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(out - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for turn in range(3):
    feed_dict = {x: np.ones([4, 2])}
    print(sess.run(out, feed_dict))
    feed_dict[y] = np.ones([4, 1])
    sess.run(train, feed_dict)
"""


def test_a_dictionary_has_what_it_is_given_above() -> None:
    after = native(TURNS)
    assert "def compute_out(x):" in after and "def train_step(x, y):" in after
    loop, made = "for turn in range(3):\n", "feed_dict = {x: np.ones([4, 2])}\n"
    outside = changed(TURNS, (f"{loop}    {made}", f"{made}{loop}"))
    after = native(outside)  # from the second turn on it has more
    assert "compute_out(feed_dict['x'])" in after and "train_step(**feed_dict)" in after


GIVEN = """\
import numpy as np
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.out = tf.layers.dense(self.x, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - self.y))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def train(self, sess, feed_dict):
        return sess.run([self.step, self.loss], feed_dict)

    def apply(self, sess, feed_dict):
        return sess.run([self.y, self.out], feed_dict)


def feeds(net, rows):
    feed_dict = dict()
    feed_dict[net.x] = rows
    feed_dict[net.y] = np.ones([len(rows), 1])
    return feed_dict


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(net.train(sess, feeds(net, np.ones([4, 2])))[1])
    print(net.apply(sess, {net.y: [[1]], net.x: [[1, 2]]}))
"""


def test_functions_are_given_what_is_fed() -> None:
    after = native(GIVEN)
    assert "net.train(feeds(net, np.ones([4, 2])))" in after
    assert "fed = {'y': [[1]], 'x': [[1, 2]]}" in after and ".apply(fed)" in after


APPLIED = "    print(net.apply"
TRAINED = "        return sess.run([self.step"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (APPLIED, f"    net.train(sess, {{net.x: [[1, 2]]}})\n{APPLIED}", "cannot be determined"),
        (APPLIED, f"    print(feeds(net, [[1, 2]]))\n{APPLIED}", "has another use as well"),
        (TRAINED, f"        feed_dict[self.y] = 1\n{TRAINED}", "cannot be determined"),
    ],
)
def test_functions_that_are_given_different_feeds_stay(old: str, new: str, why: str) -> None:
    result = run(changed(GIVEN, (old, new)), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert any("the session stays" in one and why in one for one in said(result)), said(result)


AGAIN = """\
def again(feed_dict, left):
    print(sess.run(net.loss, feed_dict))
    if left:
        again(feed_dict, left - 1)


net = Net()
"""


def test_a_function_that_calls_itself_with_its_feeds_stays() -> None:
    called = f"    again(feeds(net, np.ones([4, 2])), 2)\n{APPLIED}"
    text = changed(GIVEN, ("net = Net()\n", AGAIN), (APPLIED, called))
    result = run(text, bridge=True, native_sessions=True)
    assert any("what is fed cannot be determined" in one for one in said(result)), said(result)
