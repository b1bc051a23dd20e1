"""Estimators of tf.contrib.learn's that are given arrays, its losses, and stacks of layers."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, whole
from tests.support.migration import changed, migrated, stays

MODEL = """\
import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn.estimators.estimator import SKCompat

learn = tf.contrib.learn
x = np.ones([10, 4], np.float32)
y = np.ones([10], np.int64)


def model(leaf, kind):
    wanted = tf.one_hot(kind, 3)
    logits = tf.layers.dense(leaf, 3)
    loss = tf.losses.softmax_cross_entropy(wanted, logits)
    step = tf.contrib.layers.optimize_loss(
        loss, tf.contrib.framework.get_global_step(), optimizer="SGD", learning_rate=0.1
    )
    return {"kind": tf.argmax(logits, 1)}, loss, step


"""
WRAPPED = MODEL + "estimator = SKCompat(learn.Estimator(model))\nestimator.fit(x, y, steps=9)\n"
PLAIN = MODEL + "estimator = learn.Estimator(model)\nestimator.fit(x=x, y=y, steps=9)\n"
OF_SPEC = changed(
    PLAIN,
    ("def model(leaf, kind)", "def model(features, labels, mode)"),
    ("leaf", "features"),
    ("kind,", "labels,"),
    (
        'return {"kind": tf.argmax(logits, 1)}, loss, step',
        'predictions = {"kind": tf.argmax(logits, 1)}\n'
        "    return learn.ModelFnOps(mode, predictions, loss, step)",
    ),
)
SPEC = "learn.MetricSpec(metric_fn=tf.metrics.accuracy, prediction_key='kind')"
MEASURED = OF_SPEC + (
    f"result = estimator.evaluate(x=x, y=y, metrics={{'right': {SPEC}}})\nprint(result['right'])\n"
)


def fed(rows: str) -> str:
    return (
        "def train_input():\n    data = tf.data.Dataset.from_tensor_slices((x, y))\n"
        f"    return data.shuffle(len(x)).batch({rows}).repeat()\n\n\n"
        "estimator = model()\nestimator.fit(train_input(), steps_per_epoch=9, verbose=0)\n"
    )


@pytest.mark.parametrize(
    ("before", "rows"),
    [
        (WRAPPED, "128"),
        (PLAIN, "len(x)"),
        (PLAIN.replace("y=y", "y=y, batch_size=4"), "4"),
        (OF_SPEC, "len(x)"),
    ],
)
def test_arrays_are_fed_as_contrib_learn_fed_them(before: str, rows: str) -> None:
    """In a new order in each round, whose last batch has what is left."""
    found, said = migrated(before)
    assert fed(rows) in found, said
    assert "learn" not in found.replace("learning_rate", "")


@pytest.mark.parametrize(
    ("before", "rows"), [(WRAPPED, "128"), (PLAIN, "len(x)")], ids=["wrapped", "plain"]
)
def test_predictions_for_arrays(before: str, rows: str) -> None:
    shown = "estimator.predict(x)" if before is WRAPPED else "estimator.predict(x=x)"
    asked = f"for row in {shown}:\n    print(row['kind'])\n"
    if before is WRAPPED:  # a dictionary of arrays is not rows
        before = before.replace(
            'return {"kind": tf.argmax(logits, 1)},', "return tf.argmax(logits, 1),"
        )
        asked = f"print([kind for kind in {shown}])\n"
    found, said = migrated(before + asked)
    assert f"return tf.data.Dataset.from_tensor_slices(x).batch({rows})\n" in found, said


def test_arrays_may_be_of_what_is_called_data() -> None:
    """`data = ...data...` would be a variable of the function that has no value yet."""
    before = changed(PLAIN, ("x = np.ones", "data = [0, np.ones"), ("float32)", "float32)]"))
    found, said = migrated(before.replace("x=x", "x=data[1]"))
    assert "    dataset = tf.data.Dataset.from_tensor_slices((data[1], y))\n" in found, said
    assert "    return dataset.shuffle(len(data[1]))." in found


def test_predictions_one_by_one() -> None:
    found, said = migrated(PLAIN + "print(list(estimator.predict(x, as_iterable=True)))\n")
    assert "estimator.predict(predict_input(), verbose=0)" in found, said


def test_a_metric_of_an_evaluation_is_the_models() -> None:
    found, said = migrated(MEASURED)
    assert "metrics=[tf.keras.metrics." in found, said
    assert 'name="right"' in found or "name='right'" in found
    assert "result = estimator.evaluate(eval_input(), return_dict=True, verbose=0)\n" in found


KEPT = "`tensorflow.contrib.learn.Estimator` does not exist in TF2"


@pytest.mark.parametrize(
    "before",
    [
        # Numbers of one column came as a list, and are paired otherwise than a column.
        changed(PLAIN, ("tf.losses.softmax_cross_entropy", "tf.losses.mean_squared_error")),
        # A dictionary of arrays, where rows would be.
        WRAPPED + "print(estimator.predict(x)['kind'])\n",
        WRAPPED + "print(estimator.predict(x, outputs=['kind']))\n",
        PLAIN.replace("x=x", "x=x + 1"),
        PLAIN.replace("x=x", "x=x[:4]"),
        PLAIN + "print(list(estimator.predict(x, as_iterable=False)))\n",
        changed(PLAIN, ("tf.losses.softmax", "tf.nn.sparse_softmax")),
        MEASURED.replace("tf.metrics.accuracy", "tf.contrib.metrics.streaming_accuracy"),
        MEASURED.replace("prediction_key='kind'", "prediction_key='kind', weight_key='w'"),
    ],
)
def test_arrays_that_stay(before: str) -> None:
    stays(before, KEPT)


CONTRIB = "tf.contrib.losses.softmax_cross_entropy(logits, wanted"


@pytest.mark.parametrize("rest", ["", ", weights=1.0", ", scope='loss'", ", label_smoothing=0"])
def test_losses_of_contrib(rest: str) -> None:
    found, said = migrated(
        PLAIN.replace("tf.losses.softmax_cross_entropy(wanted, logits", CONTRIB + rest)
    )
    assert found == migrated(PLAIN)[0], said


@pytest.mark.parametrize("rest", [", weights=2.0", ", label_smoothing=0.1", ", weights=y"])
def test_losses_of_contrib_that_stay(rest: str) -> None:
    stays(
        PLAIN.replace("tf.losses.softmax_cross_entropy(wanted, logits", CONTRIB + rest),
        "`tf.contrib.losses.softmax_cross_entropy` does not exist in TF2",
    )


def stacked(call: str) -> str:
    body = f"    net = {call}\n    logits = tf.layers.dense(net, 3)\n"
    head = "def model_fn(features, labels, mode, params):\n"
    made = "estimator = tf.estimator.Estimator(model_fn, params={'sizes': [8, 4]})\n"
    return whole(head + body + END.format(rate=0.1) + "\n\n" + made)


LOOP = """\
    net = features
    for units in params['sizes']:
        net = tf.contrib.layers.fully_connected(net, units{rest})
    logits = """
STACK = "tf.contrib.layers.stack(features, tf.contrib.layers.fully_connected, params['sizes'])"


@pytest.mark.parametrize("rest", ["", ", activation_fn=None"])
def test_a_stack_of_layers_is_a_loop(rest: str) -> None:
    """It is what its loop becomes."""
    found, said = migrated(stacked(STACK.replace("])", f"]{rest})")))
    by_hand = changed(stacked("THIS"), ("    net = THIS\n    logits = ", LOOP.format(rest=rest)))
    assert found == migrated(by_hand)[0], said
    assert "contrib" not in found


def test_a_stack_in_a_function_that_the_model_calls() -> None:
    called = stacked("layers_of(features, params)").replace(
        "def model_fn",
        f"def layers_of(features, params):\n    net = {STACK}\n    return net\n\n\ndef model_fn",
    )
    found, said = migrated(called)
    assert "for units in" in found and "contrib" not in found, said


@pytest.mark.parametrize(
    "call",
    [
        STACK.replace("])", "], scope='all')"),
        STACK.replace("fully_connected", "conv2d"),
        STACK.replace("params['sizes'])", "params['sizes'], **params)"),
    ],
)
def test_stacks_that_stay(call: str) -> None:
    stays(stacked(call), "`tf.contrib.layers.stack` does not exist in TF2")


QUEUED = (
    OF_SPEC
    + """\


