"""What a session's program computes on devices that it tells stays there."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

HEAD = """\
import numpy as np
import tensorflow as tf

with tf.device('/cpu:0'):
    x = tf.placeholder(tf.float32, [None, 2])
rows = np.ones([2, 2])
"""
MODEL = """\
with tf.device('/gpu:0'):
    # of the lower half
    w = tf.Variable(tf.zeros([2, 1]), name="w")
    v = tf.Variable(
        tf.zeros([1]),
        name="v")
    out = tf.matmul(x, w)
with tf.device('/gpu:1'):
    loss = tf.reduce_mean(out + v)
"""
TRAIN = "train = tf.train.AdamOptimizer(0.1).minimize(loss)\n"


def test_variables_are_made_where_they_were_and_values_computed_there() -> None:
    after = native(program(MODEL + TRAIN, head=HEAD))
    assert (
        "# of the lower half\n"
        "with tf.device('/gpu:0'):\n"
        '    w = tf.Variable(tf.zeros([2, 1]), name="w")\n'
        "    v = tf.Variable(\n"
        "        tf.zeros([1]),\n"
        '        name="v")\n'
    ) in after
    assert (
        "        with tf.device('/gpu:0'):\n"
        "            out = tf.matmul(x, w)\n"
        "        with tf.device('/gpu:1'):\n"
        "            loss = tf.reduce_mean(out + v)\n"
        "    gradients = tape.gradient(loss, variables)\n"
    ) in after
    assert after.startswith(HEAD[: HEAD.index("with")])
    assert "/cpu:0" not in after  # nothing is computed there


def test_gradients_are_computed_where_they_are_asked_for() -> None:
    train = f"with tf.device('/gpu:1'):\n    {TRAIN}"
    after = native(program(MODEL + train, head=HEAD))
    assert (
        "    with tf.device('/gpu:1'):\n"
        "        gradients = tape.gradient(loss, variables)\n"
        "        optimizer.apply_gradients(zip(gradients, variables))\n"
    ) in after
    inline = train.replace("(loss)", "(loss * 2.0)")
    after = native(program(MODEL + inline, "sess.run(train, {x: rows})\n", head=HEAD))
    assert (
        "        with tf.device('/gpu:1'):\n"
        "            loss = tf.reduce_mean(out + v)\n"
        "        with tf.device('/gpu:1'):\n"
        "            loss_value = loss * 2.0\n"
    ) in after


def within(run_line: str) -> str:
    """A program whose session is made, and runs, in a block that tells a device."""
    text = program(MODEL + TRAIN, run_line, head=HEAD)
    begin = text.index("sess = tf.Session")
    inner = "".join(f"    {line}\n" for line in text[begin:].splitlines())
    return f"{text[:begin]}with tf.device('/gpu:0'):\n{inner}"


def test_a_block_around_the_session_goes() -> None:
    after = native(within("value, _ = sess.run([loss, train], {x: rows})\n"))
    assert "\nvalue = train_step(rows).numpy()\n" in after


STAYS = {
    "one in another": MODEL.replace("    out =", "    with tf.device('/cpu:0'):\n        out ="),
    "a function of the operation": MODEL.replace("'/gpu:1'", "lambda op: '/gpu:1'"),
    "another machine": MODEL.replace("'/gpu:1'", "'/job:ps/task:0'"),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_is_not_followed_stays(name: str) -> None:
    text = program(STAYS[name] + TRAIN, head=HEAD)
    assert [one.state for one in run(text, native_sessions=True).programs] != ["native"]


def test_what_is_built_where_it_runs_has_no_device() -> None:
    line = "sess.run(train, {x: rows})\nprint(sess.run(out * 2.0, {x: rows}))\n"
    result = run(within(line), bridge=True, native_sessions=True)
    assert any("built where it is run, on a device" in one for one in said(result)), said(result)


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        (("/gpu:0", "/gpu:1"), True),
        (("/cpu:0", "/cpu:0"), True),
        (("/gpu:0", "/device:GPU:0"), False),
    ],
)
def test_an_update_is_not_compiled_for_one_device_alone(
    devices: tuple[str, str], told: bool
) -> None:
    """Where Keras 2 finds a GPU, it compiles updates, and XLA stops with variables elsewhere."""
    head = HEAD.replace("with tf.device('/cpu:0'):\n    x", "x")
    model = MODEL.replace("/gpu:1", "second").replace("/gpu:0", devices[0])
    after = native(program(model.replace("second", devices[1]) + TRAIN, head=head))
    line = "optimizer.build(variables)\n"
    assert line in after
    after = after[after.index(line) + len(line) :]
    no_xla = "# XLA wants a variable and what is kept of it on one device.\n"
    assert after.startswith(f"{no_xla}optimizer.jit_compile = False\n") is told


SEVERAL_LINES = """\
import numpy as np
import tensorflow as tf


def build():
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable(tf.zeros([2, 1]))
    train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.matmul(x, w)))
    return x, train


graph = tf.Graph()
with graph.as_default():
    x, train = build()
    config = tf.ConfigProto(
        allow_soft_placement=True,
        log_device_placement=False)
    sess = tf.Session(graph=graph, config=config)
    with sess.as_default():
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: np.ones([2, 2])})
"""


@pytest.mark.parametrize("builds", [True, False])
def test_a_configuration_of_several_lines_stands_in_a_block_that_goes(builds: bool) -> None:
    text = SEVERAL_LINES
    if not builds:
        inner = text[text.index("    x = tf") : text.index("    return")]
        text = text.replace("    x, train = build()\n", inner)
        text = text.replace(text[text.index("def build") : text.index("graph =")], "")
    after = native(text)
    assert "\ntf.config.set_soft_device_placement(True)\n" in after
    assert "log_device_placement" not in after
