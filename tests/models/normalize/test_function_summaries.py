"""Parts of an object's graph that other functions make, and the sessions that each makes."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Net(object):
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        self.keep_prob = tf.placeholder(tf.float32)
        w = tf.get_variable("w", [size, 1])
        out = tf.contrib.layers.dropout(tf.matmul(self.x, w), self.keep_prob)
        self.loss = tf.reduce_mean(tf.square(out - 1.0))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


def feed(keep_prob):
    return {net.x: np.ones([2, 3]), net.keep_prob: keep_prob}


def train():
    tf.summary.scalar("loss", net.loss)
    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter("log")
    # the last one
    saver = tf.train.Saver(max_to_keep=1)

    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    writer.add_graph(sess.graph)
    for step in range(3):
        _, told = sess.run([net.train, merged], feed_dict=feed(0.5))
        writer.add_summary(told, step)
    saver.save(sess, "run/model")
    sess.close()


def test():
    sess = tf.Session()
    saver = tf.train.Saver()
    saver.restore(sess, "run/model")
    print(sess.run(net.loss, feed_dict=feed(1.0)))


if __name__ == "__main__":
    net = Net(3)
    train()
    test()
"""


def result(text: str) -> tuple[str, str, str]:
    """What becomes of a program, its text, and what is said of it."""
    found = run(text, native_sessions=True, bridge=True)
    (program,), (file,) = found.programs, found.files
    return program.state, str(file.after), "\n".join(said(found))


def test_the_constructor_makes_them() -> None:
    state, after, why = result(PROGRAM)
    assert state == "native", why
    constructor, _, rest = after.partition("def feed")
    assert 'tags="loss"' in constructor
    assert "# the last one\n    saver = Saver(net.checkpoint_variables, max_to_keep=1)\n" in rest
    assert "sess" not in rest
    assert "tf.nn.dropout(tf.matmul(x, w), rate=1 - keep_prob)" in constructor
    assert "    saver = Saver(net.checkpoint_variables)\n    saver.restore(" in rest


def test_the_graph_is_written_of_a_step_that_the_function_knows() -> None:
    # `train_step` alone is a name of the constructor's: the native program ended with it.
    _, after, _ = result(PROGRAM)
    assert "tf.summary.graph(net.train_step.get_concrete_function().graph)" in after
    other = PROGRAM.replace(
        "def test():\n    sess = tf.Session()\n",
        "def test():\n    sess = tf.Session()\n"
        '    events = tf.summary.FileWriter("log", sess.graph)\n',
    )
    state, after, why = result(other)
    assert state == "native" and after.count("tf.summary.graph(") == 1, why
    assert "the graph is not written for TensorBoard: no step is known here" in why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        # In TF1 it makes a second summary, with another name, at each call.
        ("    train()\n", "    train()\n    train()\n", "may be made more than once"),
        # A summary of another function is in `merge_all`, where it comes before.
        ("def test():\n", "def test():\n    tf.summary.scalar('other', net.loss)\n", "`merged`"),
        # What is saved would be another set of variables: the savers stay, and are not understood.
        ("    # the last one\n", "    tf.Variable(3.0)\n", "`tf.Variable` is not supported"),
    ],
)
def test_what_would_be_another_one_stays(old: str, new: str, why: str) -> None:
    state, _, told = result(PROGRAM.replace(old, new))
    assert state == "bridge" and why in told, told


def test_sessions_that_do_not_restore_stay_apart() -> None:
    again = PROGRAM.replace(
        'saver.restore(sess, "run/model")', "sess.run(tf.global_variables_initializer())"
    )
    state, _, why = result(again)
    assert state == "bridge"
    assert "a later session starts without restoring a checkpoint" in why


def test_a_session_that_is_kept_is_no_block() -> None:
    kept = PROGRAM.replace("    sess.close()\n", "    return sess\n")
    state, _, why = result(kept)
    assert state == "bridge"
    assert "it makes more than one session" in why


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("tf.contrib.layers.dropout(x, keep_prob=rate, scope='d')",
         "tf.nn.dropout(x, rate=1 - rate, name='d')"),
        ("tf.layers.dropout(x, 1 - rate, training=True)", "tf.nn.dropout(x, rate=1 - rate)"),
        ("tf.layers.dropout(x, 1 - rate)", ""),
        ("tf.contrib.layers.dropout(x, rate, is_training=rate < 1)", ""),
    ],
)  # fmt: skip
def test_dropout_of_a_rate_that_is_fed(call: str, written: str) -> None:
    text = f"""\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
rate = tf.placeholder(tf.float32, [])
w = tf.get_variable("w", [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul({call}, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([loss, train], {{x: np.ones([2, 3]), rate: 0.5}})[0])
"""
    state, after, why = result(text)
    assert (state == "native") is bool(written), why
    assert written in after
    if not written:
        assert "a part of the graph" in why


def test_a_run_that_is_fed_by_a_call_is_named_where_it_is_a_statement() -> None:
    state, after, why = result(PROGRAM)
    assert state == "native", why
    assert "    fed = feed(1.0)\n    print(net.compute_loss(**fed).numpy())\n" in after
    several = "[sess.run(net.loss, feed(k)) for k in (0.5, 1.0)]"
    run_once = "print(sess.run(net.loss, feed_dict=feed(1.0)))"
    state, _, why = result(PROGRAM.replace(run_once, several))
    assert state == "bridge"
    assert "what is fed cannot be determined" in why
