"""Layers and models that a network keeps in variables, and networks that are classes."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


{above}def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
{network}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
"""


def program(network: str, above: str = "") -> str:
    """The program with a network, and what stands above its model_fn."""
    lines = "".join(f"    {line}\n" for line in network.strip("\n").splitlines()).rstrip("\n")
    return PROGRAM.format(network=lines, above=above)


@pytest.mark.parametrize(
    ("applied", "written"),
    [
        ("drop(net)", "self.drop(net, training=False)"),
        ("drop.apply(net)", "self.drop(net, training=False)"),
        ("drop(net, training=training)", "self.drop(net, training=training)"),
        ("drop(net, training)", "self.drop(net, training=training)"),
        ("dense(net)", "self.dense(net)"),
    ],
)
def test_a_layer_in_a_variable_does_what_its_author_told_it(applied: str, written: str) -> None:
    after, _ = migrated(
        program(
            "net = tf.abs(features)\n"
            "drop = tf.layers.Dropout(0.5)\n"
            "dense = tf.layers.Dense(8)\n"
            f"net = {applied}\n"
            "logits = tf.layers.dense(net, 3)"
        )
    )
    assert f"net = {written}\n" in after


def test_a_layer_that_trains_must_be_seen_where_it_is_applied() -> None:
    network = (
        "net = tf.abs(features)\n"
        "kept = [tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(3)]\n"
        "for layer in kept:\n"
        "    net = layer(net)\n"
        "logits = tf.identity(net)"
    )
    stays(program(network), "a layer that trains is stored where its use cannot be analyzed")


MODEL = """\
def create_model():
    layers = tf.keras.layers
    pool = layers.MaxPooling2D(2, 2, padding="same")
    return tf.keras.Sequential(
        [
            layers.Reshape([2, 2, 1], input_shape=[4]),
            pool,
            pool,
            layers.Flatten(),
            layers.Dropout(0.4),
            layers.Dense(3),
        ]
    )


"""


def test_a_keras_model_that_is_the_network_needs_no_class() -> None:
    after, _ = migrated(
        program("net = create_model()\nlogits = net(features, training=training)", MODEL)
    )
    assert "def model_fn():\n    net = create_model()\n" in after
    assert "    net.compile(" in after and "    return net\n" in after
    assert "class " not in after
    assert MODEL in after


def test_a_keras_model_that_is_not_told_does_not_train() -> None:
    after, _ = migrated(program("net = create_model()\nlogits = net(features)", MODEL))
    assert "self.net = create_model()\n" in after
    assert "logits = self.net(features, training=False)\n" in after


def test_names_whose_statements_go_away_are_free() -> None:
    after, _ = migrated(
        program("model = create_model()\nlogits = model(features * 2, training=training)", MODEL)
    )
    assert "def model_fn():\n    model = Model()\n" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("layers.Dropout(0.4)", "layers.BatchNormalization()", "batch normalization in a Keras"),
        ("layers.Dropout(0.4)", "layers.CuDNNLSTM(3)", "`CuDNNLSTM` is not known to be the same"),
        ("layers.Dense(3)", "layers.Dense(3, kernel_regularizer='l2')", "regularizers of Keras"),
        (", input_shape=[4]", "", "a layer is used twice in a Sequential"),
    ],
)
def test_keras_models_that_are_not_the_same_in_tf2_stay(old: str, new: str, reason: str) -> None:
    assert old in MODEL
    stays(program("net = create_model()\nlogits = net(features)", MODEL.replace(old, new)), reason)


CLASS = '''\
class Network(object):
    """Two layers."""

    def __init__(self, units):
        self.units = units
        self.hidden = tf.layers.Dense(units)  # the first
        self.drop = tf.layers.Dropout(0.5)
        self.scores = tf.layers.Dense(3)

    def __call__(self, inputs, training):
        net = tf.layers.flatten(inputs)
        net = self.drop(self.hidden(net), training=training)
        return self.scores(net)


'''


