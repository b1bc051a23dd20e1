"""Loops that compute on one device after the other, and what a step waits for."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, run, said

LOOP = """\
import numpy as np
import tensorflow as tf

{above}
partial = []
for device in {devices}:
    with tf.device({device}):
{body}
with tf.device('/cpu:0'):
    total = tf.add_n(partial)
sess = tf.Session()
{behind}
print(sess.run(total{fed}))
"""
BODY = """\
        a = tf.constant([0.5, 1.0], shape=[1, 2])
        partial.append(tf.matmul(a, {other}))
"""
TOWERS = """\
import numpy as np
import tensorflow as tf

num_gpus = 2


def average_gradients(tower_grads):
    average = []
    for grad_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grad_and_vars])
        average.append((tf.reduce_mean(grads, 0), grad_and_vars[0][1]))
    return average


x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3, 1]))
parts = tf.split(x, num_gpus)
optimizer = tf.train.GradientDescentOptimizer(0.1)
tower_grads = []
losses = []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i):
        loss = tf.reduce_mean(tf.square(tf.matmul(parts[i], w) - 1.0))
        tower_grads.append(optimizer.compute_gradients(loss))
        losses.append(loss)
size = tf.reduce_sum(tf.square(w))
noise = tf.random_normal([])
grads = average_gradients(tower_grads)
{step}
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(3):
    print(sess.run([loss, train], {{x: np.ones([4, 3])}}))
"""


def state(program: str) -> str:
    result = run(program, bridge=True, native_sessions=True)
    return result.programs[0].state


def loop(
    above: str = "",
    devices: str = "['/gpu:2', '/gpu:3']",
    device: str = "device",
    other: str = "tf.constant([1.0, 2.0], shape=[2, 1])",
    behind: str = "",
    fed: str = "",
) -> str:
    return LOOP.format(
        above=above,
        devices=devices,
        device=device,
        body=BODY.format(other=other),
        behind=behind,
        fed=fed,
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"devices": "range(2)", "device": "'/gpu:%d' % device"},
        {"above": "names = ['/gpu:%d' % i for i in range(2)]", "devices": "names"},
        {
            "above": "x = tf.placeholder(tf.float32, [2, 1])",
            "other": "x",
            "fed": ", {x: np.ones([2, 1])}",
        },
    ],
)
def test_a_loop_over_devices(given: dict[str, str]) -> None:
    program = loop(**given)
    assert state(program) == "native"
    text = migrated(program, bridge=True, native_sessions=True)[0]
    told = given.get("device", "device")
    assert f"        with tf.device({told}):\n            a = tf.constant" in text
    assert "    with tf.device('/cpu:0'):\n        total = tf.add_n(partial)" in text
    assert "tf.config.set_soft_device_placement(False)" in text.partition("@tf.function")[0]


def test_what_tells_places_goes_and_is_told() -> None:
    program = loop(behind="print([p.device for p in partial])")
    text = migrated(program, bridge=True, native_sessions=True)[0]
    assert "p.device" not in text
    result = run(program, bridge=True, native_sessions=True)
    assert any("it printed what a tensor of the graph is called" in one for one in said(result))


@pytest.mark.parametrize(
    "given",
    [
        # A device function is no text.
        {"above": "def first(op):\n    return '/gpu:0'\n", "devices": "[first]"},
        {"devices": "[None, '/gpu:1']"},
        {"above": "names = ['/gpu:0']\nnames.append('/gpu:1')", "devices": "sorted(names)"},
        # What is printed is more than what it is called.
        {"behind": "print([p.get_shape() for p in partial])"},
        {"behind": "print([p.device for p in partial if p.device])"},
        {"other": "tf.Variable(tf.ones([2, 1]))", "behind": ""},
    ],
)
def test_other_loops_stay(given: dict[str, str]) -> None:
    assert state(loop(**given)) == "bridge"


def test_constants_without_devices_stay() -> None:
    program = "import tensorflow as tf\na = tf.constant(2.0)\nprint(tf.Session().run(a * a))\n"
    assert state(program) == "bridge"


@pytest.mark.parametrize("given", ["losses", "[loss]", "[loss, grads[0][0]]"])
def test_a_step_waits_for_its_losses(given: str) -> None:
    step = f"with tf.control_dependencies({given}):\n    train = optimizer.apply_gradients(grads)"
    expected = "bridge" if "grads[" in given else "native"
    assert state(TOWERS.format(step=step)) == expected
    if expected == "native":
        text = migrated(TOWERS.format(step=step), bridge=True, native_sessions=True)[0]
        plain = TOWERS.format(step="train = optimizer.apply_gradients(grads)")
        assert text == migrated(plain, bridge=True, native_sessions=True)[0]


@pytest.mark.parametrize("given", ["[loss, size]", "[noise]", "losses + [size]", "[train_again]"])
def test_a_step_that_waits_for_more_stays(given: str) -> None:
    step = f"with tf.control_dependencies({given}):\n    train = optimizer.apply_gradients(grads)"
    if "again" in given:
        step = f"train_again = w.assign_add(tf.ones([3, 1]))\n{step}"
    assert state(TOWERS.format(step=step)) == "bridge"


def test_a_block_around_something_else_stays() -> None:
    own = "class Own:\n    def minimize(self, value):\n        return value\n\n\nown = Own()\n"
    step = (
        "train = optimizer.apply_gradients(grads)\n"
        "with tf.control_dependencies(losses):\n    other = own.minimize(3)"
    )
    program = TOWERS.format(step=step).replace("x = tf.placeholder", f"{own}x = tf.placeholder")
    assert state(program) == "bridge"
    assert state(program.replace("with tf.control_dependencies(losses):", "if True:")) == "native"
