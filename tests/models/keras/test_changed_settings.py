"""A setting that a network's `call` uses has one value: a later one would be used there, too."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])


def network(inputs, depth):
    sizes = [4]
    BEFORE
    hidden = tf.layers.dense(inputs, sizes[-1]) * sizes[0]
    BEHIND
    return tf.layers.dense(hidden, len(sizes) + depth)


loss = tf.reduce_mean(tf.square(network(x, 2) - y))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    data = np.random.RandomState(0).rand(8, 3)
    print(sess.run([loss, train], {x: data, y: data[:, :1]})[0])
"""
ESTIMATOR = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    sizes = [4, 7]
    hidden = tf.layers.dense(features, sizes[-1]) * sizes[-1]
    last = sizes.pop()
    out = tf.layers.dense(hidden, sizes[-1] + last)
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(lambda: tf.data.Dataset.range(8).batch(4), steps=4)
"""
CHANGES = (
    "sizes.append(7)",
    "sizes[0] = 7",
    "sizes = [7]",
    "sizes += [7]",
)


def written(before: str, behind: str) -> str:
    return PROGRAM.replace("BEFORE", before).replace("BEHIND", behind)


@pytest.mark.usefixtures("builders_stay")
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_behind_its_use_stays(change):
    text, said = migrated(written("pass", change), bridge=True, native_sessions=True)
    assert "tensorflow.compat.v1" in text
    assert any("`sizes` changes behind where the network uses it" in one for one in said)


@pytest.mark.parametrize("change", ["sizes.append(7)", "sizes = [7]"])
def test_a_change_before_it_and_what_call_does_not_use_become_native(change):
    text, _ = migrated(written(change, "depth = depth + 1"), native_sessions=True)
    assert "class Network(tf.keras.layers.Layer):" in text and "depth = depth + 1" in text


def test_another_arm_changes_nothing_here():
    """One arm is the network's: what the other does with its own list comes to nobody."""
    arms = """if depth:
        sizes = [5]
        hidden = inputs * sizes[0]
    else:
        sizes = [6]
        sizes.append(8)
        hidden = inputs * sizes[0]"""
    program = PROGRAM.replace("    BEHIND\n", "").replace("BEFORE", arms)
    program = program.replace(
        "layers.dense(inputs, sizes[-1]) * sizes[0]", "layers.dense(hidden, 3)"
    )
    text, said = migrated(program, native_sessions=True)
    assert "class Network(tf.keras.layers.Layer):" in text, said
    assert "self.sizes.append(8)" in text


def test_a_list_that_gets_shorter_stays():
    """In an Estimator's network; what builds a session's graph takes nothing out of a list."""
    stays(ESTIMATOR, "`sizes` changes behind where the network uses it")


@pytest.mark.usefixtures("builders_stay")
def test_a_change_in_call_stays():
    """It would be made anew with each call."""
    _, said = migrated(written("sizes[0] = 7", "pass"), bridge=True, native_sessions=True)
    assert any("`sizes` changes" in one for one in said)
