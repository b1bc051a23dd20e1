"""Models with steps of their own: what loss and metrics look at is handed on, or refused."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import whole
from tests.support.migration import migrated, stays

HEAD = """\
import numpy as np
import tensorflow as tf


def input_fn():
    data = {"x": np.ones([8, 4], np.float32)}, np.ones([8, 4], np.float32)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def model_fn(features, labels, mode, params):
"""
STEP = """\
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={})


"""
ALONE = "config = tf.estimator.RunConfig()\n"
TWINS = (
    "strategy = tf.distribute.MirroredStrategy()\n"
    "config = tf.estimator.RunConfig(train_distribute=strategy)\n"
)
DRIVE = """\
estimator = tf.estimator.Estimator(model_fn, config=config, params={"n": 2})
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=1)["loss"])
"""
NETWORK = """\
    code = tf.layers.dense(features["x"], 2)
    decoded = tf.layers.dense(code, 4)
"""
LOSS = '    loss = tf.losses.mean_squared_error(features["x"], decoded)\n'
WEIGHED = """\
    weights = tf.cast(labels > 0.5, tf.float32)
    loss = tf.losses.absolute_difference(features["x"], decoded, weights)
"""
BOTH = '    loss = tf.reduce_mean(tf.square(features["x"] - decoded)) * tf.reduce_mean(labels)\n'


def program(body: str, config: str = ALONE, metrics: str = "") -> str:
    step = STEP.replace("eval_metric_ops={}", f"eval_metric_ops={{{metrics}}}")
    return HEAD + body + step + config + DRIVE


def converted(body: str, config: str = ALONE, metrics: str = "") -> str:
    after, said = migrated(whole(program(body, config, metrics)))
    assert not any("the Estimator stays" in message for message in said), said
    return after


def test_the_features_are_what_the_loss_compares_with() -> None:
    after = converted(NETWORK + LOSS)
    assert "    def batch_loss(self, features, decoded):\n" in after
    assert 'return tf.reduce_mean(tf.keras.losses.MSE(features["x"], decoded))\n' in after
    assert "features, _, _ = tf.keras.utils.unpack_x_y_sample_weight(data)\n" in after
    assert "model.compile(optimizer=optimizer)\n" in after
    assert "num_replicas_in_sync" not in after


def test_replicas_share_the_gradients() -> None:
    after = converted(NETWORK + LOSS, TWINS)
    assert "share = loss / self.distribute_strategy.num_replicas_in_sync\n" in after
    assert "gradients = tape.gradient(share, self.trainable_variables)\n" in after


def test_settings_of_the_loss_are_attributes() -> None:
    body = NETWORK + '    factor = params["n"]\n' + LOSS.replace(" = tf", " = factor * tf")
    after = converted(body)
    assert '        self.factor = params["n"]\n' in after
    assert "self.factor * tf.reduce_mean(" in after


def test_a_regularized_loss_has_the_models_losses() -> None:
    layer = "decoded, 4, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))\n"
    body = NETWORK + f"    decoded = tf.layers.dense({layer}" + LOSS
    after = converted(body + "    loss += tf.losses.get_regularization_loss()\n")
    assert "        return loss + sum(self.losses)\n" in after


def test_an_attribute_of_a_metric_is_no_layer() -> None:
    body = NETWORK.replace("code", "code_mean") + LOSS
    after = converted(body, metrics='"code_mean": tf.metrics.mean(code_mean)')
    assert 'self.code_mean = tf.keras.metrics.Mean(name="code_mean")\n' in after
    assert "self.code_mean_layer = tf.keras.layers.Dense(2)\n" in after
    assert "self.code_mean.update_state(code_mean)\n" in after


def test_a_metric_of_what_is_zero_or_not() -> None:
    body = NETWORK + LOSS
    after = converted(body, metrics='"found": tf.metrics.recall(labels, decoded > 0.5)')
    assert (
        "self.found.update_state(tf.cast(labels, tf.bool), tf.cast(decoded > 0.5, tf.bool))\n"
        in after
    )


@pytest.mark.parametrize(
    ("body", "config", "metrics", "reason"),
    [
        (
            NETWORK + LOSS.replace("mean_squared_error(", "mean_squared_error(0.5 * ").replace(
                "    loss = ", "    loss = tf.sqrt("
            ).replace("decoded)", "decoded))"),
            TWINS, "", "not the mean over the examples",
        ),
        (NETWORK + BOTH, TWINS, "", "not the mean over the examples"),
        (
            NETWORK.replace("dense(code", "dense(code + labels[:, :2]") + LOSS,
            ALONE, "", "the network uses the labels",
        ),
        (
            NETWORK + LOSS.replace("decoded", "tf.layers.dense(decoded, 4)"),
            ALONE, "", "a layer is applied within the loss",
        ),
        (
            NETWORK + "    hidden = code\n    code = tf.layers.dense(decoded, 2)\n"
            + LOSS.replace("decoded)", "decoded) + tf.reduce_mean(hidden * code)"),
            ALONE, "", "is given another value by the network later",
        ),
        (
            "    net = tf.layers.dense(features['x'], 4)\n    first = tf.square(net)\n"
            "    net = tf.layers.dense(net, 4)\n"
            "    loss = tf.reduce_mean(tf.square(features['x'] - net)) + tf.reduce_mean(first)\n",
            ALONE, "", "is given another value by the network later",
        ),
        (
            NETWORK + "    if mode == tf.estimator.ModeKeys.TRAIN:\n        labels = labels * 0.9\n"
            + BOTH,
            ALONE, "", "evaluation computes its loss differently",
        ),
        (
            NETWORK + LOSS,
            ALONE, '"p": tf.metrics.precision_at_k(labels, decoded, 2)', "no Keras metric equals",
        ),
        (
            NETWORK + LOSS,
            ALONE, '"m": tf.metrics.mean(code, weights=2.0)', "the same weight",
        ),
        (
            NETWORK + LOSS.replace("mean_squared_error(", "mean_pairwise_squared_error("),
            ALONE, "", "no Keras loss equals",
        ),
        (
            NETWORK + LOSS.replace("decoded)", "decoded, weights=labels)"),
            TWINS, "", "not the mean over the examples",
        ),
        (
            NETWORK + WEIGHED.replace('features["x"], decoded', "labels, decoded"),
            TWINS, "", "it is the sum over a batch",
        ),
    ],
)  # fmt: skip
def test_what_has_no_step_stays(body: str, config: str, metrics: str, reason: str) -> None:
    text = program(body, config, metrics)
    stays(whole(text), reason)


@pytest.mark.parametrize(("config", "stays"), [(ALONE, False), (TWINS, True)])
def test_texts_on_several_replicas(config: str, stays: bool) -> None:
    body = (
        '    bucket = tf.string_to_hash_bucket_fast(features["x"], 10)\n'
        "    decoded = tf.layers.dense(tf.one_hot(bucket[:, 0], 10), 4)\n"
        "    loss = tf.losses.mean_squared_error(labels, decoded)\n"
    )
    after, said = migrated(whole(program(body, config)))
    assert (after == program(body, config)) is stays, said
    assert any("cannot build a model from texts" in message for message in said) is stays


def test_an_accuracy_takes_its_two_values_in_any_order() -> None:
    body = (
        '    logits = tf.layers.dense(features["x"], 4)\n'
        "    loss = tf.losses.softmax_cross_entropy(labels, logits)\n"
    )
    swapped = "tf.metrics.accuracy(tf.argmax(logits, 1), tf.argmax(labels, 1))"
    after = converted(body, metrics=f'"accuracy": {swapped}')
    assert 'metrics=[tf.keras.metrics.CategoricalAccuracy(name="accuracy")]' in after
    swapped = swapped.replace("accuracy", "recall")
    after = converted(body, metrics=f'"recall": {swapped}')
    assert "self.recall.update_state(" in after


@pytest.mark.parametrize(
    ("output", "plain"),
    [
        ("tf.layers.dense(net, 1)", True),
        ("tf.squeeze(tf.layers.dense(net, 1), 1)", False),
        ("tf.layers.dense(net, 1)[:, 0]", False),
        ("0.5 * column + tf.reduce_sum(net, 1)", False),
    ],
)
def test_a_metric_of_a_list_of_numbers_is_of_each(output: str, plain: bool) -> None:
    body = (
        '    net = tf.layers.dense(features["x"], 2)\n'
        "    column = tf.squeeze(tf.layers.dense(net, 1), 1)\n"
        f"    price = {output}\n"
        "    loss = tf.losses.mean_squared_error(labels, price)\n"
    )
    metrics = '"mse": tf.metrics.mean_squared_error(labels, price)'
    text = program(body, metrics=metrics).replace(
        "np.ones([8, 4], np.float32)\n", f"np.ones({'[8, 1]' if plain else '[8]'}, np.float32)\n"
    )
    after, said = migrated(whole(text))
    assert ('tf.keras.metrics.MeanSquaredError(name="mse")' in after) is plain, (after, said)
    assert ("tf.keras.metrics.MeanMetricWrapper(" in after) is not plain


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("tf.square(labels - decoded)", "tf.square(tf.cast(labels, decoded.dtype) - decoded)"),
        ("labels * decoded", "tf.cast(labels, decoded.dtype) * decoded"),
        ("tf.multiply(decoded, labels)", "tf.multiply(decoded, tf.cast(labels, decoded.dtype))"),
        ("tf.to_float(labels) * decoded", "tf.cast(labels, tf.float32) * decoded"),
        ("0.5 * decoded", "0.5 * decoded"),
        ("decoded * decoded", "decoded * decoded"),
    ],
)
def test_data_that_meets_the_network_has_its_type(value: str, written: str) -> None:
    loss = f"    loss = tf.reduce_mean({value}) + tf.reduce_mean(tf.abs(code))\n"
    assert f"return tf.reduce_mean({written}) + tf" in converted(NETWORK + loss)


def test_labels_that_only_training_changes() -> None:
    body = (
        '    logits = tf.layers.dense(features["x"], 4)\n'
        "    if mode == tf.estimator.ModeKeys.TRAIN:\n        labels = labels * 0.9 + 0.05\n"
        "    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(\n"
        "        labels=labels, logits=logits))\n"
    )
    stays(whole(program(body)), "evaluation computes its loss differently")


TWICE = """\
import numpy as np
import tensorflow as tf


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def network(x, reuse, training):
    with tf.variable_scope("net", reuse=reuse):
        x = tf.layers.dropout(tf.layers.dense(x, 8), 0.4, training=training)
        return tf.layers.dense(x, 3)


