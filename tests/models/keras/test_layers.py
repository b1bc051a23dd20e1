"""Layers that a model_fn makes where it applies them, in every spelling of TensorFlow."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import tensorflow as tf
import tensorflow.compat.v1 as tf1


def input_fn():
    return tf.data.Dataset.from_tensor_slices(([[1.0, 2.0]], [[0.3]])).batch(1)


def model_fn(features, labels, mode):
    logits = {layer}(1)(features)
    loss = tf1.losses.mean_squared_error(labels, logits)
    optimizer = tf1.train.AdagradOptimizer(0.05)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf1.estimator.Estimator(model_fn=model_fn)
estimator.train(input_fn)
"""


@pytest.mark.parametrize(
    "layer",
    ["tf1.layers.Dense", "tf.compat.v1.layers.Dense", "tf.keras.layers.Dense", "tf.layers.Dense"],
)
def test_a_layer_is_made_with_its_model(layer: str) -> None:
    """Made in ``call``, its variables would be new in each step."""
    after, said = migrated(PROGRAM.format(layer=layer))
    assert "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])" in after, said


NORMALIZED = """\
def build(features):
    net = tf.contrib.layers.fully_connected(features, 3)
    return tf.contrib.layers.layer_norm(net, {arguments})
"""


def normalized(arguments: str) -> str:
    network = NORMALIZED.format(arguments=arguments)
    program = PROGRAM.format(layer="tf.layers.Dense").replace("(features)\n", "(build(features))\n")
    return program.replace("\n\n\ndef model_fn", f"\n\n\n{network}\n\ndef model_fn")


def test_layer_normalization_of_the_last_axis() -> None:
    after, said = migrated(normalized("begin_norm_axis=-1, begin_params_axis=-1, scope='norm'"))
    assert "tf.keras.layers.LayerNormalization(name='norm', epsilon=1e-12)" in after, said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("scope='norm'", "normalizes all axes but the first"),
        ("begin_norm_axis=1", "it normalizes more than the last axis"),
        ("begin_norm_axis=-1, begin_params_axis=1", "its parameters are of more than the last"),
        ("begin_norm_axis=-1, activation_fn=tf.nn.relu", "layer normalization with an activation"),
    ],
)
def test_other_layer_normalization_stays(arguments: str, why: str) -> None:
    stays(normalized(arguments), why)


def of_instances(arguments: str) -> str:
    return normalized(arguments).replace("layers.layer_norm", "layers.instance_norm")


def test_instance_normalization_has_a_group_for_each_channel() -> None:
    after, said = migrated(of_instances("scope='norm'"))
    assert "GroupNormalization(name='norm', epsilon=1e-06, groups=-1)" in after, said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("activation_fn=tf.nn.relu", "instance normalization with an activation"),
        ("data_format='NCHW'", "instance normalization with its channels in front"),
        ("param_initializers={}", "`param_initializers` is TF1's own"),
    ],
)
def test_other_instance_normalization_stays(arguments: str, why: str) -> None:
    stays(of_instances(arguments), why)


SIZES = """\
import numpy as np
import tensorflow as tf

X = np.ones([8, 2], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(4)


def model_fn(features, labels, mode, params):
    net = features
    for number, size in enumerate(params["sizes"]):
        net = tf.layers.dense(net, size, name="hidden_%d" % number)
    net = tf.layers.dense(net, params["last"])
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


SETTINGS = "8,4"
params = {"sizes": SETTINGS.split(","), "last": 1}
tf.estimator.Estimator(model_fn, params=params).train(input_fn)
"""


def test_sizes_that_are_texts() -> None:
    """`tf.layers.dense(net, "8")` has eight units in TF1, and is an error in Keras 3."""
    after, _ = migrated(SIZES)
    assert "tf.keras.layers.Dense(int(size), name=" in after
    assert 'tf.keras.layers.Dense(params["last"])' in after
    numbers = SIZES.replace('SETTINGS.split(",")', '[int(one) for one in SETTINGS.split(",")]')
    assert "Dense(size, name=" in migrated(numbers)[0]
