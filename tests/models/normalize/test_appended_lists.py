"""Lists that a network grows and reads by number: `fixtures/estimator/appended_sizes` runs some."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import numpy as np
import tensorflow as tf


def input_fn():
    data = {{"x": np.ones([8, 4], np.float32)}}, np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(9).batch(4)


def crossed(net, counts):
    sizes = []
    sizes.append(4)
    for number, size in enumerate(counts):
        weights = tf.get_variable("w%d" % number, [sizes[-1], size])
        net = tf.matmul(tf.reshape(net, [-1, sizes[-1]]), weights)
        sizes.append(int(size))
    return net


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(crossed(features["x"], params["counts"]), 3)
{END.format(rate=0.1)}

estimator = tf.estimator.Estimator(model_fn, params={{"counts": "5,6".split(",")}})
estimator.train(input_fn, steps=9)
"""
APPENDED = "        sizes.append(int(size))\n"


def test_call_begins_with_the_list_as_init_does() -> None:
    found, said = migrated(PROGRAM)
    grown = "        sizes = []\n        sizes = sizes + [4]\n"
    assert found.count(grown) == 2, said
    assert "shape=[sizes[-1], int(size)]" in found


def test_a_loop_of_settings_alone_is_in_call_too() -> None:
    total = "    total = 0\n    for size in counts:\n        total = total + int(size)\n"
    text = changed(
        PROGRAM,
        ("    sizes = []\n", f"{total}    sizes = []\n"),
        (
            "    return net\n",
            "    net = tf.layers.dense(net, total)\n    return tf.reshape(net, [-1, total])\n",
        ),
    )
    found, said = migrated(text)
    assert found.count("total = total + int(size)\n") == 2, said
    assert "for size in self.counts:\n            total = total + int(size)\n" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (APPENDED, APPENDED + "        kept = sizes\n"),
        (APPENDED, APPENDED + "        print(sizes)\n"),
        ("    sizes.append(4)\n", "    if counts:\n        sizes = [4]\n"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    stays(changed(PROGRAM, (old, new)), "`sizes` changes behind where the network uses it")
