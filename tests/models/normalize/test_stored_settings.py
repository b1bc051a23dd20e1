"""Settings that a model_fn stores in its `params`, and files that it reads in a network's scope."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    with open(params["kinds"]) as lines:
        count = len([line for line in lines])
        params["count"] = count
    with tf.variable_scope("net"):
        size = params["size"]
        with open(params["words"]) as lines:
            size = len([line for line in lines])
        net = tf.layers.dense(features["x"], size)
        logits = tf.layers.dense(net, params["count"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{"logits": logits}})
{END.format(rate=0.1)}

def input_fn():
    data = {{"x": [[1.0, -2.0], [3.0, 4.0]]}}, [0, 1]
    return tf.data.Dataset.from_tensor_slices(data).batch(2)


estimator = tf.estimator.Estimator(model_fn, params={{"kinds": "k", "words": "w", "size": 3}})
estimator.train(input_fn, steps=9)
"""
SCOPE = '    with tf.variable_scope("net"):\n'
INPUT = "\n\ndef input_fn"
STORED = '        params["count"] = count\n'


def test_a_stored_setting_is_the_name_that_it_has() -> None:
    found, said = migrated(PROGRAM)
    assert "def read_count(params):" in found, said
    assert "def read_size(params):" in found
    assert 'params["count"]' not in found


@pytest.mark.parametrize(
    "pairs",
    [
        [(STORED, '        params["count"] = params["size"] = count\n')],
        [(STORED, '        params["count"] = count + 1\n')],
        [(SCOPE, '    params["count"] = 3\n' + SCOPE)],
        [(SCOPE, "    show(params)\n" + SCOPE), (INPUT, "\ndef show(params):\n    pass\n" + INPUT)],
    ],
)
def test_it_stays(pairs: list[tuple[str, str]]) -> None:
    stays(changed(PROGRAM, *pairs), "depends on the tensor")
