"""Dictionaries that are filled with parts of a graph."""

import pytest

from tests.support.migration import migrated

SCRIPT = """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2])
params = {}
params['w'] = tf.Variable(tf.ones([2, 1]), name='w')
params['b-1'] = tf.Variable(tf.zeros([1]), name='b')
loss = tf.reduce_mean(tf.square(tf.matmul(x, params['w']) + params['b-1']))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [[1.0, 2.0]]})
    print(sess.run(params['w']))
"""

CLASS = """\
import tensorflow as tf


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.weights = self.make()
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.weights['w'])))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def make(self):
        weights = dict()
        weights['w'] = tf.Variable(tf.ones([2, 1]), name='w')
        return weights


net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(net.train, {net.x: [[1.0, 2.0]]})
    print(sess.run(net.weights['w']))
"""

NATIVE = "steps of a session become functions of TF2"
STORED = "a part of the graph is stored in something other than a variable"


def test_items_of_a_script_get_names() -> None:
    text, said = migrated(SCRIPT, native_sessions=True)
    assert NATIVE in said
    assert "w = tf.Variable(tf.ones([2, 1]), name='w')" in text
    assert "b_1 = tf.Variable(" in text and "params" not in text


def test_an_object_has_the_items_that_are_asked_of_it() -> None:
    text, said = migrated(CLASS, native_sessions=True)
    assert NATIVE in said
    assert "self.weights_w = w" in text and "net.weights_w.numpy()" in text
    assert "self.weights = " not in text


def test_a_dictionary_that_is_run_whole_is_written_out() -> None:
    program = CLASS.replace("sess.run(net.weights['w'])", "sess.run(net.weights)")
    text, said = migrated(program, native_sessions=True)
    assert NATIVE in said
    assert "weights = {'w': w}" in text and "net.compute_weights()" in text


@pytest.mark.parametrize(
    "old, new, reason",
    [
        # one name would stand for two variables
        ("loss =", "params['w'] = tf.Variable(tf.ones([2, 1]))\nloss =", STORED),
        ("params['b-1'] = ", "if len(params) == 1:\n    params['b-1'] = ", STORED),
        ("params['b-1'] = ", "for i in range(1):\n    params['b-1'] = ", STORED),
        ("params['b-1'] = ", "print(params)\nparams['b-1'] = ", STORED),
    ],
)  # fmt: skip
def test_a_script_stays(old: str, new: str, reason: str) -> None:
    assert old in SCRIPT
    text, said = migrated(SCRIPT.replace(old, new), bridge=True, native_sessions=True)
    assert any(reason in one for one in said) and NATIVE not in said
    assert "params['w'] = " in text


def test_a_table_with_a_key_that_is_no_constant_stays_a_table() -> None:
    changed = SCRIPT.replace("params['b-1'] = ", "key = 'b-1'\nparams[key] = ")
    text, said = migrated(changed, bridge=True, native_sessions=True)
    assert NATIVE in said and "params[key] = tf.Variable(" in text, said


@pytest.mark.parametrize(
    "old, new, reason",
    [
        # what inherits from it asks for more than it would have
        ("net = Net()",
         "class Deep(Net):\n    def key(self):\n        return self.weights['w']\n\n\nnet = Net()",
         "the class that builds the graph is more than called"),
        ("net = Net()", "def show(one):\n    print(one.weights['w'])\n\n\nnet = Net()",
         "what `net.weights['w']` fetches cannot be determined"),
        ("        return weights", "        print(weights)\n        return weights",
         "what `net.weights['w']` fetches cannot be determined"),
    ],
)  # fmt: skip
def test_a_class_stays(old: str, new: str, reason: str) -> None:
    assert old in CLASS
    _, said = migrated(CLASS.replace(old, new), bridge=True, native_sessions=True)
    assert any(reason in one for one in said) and NATIVE not in said, said


@pytest.mark.parametrize(
    "made, kept",
    [
        ("tf.random_normal_initializer(stddev=0.1)", False),
        ("tf.contrib.layers.xavier_initializer()", False),
        ("tf.random_normal_initializer(stddev=0.1, dtype=tf.float64)", True),
    ],
)
def test_an_initializer_is_called_for_a_first_value(made: str, kept: bool) -> None:
    program = SCRIPT.replace("params = {}", f"draw = {made}\nparams = {{}}")
    program = program.replace("tf.ones([2, 1])", "draw([2, 1])")
    text, said = migrated(program, bridge=True, native_sessions=True)
    assert (NATIVE not in said) is kept
    if kept:
        assert any("depends on `draw`, a part of the graph" in one for one in said)
    else:
        assert "()([2, 1])" in text or "stddev=0.1)([2, 1])" in text


COUNTS = """\
total = 0
for one in params.values():
    shape = one.get_shape()
    number = 1
    for d in shape:
        number *= d.value
    total += number
with tf.Session"""


@pytest.mark.parametrize(
    ("old", "new", "native"),
    [
        ("", "", True),
        ("    number = 1\n    for d in shape:\n        number *= d.value\n",
         "    number = shape.num_elements()\n", True),
        # dimensions of TF2's have no value
        ("number *= d.value", "number = number * d.value", False),
        ("    number = 1\n    for d in shape:\n        number *= d.value\n",
         "    number = shape[0].value\n", False),
        ("one.get_shape()", "one.name", False),
        ("    total += number", "    total += number\n    last = one", False),
    ],
)  # fmt: skip
def test_variables_are_counted(old: str, new: str, native: bool) -> None:
    assert old in COUNTS
    program = SCRIPT.replace("with tf.Session", COUNTS.replace(old, new))
    text, said = migrated(program, bridge=True, native_sessions=True)
    assert (NATIVE in said) is native, said
    if native:
        assert "number = shape.num_elements()\n" in text
    else:
        assert any("a part of the graph, is used outside of" in one for one in said), said