def rows():
    queue = tf.train.string_input_producer(["leaves.csv"], num_epochs=1)
    _, lines = tf.TextLineReader().read_up_to(queue, 5)
    rows = tf.stack(tf.decode_csv(lines, [[0.0]] * 4), 1)
    return rows


for row in estimator.predict(input_fn=rows):
    print(row["kind"])
"""
)


def test_what_a_queue_feeds_is_predicted_to_its_end() -> None:
    text, messages = migrated(QUEUED)
    assert "estimator.predict(rows()" in text, messages


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # It ends with the first batch.
        ("queue = tf.train.string_input_producer", "queue = queue_of"),
        ("    queue = ", "    if len(x) < 3:\n        return x\n    queue = "),
        ("input_fn=rows", "input_fn=lambda: rows()"),
    ],
)
def test_predictions_of_one_batch_stay(old: str, new: str) -> None:
    text, _ = migrated(changed(QUEUED, (old, new)))
    assert "tf.contrib.learn" in text or "learn.Estimator(" in text


def test_each_of_two_calls_has_a_function() -> None:
    asked = "for row in estimator.predict(x):\n    print(row)\n"
    again = "z = np.zeros([2, 4], np.float32)\nfor row in estimator.predict(z):\n    print(row)\n"
    found, said = migrated(PLAIN + asked + again)
    assert "estimator.predict(predict_input(), verbose=0)" in found, said
    assert "estimator.predict(predict_input_2(), verbose=0)" in found
    assert "return tf.data.Dataset.from_tensor_slices(z).batch(len(z))" in found


def test_calls_of_the_same_arrays_share_their_function() -> None:
    found, said = migrated(WRAPPED + "estimator.fit(x, y, steps=9)\nestimator.fit(y, y, steps=5)\n")
    assert found.count("estimator.fit(train_input(), steps_per_epoch=9, verbose=0)\n") == 2, said
    assert "estimator.fit(train_input_2(), steps_per_epoch=5, verbose=0)\n" in found
    assert found.count("def train_input") == 2