def test_a_class_of_layers_is_a_keras_model() -> None:
    after, _ = migrated(
        program("network = Network(8)\nlogits = network(features, training)", CLASS)
    )
    assert "class Network(tf.keras.Model):\n" in after
    assert "        super().__init__()\n        self.units = units\n" in after
    assert "self.hidden = tf.keras.layers.Dense(units)  # the first\n" in after
    assert "        self.flatten = tf.keras.layers.Flatten()\n" in after
    assert (
        "    def call(self, inputs, training=False):\n        net = self.flatten(inputs)\n" in after
    )
    assert "def model_fn():\n    network = Network(8)\n" in after
    assert "class Model" not in after


def test_a_class_whose_call_has_a_default_is_told_that() -> None:
    above = CLASS.replace("inputs, training)", "inputs, is_training=True)").replace(
        "training=training", "training=is_training"
    )
    after, _ = migrated(program("network = Network(8)\nlogits = network(features)", above))
    assert "logits = self.network(features, is_training=True)\n" in after
    assert "    def call(self, inputs, is_training=True):\n" in after


def test_what_is_given_by_position_is_given_by_name() -> None:
    above = CLASS.replace("inputs, training)", "inputs, is_training)").replace(
        "(self.hidden(net), training=training)", "(self.hidden(net), is_training)"
    )
    after, _ = migrated(
        program("network = Network(8)\nlogits = network(features, training)", above)
    )
    assert "logits = self.network(features, is_training=training)\n" in after
    assert "net = self.drop(self.hidden(net), training=is_training)\n" in after


def test_a_layer_that_a_class_does_not_tell_does_not_train() -> None:
    above = CLASS.replace("(self.hidden(net), training=training)", "(self.hidden(net))")
    after, _ = migrated(
        program("network = Network(8)\nlogits = network(features, training)", above)
    )
    assert "net = self.drop(self.hidden(net), training=False)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("class Network(object)", "class Network(dict)", "is made of other classes"),
        ("self.units = units", "self.name = units", "`name` is an attribute of every Keras model"),
        (
            "        net = tf.layers",
            "        self.units = 3\n        net = tf.layers",
            "changes as",
        ),
        (
            "    def __call__(",
            "    def other(self):\n        pass\n\n    def __call__(",
            "more than",
        ),
        (
            "        return self.scores(net)",
            "        for _ in range(2):\n            net = tf.layers.dense(net, 3)\n"
            "        return self.scores(net)",
            "in a loop of the call",
        ),
        (
            "        return self.scores(net)",
            "        size = int(net.shape[1])\n        net = tf.layers.dense(net, size)\n"
            "        return self.scores(net)",
            "a layer's setting depends on `size`",
        ),
        (
            "self.drop = tf.layers.Dropout(0.5)",
            "self.drop = [tf.layers.Dropout(0.5)]",
            "`Dropout` is stored where its use cannot be analyzed",
        ),
        ("tf.layers.Dense(3)", "tf.layers.Dense(3, kernel_regularizer=None)", "the regularizer"),
        (
            "self.units = units",
            "self.w = tf.get_variable('w', [4])",
            "a variable that the network's class makes",
        ),
    ],
)
def test_classes_that_are_more_than_layers_stay(old: str, new: str, reason: str) -> None:
    assert old in CLASS
    network = "network = Network(8)\nlogits = network(features, training)"
    stays(program(network, CLASS.replace(old, new)), reason)


def test_a_class_whose_layers_a_function_makes_stays() -> None:
    above = "def scores(net):\n    return tf.keras.layers.Dense(3)(net)\n\n\n" + CLASS.replace(
        "return self.scores(net)", "return scores(net)"
    )
    network = "network = Network(8)\nlogits = network(features, training)"
    stays(program(network, above), "scores makes layers for a class")
