"""An array of one element that is taken for a number: NumPy 2.5 raises there."""

from __future__ import annotations

import pytest

from tests.support.migration import run

SCRIPT = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 1])
W = {made}
loss = tf.reduce_mean(tf.square(x * W - 2. * x))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for i in range(3):
    sess.run(train_op, feed_dict={{x: np.ones((4, 1))}})
print({shown})
"""
ONE = [
    "tf.Variable(tf.zeros([1]))",
    "tf.Variable([0.5], tf.float32)",
    "tf.Variable(tf.random_normal(shape=(1, 1)))",
    "tf.get_variable('W', [1], initializer=tf.zeros_initializer())",
]


@pytest.mark.parametrize("made", ONE)
@pytest.mark.parametrize(
    "shown, written",
    [
        ('"W: %f" % sess.run(W)', '"W: %f" % W.numpy().item()'),
        ('"%s at %.3f" % ("W", sess.run(W))', '"%s at %.3f" % ("W", W.numpy().item())'),
        ("float(sess.run(W))", "float(W.numpy().item())"),
    ],
)
def test_a_native_program_takes_the_number(made: str, shown: str, written: str) -> None:
    found = run(SCRIPT.format(made=made, shown=shown), bridge=True, native_sessions=True)
    (program,) = found.programs
    assert (program.state, program.runs_on) == ("native", "TF 2.15 and newest")
    assert f"print({written})" in found.files[0].after


@pytest.mark.parametrize(
    "made, shown",
    [
        ("tf.Variable(0.5)", '"W: %f" % sess.run(W)'),  # NumPy takes what has no dimension
        ("tf.Variable(tf.zeros([]))", "float(sess.run(W))"),
        ("tf.Variable(tf.zeros([1]))", '"W: %s" % sess.run(W)'),  # as text, an array
        ("tf.Variable(tf.zeros([1]))", '"%d%%, %s" % (5, sess.run(W))'),
        ("tf.Variable(tf.zeros([1, 2]))", "sess.run(W)"),
    ],
)
def test_what_is_no_array_of_one_element_stays_an_array(made: str, shown: str) -> None:
    found = run(SCRIPT.format(made=made, shown=shown), bridge=True, native_sessions=True)
    assert ".item()" not in found.files[0].after


def test_a_bridge_is_told() -> None:
    script = SCRIPT.format(made=ONE[0], shown='"W: %f" % sess.run(W)')
    found = run(script, bridge=True)
    (program,) = found.programs
    assert program.runs_on == "TF 2.15 and newest, but for what MGPU908 names"
    (one,) = [finding for finding in found.findings if finding.code == "MGPU908"]
    assert one.message == "NumPy 2.5 takes no array of one element for a number"
    assert one.line == 13


def test_an_array_that_is_drawn_of_one_element_is_told() -> None:
    text = """\
import numpy as np
import tensorflow as tf

tf.disable_v2_behavior()
at = int(np.random.choice(8, size=1))
other = int(np.random.choice(8))
with tf.Session() as sess:
    print(at, other)
"""
    found = [
        one.line
        for one in run(text, bridge=True).findings
        if one.message == "NumPy 2.5 takes no array of one element for a number"
    ]
    assert found == [5]
