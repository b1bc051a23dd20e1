"""Lines that print what towers are built of: which go, and which keep their program."""

from __future__ import annotations

import pytest

from migrate_mgpu.models.normalize.printed_parts import TOLD
from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

num_gpus = 2
RATE = 0.1


def average_gradients(tower_grads):
    average = []
    for grad_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grad_and_vars])
        average.append((tf.reduce_mean(grads, 0), grad_and_vars[0][1]))
    return average


def tower_loss(x):
    output = tf.matmul(x, w)
{inner}
    return tf.reduce_mean(tf.square(output))


w = tf.Variable(tf.zeros([3, 1]))
x = tf.placeholder(tf.float32, [None, 3])
parts = tf.split(x, num_gpus)
optimizer = tf.train.GradientDescentOptimizer(RATE)
tower_grads = []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i):
        loss = tower_loss(parts[i])
        grads = optimizer.compute_gradients(loss)
{line}
        tower_grads.append(grads)
grads = average_gradients(tower_grads)
{behind}
train = optimizer.apply_gradients(grads)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(3):
    print(sess.run([loss, train], {{x: np.ones([4, 3])}}))
"""


def text(line: str = "        pass", inner: str = "    pass", behind: str = "") -> str:
    return PROGRAM.format(line=line, inner=inner, behind=behind)


@pytest.mark.parametrize(
    ("line", "inner", "behind"),
    [
        ("        print('loss ----')\n        print(loss)", "    pass", ""),
        ("        for pair in grads:\n            print(pair[0], pair[1])", "    pass", ""),
        ("        for i in grads:\n            print(i)", "    pass", ""),
        ("        pass", "    print('output', output, output.get_shape())", ""),
        ("        pass", "    size = output.get_shape()[1].value\n    print('is', size)", ""),
        ("        pass", "    if num_gpus:\n        print(output)", ""),
        ("        pass", "    pass", "for pair in grads:\n    print(pair)"),
        ("        print('there are', len(grads))", "    pass", ""),
    ],
)
def test_what_only_shows_the_graph_goes_and_is_told(line: str, inner: str, behind: str) -> None:
    program = text(line, inner, behind)
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert TOLD in said(result)
    after, _ = migrated(program, bridge=True, native_sessions=True)
    assert after.count("print(") == 1, after


@pytest.mark.parametrize(
    "line",
    [
        "        print('rate', RATE)",  # Python's own
        "        print('tower')",  # beside nothing of the graph
        "        print(loss, file=open('log', 'w'))",
        "        print('tower', i, loss)",
    ],
)
def test_what_prints_something_else_keeps_its_program(line: str) -> None:
    result = run(text(line), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    shown = line.strip()[:40]
    told = "\n".join(said(result))
    assert f"`{shown}" in told, told
    assert "in the loop over the devices, is not part of a tower" in told


def test_a_loop_stays_whose_name_is_read_behind_it() -> None:
    line = "        for last in grads:\n            print(last)\n        tower_grads.append([last])"
    result = run(text(line), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    assert TOLD not in said(result)
