"""Iterators of datasets beside an object that has the graph."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 2])
        w = tf.get_variable("w", [2, 1])
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w) - 1.0))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


def main():
    rows = np.ones([8, 2], np.float32)
    data = tf.data.Dataset.from_tensor_slices((rows, rows))
    data = data.batch(3)
    iterator = data.make_initializable_iterator()
    element = iterator.get_next()
    model = Model()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(2):
            sess.run(iterator.initializer)
            while True:
                try:
                    x, y = sess.run(element)
                except tf.errors.OutOfRangeError:
                    break
                sess.run(model.train, {model.x: x})


main()
"""
MAKE = "data.make_initializable_iterator()"
BEGIN = "            sess.run(iterator.initializer)\n"
DRAW = "x, y = sess.run(element)"
BATCH = "data = data.batch(3)"
FETCHES = "what `{}` fetches cannot be determined"


def test_the_dataset_is_gone_through() -> None:
    text, _ = migrated(PROGRAM, native_sessions=True)
    assert "        iterator = iter(data)\n" in text
    assert "x, y = [value.numpy() for value in iterator.get_next()]" in text
    assert "element" not in text


def test_one_that_begins_by_itself() -> None:
    once = changed(PROGRAM, (MAKE, "data.make_one_shot_iterator()"), (BEGIN, ""))
    text, _ = migrated(changed(once, (DRAW, f"pair = sess.run(element)\n{' ' * 20}x = pair[0]")),
                       native_sessions=True)  # fmt: skip
    assert "    iterator = iter(data)\n" in text
    assert "pair = tf.nest.map_structure(lambda value: value.numpy(), iterator.get_next())" in text


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(BATCH, "data = data.map(lambda a, b: (a * 2.0, b)).batch(3)")], FETCHES),
        ([(DRAW, "x = sess.run(element[0])")], "fetches cannot be determined"),
        ([(DRAW, "x, y = sess.run(element, {model.x: rows})")], "fetches cannot be determined"),
        ([(BEGIN, f"{BEGIN}            data = data.skip(1)\n")], "fetches cannot be determined"),
        ([(BEGIN, "            iterator.make_initializer(data)\n")], "fetches cannot be"),
        (
            [("element = iterator", "other = iterator.get_next()\n    element = iterator")],
            "fetches",
        ),
    ],
)
def test_others_stay(pairs: list[tuple[str, str]], reason: str) -> None:
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge", result.files[0].after
    assert any(reason.format("iterator.initializer") in one for one in said(result)), said(result)
