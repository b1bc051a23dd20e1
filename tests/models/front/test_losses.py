"""Losses as facts, what follows from them, and that no decision reads what is written."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.api.losses import LOSSES, WEIGHTED, Reduction
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.ir import Loss
from migrate_mgpu.models.properties import (
    compared_labels,
    has_keras_class,
    is_batch_mean,
    is_elementwise,
    is_scalar,
)
from tests.rewriters.table_rows import module_of
from tests.support.migration import migrated, stays


def loss(code: str) -> Loss:
    found = read_loss(*module_of(f"x = {code}"))
    assert found is not None
    return found


SUM = "reduction=tf.losses.Reduction.SUM"
BATCH = "reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE"


@pytest.mark.parametrize(
    ("code", "scalar", "mean", "keras"),
    [
        ("tf.losses.mean_squared_error(a, b)", True, True, True),
        ("tf.losses.mean_squared_error(a, b, 1.0)", True, True, True),
        ("tf.losses.mean_squared_error(a, b, 0.5)", True, True, False),
        ("tf.losses.mean_squared_error(a, b, w)", True, False, False),
        (f"tf.losses.mean_squared_error(a, b, {SUM})", True, False, False),
        ("tf.losses.mean_squared_error(a, b, reduction='weighted_sum')", True, False, False),
        (f"tf.losses.mean_squared_error(a, b, w, {BATCH})", True, True, False),
        (f"tf.losses.mean_squared_error(a, b, {BATCH})", True, True, True),
        ("tf.losses.mean_squared_error(a, b, reduction='none')", False, False, False),
        ("tf.losses.mean_squared_error(a, b, 2., reduction='weighted_mean')", True, True, True),
        ("tf.losses.mean_squared_error(a, b, w, reduction='weighted_mean')", True, False, False),
        ("tf.losses.log_loss(a, b)", True, True, False),
        ("tf.nn.sigmoid_cross_entropy_with_logits(labels=a, logits=b)", False, False, True),
        ("tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b, dim=1)", False, False, False),
        # What the text says besides is nobody's business.
        ("tf.losses.mean_squared_error(a,  # no reduce_sum\n    b)", True, True, True),
    ],
)
def test_what_a_loss_is(code: str, scalar: bool, mean: bool, keras: bool) -> None:
    found = loss(code)
    assert (is_scalar(found), is_batch_mean(found), has_keras_class(found)) == (scalar, mean, keras)


def test_labels_of_a_loss_of_classes() -> None:
    one_hot = loss("tf.losses.softmax_cross_entropy(tf.one_hot(classes, 10), logits)")
    assert ast.unparse(compared_labels(one_hot)) == "classes"
    assert not is_elementwise(one_hot)
    smoothed = loss("tf.losses.softmax_cross_entropy(tf.one_hot(c, 10), logits, 1.0, 0.1)")
    assert compared_labels(smoothed) is smoothed.labels, "smoothing is of one-hot labels"
    none = loss("tf.losses.softmax_cross_entropy(tf.one_hot(c, 10), logits, label_smoothing=0)")
    assert none.setting is None, "TF1's default says nothing"


def test_wording_of_what_is_written_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of TF2 in the tables is another one, every property stays as it is."""
    codes = [
        "tf.losses.mean_squared_error(a, b)",
        "tf.losses.sigmoid_cross_entropy(a, b, w)",
        f"tf.losses.huber_loss(a, b, {SUM})",
        "tf.losses.log_loss(a, b)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=b)",
    ]
    properties = (is_scalar, is_batch_mean, is_elementwise, has_keras_class)
    before = [[check(loss(code)) for check in properties] for code in codes]
    rows = {
        kind: replaced(row, target="x", keras=row.keras and "X", by_number=row.by_number and "x")
        for kind, row in LOSSES.by_kind.items()
    }
    monkeypatch.setattr(LOSSES, "by_kind", rows)
    assert [[check(loss(code)) for check in properties] for code in codes] == before


def test_every_reduction_is_weighed() -> None:
    assert set(WEIGHTED) == set(Reduction)


ENTROPY = "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)"
SWAPPED = "tf.losses.log_loss(tf.layers.flatten(logits), labels)"
PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits={logits})
    loss = tf.reduce_mean(entropy)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(([[1.0]] * 8, [1] * 8)).batch(4)


tf.estimator.Estimator(model_fn).train(input_fn, steps=4)
"""


def test_labels_in_the_place_of_predictions() -> None:
    """Keras makes what it is given first what the second is: integers, that have no gradient."""
    program = PROGRAM.format(logits="logits").replace(ENTROPY, SWAPPED)
    assert SWAPPED in program
    stays(program, "the loss has the labels where its predictions belong")


@pytest.mark.parametrize(
    ("logits", "written"),
    [
        ("logits", "    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)\n"),
        ("tf.sigmoid(logits)", "    def loss(labels, logits):\n"),
    ],
)
def test_a_loss_keeps_the_name_of_what_is_minimized(logits: str, written: str) -> None:
    """Not that of the values that it is the mean of, which stand behind it."""
    text, _ = migrated(PROGRAM.format(logits=logits))
    assert written in text
    assert ", loss=loss)\n" in text
