"""Lines that print what towers are built of: which go, and which keep their program."""

from __future__ import annotations

import pytest

from migrate_mgpu.models.normalize.sessions.printed_parts import TOLD
from tests.support.migration import after, migrated, run, said

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


SHOWS = """\
import tensorflow as tf


def dense(x, size, name):
    with tf.variable_scope(name):
        w = tf.get_variable('w', [3, size])
        if size > 1:
            return tf.nn.relu(tf.matmul(x, w))
        else:
            return tf.matmul(x, w)


{function}


x = tf.placeholder(tf.float32, [None, 3])
out = dense(x, 3, 'one')
show(out)
out = dense(tf.nn.dropout(out, 0.5), 1, 'two')
{call}
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(out)))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(train, {{x: [[1.0, 2.0, 3.0]]}})
"""
SHOW = "def show(t):\n    print('{}: {}'.format(t.op.name, t.get_shape().as_list()))"


@pytest.mark.parametrize(
    "function",
    [
        SHOW,
        "def show(t):\n    '''Shows a tensor.'''\n    print(t)\n    print(t.get_shape())",
    ],
)
def test_a_function_that_only_shows_the_graph_goes(function: str) -> None:
    program = SHOWS.format(function=function, call="show(out)")
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert said(result).count(TOLD) == 3  # the function, and its two calls
    text = after(result, program)
    assert "show" not in text and "\n\n\n\n" not in text, text


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (SHOW, "show(tf.shape(out) if open('a') else 3)"),  # not surely of the graph
        (SHOW, "shown = show(out)"),
        (SHOW, "show(out)\nshows = [show]"),
        (SHOW, "show(*[out])"),
        ("def show(t, n=3):\n    print(t, n)", "show(out)"),  # a number of Python's own
        ("def show(t):\n    global seen\n    seen = t\n    print(t)", "show(out)"),
        ("def show(t):\n    print(t, len(open('a').read()))", "show(out)"),
        ("def show(t):\n    print('a tensor')", "show(out)"),
    ],
)
def test_a_function_that_may_do_more_keeps_its_program(function: str, call: str) -> None:
    program = SHOWS.format(function=function, call=call)
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert TOLD not in said(result)
    assert any("is used outside of" in one or "show" in one for one in said(result)), said(result)


@pytest.mark.parametrize("head", ["import tensorflow as tf\n\n\n", ""])
def test_a_function_of_another_module_stays_there(head: str) -> None:
    """For those who import it; it may import nothing of TensorFlow's."""
    program = SHOWS.format(function="from shown import show", call="show(out)")
    files = (program, ("shown.py", f"{head}{SHOW}\n"))
    result = run(*files, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    assert said(result).count(TOLD) == 2
    text = after(result, *files)
    assert "show(out)" not in text and SHOW in text, text


SHAPES = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [4, 3])
w = tf.Variable(tf.zeros([3, 2]))
out = tf.matmul(x, w)
print(out.shape)
loss = tf.reduce_mean(tf.square(out))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train, {x: np.ones([4, 3])})
"""


def test_a_shape_that_each_turn_prints_keeps_its_program() -> None:
    """TF1 printed it beside the steps: it is a line of the run, and no look at the graph."""
    states = {one.state for one in run(SHAPES, bridge=True, native_sessions=True).programs}
    assert states == {"native"}
    inside = f"{SHAPES}        print(out.shape)\n"
    result = run(inside, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert any("`out`, a part of the graph, is used outside" in one for one in said(result))
