"""Devices that a condition decides below what they are otherwise."""

from __future__ import annotations

import pytest

from tests.support.migration import after, run, said

PROGRAM = """\
import sys
import numpy as np
import tensorflow as tf

num_gpus = int(sys.argv[1])
gpus = ['/gpu:%d' % i for i in range(num_gpus)]
if not tf.test.is_gpu_available():
    gpus = ['/cpu:0']
x = tf.placeholder(tf.float32, [None, 3])
parts = tf.split(x, len(gpus))
optimizer = tf.train.AdamOptimizer(0.1)
towers = []
for i, gpu in enumerate(gpus):
    with tf.device(gpu), tf.variable_scope('net', reuse=i > 0):
        w = tf.get_variable('w', [3, 1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(parts[i], w) - 1.0))
        towers.append(optimizer.compute_gradients(loss))
mean = [(tf.add_n([g for g, _ in pairs]) / len(gpus), pairs[0][1]) for pairs in zip(*towers)]
train = optimizer.apply_gradients(mean)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(sess.run([train, loss], {x: np.ones([4, 3])})[1])
"""
CHOICE = """\
if not tf.test.is_gpu_available():
    gpus = ['/cpu:0']
"""
LIST = "['/gpu:%d' % i for i in range(num_gpus)]"


def made(program: str) -> str:
    result = run(program, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    return after(result, program)


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        (CHOICE, f"gpus = ['/cpu:0'] if not tf.test.is_gpu_available() else {LIST}"),
        ("if not gpus:\n    gpus = ['/cpu:0']\n", f"gpus = {LIST} or ['/cpu:0']"),
        ("if len(gpus) == 0:\n    gpus = ['/cpu:0']\n", f"gpus = {LIST} or ['/cpu:0']"),
    ],
)
def test_one_value(choice: str, line: str) -> None:
    assert line in made(PROGRAM.replace(CHOICE, choice))


def test_how_many() -> None:
    text = PROGRAM.replace(CHOICE, "").replace(
        "int(sys.argv[1])\n", "len(sys.argv)\nif num_gpus < 1:\n    num_gpus = 1\n"
    )
    text = text.replace("for i, gpu in enumerate(gpus)", "for i in range(num_gpus)")
    text = text.replace("tf.device(gpu)", "tf.device('/gpu:%d' % i)")
    text = text.replace("len(gpus)", "num_gpus").replace(f"gpus = {LIST}\n", "")
    assert "num_gpus = 1 if len(sys.argv) < 1 else len(sys.argv)" in made(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What is otherwise there does more than compute, or is asked for between.
        (LIST, "list(map(str, open('gpus')))"),
        (CHOICE, f"print(gpus)\n{CHOICE}"),
        # Another arm; a third value.
        (CHOICE, f"{CHOICE}else:\n    print('found')\n"),
        (CHOICE, f"{CHOICE}if num_gpus > 4:\n    gpus = gpus[:4]\n"),
    ],
)
def test_stays(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}
    assert "`gpus`, which decides the devices, changes" in " ".join(said(result))
