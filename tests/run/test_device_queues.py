"""Queues that a bridge makes on a GPU are told: TensorFlow 2.x leaves them there."""

from __future__ import annotations

import pytest

from tests.support.migration import run

TRAIN = """\
import tensorflow as tf
import data

with tf.device("/cpu:0"):
    for i in range(2):
        with {device}:
            images = data.batch()
{beside}
config = tf.ConfigProto(allow_soft_placement=True)
with tf.Session(config=config) as sess:
    tf.train.start_queue_runners(sess)
    print(sess.run(images))
"""
DATA = """\
import tensorflow as tf


def lines():
    names = tf.train.string_input_producer(["a.csv"])
    _, line = tf.TextLineReader().read(names)
    return line


def batch():
    return {made}
"""
GPU = 'tf.device("/gpu:%d" % i)'
SHUFFLED = "tf.train.shuffle_batch([lines()], 4, 9, 2)"


def told(device: str, made: str = SHUFFLED, beside: str = "", bridge: bool = True) -> list[str]:
    """The places of queues that are told, in a program that becomes a bridge."""
    train = TRAIN.format(device=device, beside=beside)
    found = run(("train.py", train), ("data.py", DATA.format(made=made)), bridge=bridge)
    (program,) = [one for one in found.programs if one.entry.name == "train.py"]
    assert program.state == "bridge"
    places = [
        f"{g.path.name}:{g.line}"
        for g in found.findings
        if g.code == "MGPU908" and "made below a GPU's `tf.device`" in g.message
    ]
    assert ("but for what MGPU908 names" in program.runs_on) == bool(places)
    return places


def test_a_queue_that_a_function_makes_in_a_tower() -> None:
    assert told(GPU) == ["data.py:5"]


@pytest.mark.parametrize(
    "device",
    [
        'tf.device("/gpu:{}".format(i)), tf.name_scope("tower")',
        "tf.device(DEVICES[i])",
        'tf.device(tf.train.replica_device_setter(worker_device="/gpu:0", ps_device="/cpu:0"))',
    ],
)
def test_devices_in_their_spellings(device: str) -> None:
    text = TRAIN.replace("with tf.device", 'DEVICES = ["/gpu:0", "/gpu:1"]\nwith tf.device', 1)
    train = text.format(device=device, beside="")
    found = run(("train.py", train), ("data.py", DATA.format(made=SHUFFLED)), bridge=True)
    assert any("made below a GPU's" in one.message for one in found.findings)


def test_batches_are_a_queue_of_their_own() -> None:
    assert told(GPU, "tf.train.batch([lines()], 4)") == ["data.py:5", "data.py:11"]


@pytest.mark.parametrize("made", ["tf.train.batch([lines()], 4, dynamic_pad=True)", SHUFFLED])
def test_queues_of_other_kinds_lie_on_the_cpu(made: str) -> None:
    assert told(GPU, made) == ["data.py:5"]


def test_the_innermost_device_counts() -> None:
    assert told('tf.device("/cpu:0")') == []
    assert told(f'{GPU}, tf.device("/cpu:0")') == []
    assert told(f"{GPU}, tf.device(None)") == []
    assert told(f'tf.device("/cpu:0"), {GPU}') == ["data.py:5"]


def test_one_call_in_a_tower_is_enough() -> None:
    assert told('tf.device("/cpu:0")', beside=f"with {GPU}:\n    data.batch()\n") == ["data.py:5"]


def test_the_way_out_is_told() -> None:
    found = run(
        ("train.py", TRAIN.format(device=GPU, beside="")),
        ("data.py", DATA.format(made=SHUFFLED)),
        bridge=True,
    )
    advice = [one.advice for one in found.findings if one.code == "MGPU908"]
    assert advice == ['make it below `tf.device("/cpu:0")`']
