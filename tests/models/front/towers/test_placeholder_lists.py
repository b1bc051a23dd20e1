"""Lists of placeholders, one for each tower: how they are made and fed, and what keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "towers"

PROGRAM = """\
import numpy as np
import tensorflow as tf

num_gpus = 2


def average_gradients(tower_grads):
    average = []
    for grad_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grad_and_vars])
        average.append((tf.reduce_mean(grads, 0), grad_and_vars[0][1]))
    return average


w = tf.Variable(tf.zeros([3, 1]))
optimizer = tf.train.GradientDescentOptimizer(0.1)
tower_grads = []
{made}
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i):
{taken}
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        tower_grads.append(optimizer.compute_gradients(loss))
train = optimizer.apply_gradients(average_gradients(tower_grads))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
parts = np.ones([2, 4, 3])
for step in range(3):
{fed}
"""
BEFORE = "xs = [tf.placeholder(tf.float32, [None, 3]) for _ in range(num_gpus)]"
INSIDE = "        x = tf.placeholder(tf.float32, [None, 3])\n        xs.append(x)"
TAKEN = "        x = xs[i]"
FED = "    print(sess.run([loss, train], {xs[i]: parts[i] for i in range(num_gpus)}))"


def text(made: str = BEFORE, taken: str = TAKEN, fed: str = FED) -> str:
    return PROGRAM.format(made=made, taken=taken, fed=fed)


def native(program: str) -> str:
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    return migrated(program, bridge=True, native_sessions=True)[0]


@pytest.mark.parametrize(
    ("made", "taken"),
    [
        (BEFORE, TAKEN),
        ("xs = []", INSIDE),
        ("xs, others = [], []", INSIDE + "\n        others.append(tf.reduce_sum(x))"),
        (
            "xs = []",
            "        xs.append(tf.placeholder(tf.float32, [None, 3], name='x%d' % i))\n"
            "        x = tf.identity(xs[-1])",
        ),
        ("xs = []", INSIDE.replace("32, [", "32,\n                           [")),
    ],
)
def test_a_list_is_one_parameter(made: str, taken: str) -> None:
    after = native(text(made, taken))
    assert "xs_spec = [tf.TensorSpec([None, 3], tf.float32)] * num_gpus\n" in after
    assert "@tf.function(input_signature=[xs_spec])\n" in after
    assert "xs[i]" in after.partition("def part(")[2].partition("return strategy")[0]


@pytest.mark.parametrize(
    ("fed", "written"),
    [
        (FED, "train_step([parts[i] for i in range(num_gpus)])"),
        (FED.replace("{xs[i]: parts[i] for i in range(num_gpus)}",
                     "{xs[1]: parts[1], xs[0]: parts[0]}"), "train_step([parts[0], parts[1]])"),
        (FED.replace("{xs[i]: parts[i] for i in range(num_gpus)}", "dict(zip(xs, parts))"),
         "train_step(list(parts))"),
        (FED.replace("{xs[i]: parts[i] for i in range(num_gpus)}",
                     "{x: p * 2 for x, p in zip(xs, parts)}"),
         "train_step([p * 2 for p in parts])"),
        ("    feed = {}\n    for number, one in enumerate(parts):\n        pass\n"
         "    for i in range(len(xs)):\n        feed[xs[i]] = parts[i]\n"
         "    print(sess.run([loss, train], feed_dict=feed))",
         '    feed = {"xs": fed_xs}\n'),
    ],
)  # fmt: skip
def test_what_a_list_is_fed(fed: str, written: str) -> None:
    assert written in native(text(fed=fed)).replace("'", '"')


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (text(fed=FED.replace("xs[i]: parts[i] for i in range(num_gpus)", "xs[0]: parts[0]")),
         "something other than a named placeholder is fed"),
        (text(fed=FED.replace("range(num_gpus)", "range(1)")), "what is fed cannot be determined"),
        (text(made=BEFORE.replace("None, 3", "_ + 1, 3")),
         "placeholders of a list that are not alike"),
        (text(fed="    feed = {xs[i]: parts[i] for i in range(num_gpus)}\n    print(len(feed))\n"
                  "    print(sess.run([loss, train], feed))"),
         "`feed`, a dictionary of feeds, has another use as well"),
    ],
)  # fmt: skip
def test_stays(program: str, reason: str) -> None:
    result = run(program, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge"}, said(result)
    assert reason in " ".join(said(result))


RUNS = """\
    for i in range(num_gpus):
        feed[xs[i]] = parts[i]
    print(session.run([loss, train], feed_dict=feed))
"""


def by_function(fed: str, called: str = "epoch(sess, xs, parts, loss, train)") -> str:
    """The program with its loop of steps in a function."""
    program = text(fed="    pass")
    head, below, tail = program.partition("w = tf.Variable")
    given = "def epoch(session, xs, parts, loss, train):\n    feed = {}\n" + fed + "\n\n"
    return head + given + below + tail + called + "\n"


def test_a_function_feeds_the_list_that_it_is_given() -> None:
    after = native(by_function(RUNS))
    assert "fed_xs.append(parts[i])" in after and "'xs': fed_xs" in after


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        # the count means another number in the function
        (by_function(RUNS.replace("    for", "    num_gpus = 1\n    for", 1)), "what is fed"),
        # a call gives it something else
        (by_function(RUNS, "epoch(sess, xs, parts, loss, train)\n"
                           "epoch(sess, xs[:], parts, loss, train)"), "what is fed"),
    ],
)  # fmt: skip
def test_a_function_that_is_given_more_stays(program: str, reason: str) -> None:
    result = run(program, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge"}, said(result)
    assert reason in " ".join(said(result))


def test_a_list_of_flags_tells_no_layer_whether_it_trains() -> None:
    """Keras 3's layers ask Python, which has no value for a tensor."""
    program = (FIXTURES / "fed_by_function" / "before.py").read_text()
    flags = program.replace(
        "keep_pl = tf.placeholder(tf.float32", "keep_pl = tf.placeholder(tf.bool"
    )
    told = flags.replace("tf.nn.dropout(net, keep)", "tf.layers.dropout(net, training=keep)")
    assert len({program, flags, told}) == 3
    result = run(told, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert "`keep_phs[i]`, a layer's training mode, is computed" in " ".join(said(result))
