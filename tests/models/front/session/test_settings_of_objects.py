"""What an object is told once: branches of its graph, functions that it keeps, how many layers."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, sizes, activation=tf.nn.relu, squares=True, l2=0.1):
        self.sizes = sizes
        self.activation = activation
        self.squares = squares
        self.l2 = l2
        self.x = tf.placeholder(tf.float32, [None, sizes[0]])
        self.y = tf.placeholder(tf.float32, [None, sizes[-1]])
        self.weights = self._weights()
        self.h = self.x
        for i in range(len(sizes) - 1):
            self.h = self.activation(tf.matmul(self.h, self.weights["w_%d" % i]))
        if self.squares:
            self.loss = tf.reduce_mean(tf.square(self.h - self.y))
        else:
            self.loss = tf.reduce_mean(tf.abs(self.h - self.y))
        if self.l2 > 0:
            for i in range(len(sizes) - 1):
                self.loss += self.l2 * tf.nn.l2_loss(self.weights["w_%d" % i])
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())

    def _weights(self):
        weights = {}
        for i in range(len(self.sizes) - 1):
            scale = 1.0 / self.sizes[i]
            weights["w_%d" % i] = tf.Variable(
                tf.random_normal([self.sizes[i], self.sizes[i + 1]], stddev=scale))
        return weights

    def learn(self, x, y):
        _, loss = self.sess.run([self.train_op, self.loss], feed_dict={self.x: x, self.y: y})
        return loss


model = Model([2, 3, 1])
for _ in range(3):
    print(model.learn(np.ones([4, 2]), np.ones([4, 1])))
"""


def test_the_author_keeps_the_settings() -> None:
    after = native(PROGRAM)
    assert 'weights["w_%d" % ' in after and "tf.random.normal(" in after
    assert "h = self.activation(tf.matmul(h, " in after
    assert "if self.squares:\n" in after and "if self.l2 > 0:\n" in after
    assert "variables = [*weights.values()]" in after


def test_a_gradient_may_be_none_where_a_branch_is_not_taken() -> None:
    """A table's rows are added up, and a branch that is not taken has no gradient to add up."""
    after = native(
        PROGRAM.replace("tf.matmul(self.h, ", "tf.matmul(self.h + tf.gather(self.table, [0]), ")
        .replace("        self.h = self.x\n", "        self.table = tf.Variable(tf.ones([5, 1]))\n"
                 "        self.h = self.x\n")
    )  # fmt: skip
    assert "value if value is None else tf.convert_to_tensor(value)" in after


def test_settings_of_a_dictionary() -> None:
    """`Model(**settings)`, which other keys are put into."""
    made = 'settings = {"activation": tf.tanh}\nsettings["sizes"] = [2, 3, 1]\n'
    after = native(PROGRAM.replace("model = Model([2, 3, 1])", f"{made}model = Model(**settings)"))
    assert '{"activation": tf.tanh}' in after


MADE = "model = Model([2, 3, 1])"
STAYS = {
    "a function that is not known": (
        PROGRAM.replace(MADE, "model = Model([2, 3, 1], activation=lambda x: x + tf.ones([1]))"),
        "`self.activation` is not supported in code that builds the graph",
    ),
    "a function that is given to the object later": (
        PROGRAM.replace(MADE, f"{MADE}\nmodel.activation = tf.nn.elu"),
        "`self.activation` is not supported in code that builds the graph",
    ),
    "a dictionary that something else fills": (
        PROGRAM.replace(
            MADE, 'more = {"sizes": [2, 3, 1]}\nmore.update(activation=tf.tanh)\n'
            "model = Model(**more)"),
        "`self.activation` is not supported in code that builds the graph",
    ),
    "a class that inherits it and gives another function": (
        PROGRAM.replace(MADE, f"class Deep(Model):\n    def __init__(self, sizes):\n"
                        "        super(Deep, self).__init__(sizes, activation=np.tanh)\n\n\n"
                        f"{MADE}"),
        "the class that builds the graph is more than called",
    ),
    "a setting that the constructor changes below": (
        PROGRAM.replace("        self.sess = tf.Session()", "        self.squares = False\n"
                        "        self.sess = tf.Session()"),
        "is used outside of `Session.run`",
    ),
    "a setting in a dictionary, which may change": (
        PROGRAM.replace("self.squares = squares", 'self.squares = {"on": squares}').replace(
            "if self.squares:", 'if self.squares["on"]:'),
        "is used outside of `Session.run`",
    ),
    "a setting that changes": (
        PROGRAM.replace(MADE, f"{MADE}\nmodel.squares = False"),
        "is used outside of `Session.run`",
    ),
    "a table of variables and other tensors": (
        PROGRAM.replace("        return weights", '        weights["sum"] = tf.add_n(list('
                        "weights.values()))\n        return weights"),
        "a part of the graph is stored in something other than a variable",
    ),
    "a variable of a table that is not trained": (
        PROGRAM.replace("stddev=scale))", "stddev=scale), trainable=False)"),
        "whether it is trained cannot be determined",
    ),
    "a table that is saved": (
        PROGRAM.replace("model.learn(np.ones([4, 2])", "model.learn(np.ones([4, 2])").replace(
            "        self.sess = tf.Session()",
            "        self.saver = tf.train.Saver()\n        self.sess = tf.Session()",
        ).replace("        return loss", "        self.saver.save(self.sess, 'a/b')\n"
                  "        return loss"),
        "its names in a checkpoint cannot be determined",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text, why", STAYS.values(), ids=STAYS)
def test_what_may_be_something_else_stays(text: str, why: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any(why in message for message in said(result)), said(result)


LISTED = """\
import numpy as np
import tensorflow as tf

params = []
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(tf.ones([2, 1]))
params.append(w)
b = tf.Variable(tf.zeros([1]))
params.append(b)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
decay = 0.0
for one in params:
    decay += 0.1 * tf.nn.l2_loss(one)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss + decay)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print(sess.run([train, loss], feed_dict={x: np.ones([4, 2])})[1])
"""


def test_a_list_of_variables_is_written_out_and_a_sum_begins_by_a_number() -> None:
    after = native(LISTED)
    assert "params = [w, b]\n" in after and "append" not in after
    assert "        decay = 0.0\n        for one in params:\n            decay += " in after


FIRST = "params.append(b)\n"


@pytest.mark.parametrize(
    "text",
    [
        LISTED.replace(FIRST, f"{FIRST}for _ in range(2):\n    params.append(b)\n"),
        LISTED.replace(FIRST, f"print(len(params))\n{FIRST}"),
        LISTED.replace(FIRST, f"{FIRST}params[0] = b\n"),
        LISTED.replace(FIRST, f"{FIRST}params.reverse()\n"),
        LISTED.replace("decay = 0.0\n", "decay = 0.0\nprint(decay)\n"),
    ],
)
def test_a_list_or_a_sum_that_something_else_uses_stays(text: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    why = "a part of the graph, is used outside of `Session.run`"
    assert any(why in message for message in said(result)), said(result)