def model_fn(features, labels, mode):
    train_logits = network(features, reuse=False, training=True)
    test_logits = network(features, reuse=True, training=False)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, train_logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels, tf.argmax(test_logits, 1))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=1)["accuracy"])
"""


def test_a_network_that_is_called_again_to_test() -> None:
    after, said = migrated(whole(TWICE))
    test = after.partition("def test_step")[2].partition("def ")[0]
    assert "train_logits = self(features, training=True)\n" in test, said
    assert "test_logits = self(features, training=False)\n" in test
    assert "self.mean_loss.update_state(self.batch_loss(labels, train_logits))\n" in test
    assert "self.accuracy.update_state(labels, tf.argmax(test_logits, 1))\n" in test
    assert after.count("Network()") == 1
    assert "reuse" not in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "tf.layers.dropout(tf.layers.dense(x, 8), 0.4",
            "tf.layers.batch_normalization(tf.layers.dense(x, 8)",
            "batch normalization in training mode",
        ),
        ("(labels, train_logits)", "(labels, test_logits)", "the network in evaluation mode"),
        (
            "(labels, train_logits)",
            "(labels, train_logits) + tf.reduce_mean(test_logits)",
            "the network in evaluation mode",
        ),
        ("network(features, reuse=True", "network(2 * features, reuse=True", "share weights"),
        ("reuse=True, training=False", "reuse=tf.AUTO_REUSE, training=False", "share weights"),
    ],
)
def test_a_network_that_is_called_again_otherwise(old: str, new: str, reason: str) -> None:
    text = TWICE.replace(old, new)
    assert text != TWICE
    stays(whole(text), reason)


def test_a_network_that_is_called_twice_to_train() -> None:
    after, said = migrated(
        whole(TWICE.replace("reuse=True, training=False", "reuse=True, training=True"))
    )
    assert after.count("Network(training=True)") == 1, said
    assert "training=self.training)\n" in after


@pytest.mark.parametrize(
    ("reduction", "function", "last"),
    [
        ("", "weighted_mean", "divide_no_nan(tf.reduce_sum(losses * weights), count)"),
        ("MEAN", "weighted_average", "divide_no_nan(tf.reduce_sum(losses * weights), total)"),
        ("SUM", "weighted_sum", "return tf.reduce_sum(losses * weights)"),
        ("SUM_OVER_BATCH_SIZE", "mean_of_weighted", "return tf.reduce_mean(losses * weights)"),
    ],
)
def test_a_weighted_loss_is_of_each_element(reduction: str, function: str, last: str) -> None:
    body = NETWORK + WEIGHED
    if reduction:
        body = body.replace("weights)\n", f"weights, reduction=tf.losses.Reduction.{reduction})\n")
    after = converted(body)
    assert f"def {function}(losses, weights):\n" in after
    assert last in after
    call = after.partition("    def batch_loss")[2].partition("    def ")[0]
    subtracted = 'tf.abs(tf.subtract(tf.cast(features["x"], tf.float32), decoded))'
    assert " ".join(call.split()).endswith(f"{function}( {subtracted}, weights)")


def test_a_weighted_mean_of_parts_is_one_on_several_replicas() -> None:
    body = NETWORK + WEIGHED.replace("weights)\n", "weights, reduction='weighted_mean')\n")
    assert migrated(whole(program(body, TWINS)))[0] == program(body, TWINS)
    body = body.replace("'weighted_mean'", "tf.losses.Reduction.SUM_OVER_BATCH_SIZE")
    assert "mean_of_weighted(" in converted(body, TWINS)


def test_a_metric_is_weighted_by_the_features() -> None:
    metrics = '"m": tf.metrics.mean(code, weights=features["x"])'
    after = converted(NETWORK + LOSS, metrics=metrics)
    assert 'self.m.update_state(code, sample_weight=features["x"])\n' in after
