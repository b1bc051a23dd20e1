"""A canned Estimator as facts of the model IR, whatever is written from them."""

from __future__ import annotations

import ast

import pytest

from migrate_mgpu.api.losses import Reduction
from migrate_mgpu.models.front.canned.estimator import read_canned
from migrate_mgpu.models.ir import BoundExpression, CannedModel, FeatureColumn
from tests.models.front.canned.canned import program
from tests.models.keras.driver.programs import flows


def canned(body: str) -> CannedModel:
    (flow,), graph = flows(program(body))
    return read_canned(flow, graph)


def test_two_parts_and_a_head() -> None:
    model = canned(
        "head = tf.estimator.MultiClassHead(n_classes=3, weight_column='w')\n"
        "est = tf.estimator.DNNLinearCombinedEstimator(head,\n"
        "    linear_feature_columns=[fc.bucketized_column(fc.numeric_column('a'), [1, 2])],\n"
        "    dnn_feature_columns=[fc.numeric_column('b')], dnn_hidden_units=[4])\n"
        "est.train(input_fn, steps=1)\n"
    )
    dense, linear = model.parts
    assert (model.head.kind, model.head.reduction) == ("classes", Reduction.BATCH)
    assert ast.unparse(model.head.weights or ast.Constant(0)) == "'w'"
    assert model.statements == (model.head.statement,)
    assert (dense.linear, linear.linear, list(dense.settings)) == (False, True, ["hidden_units"])
    assert dense.numbers is not None and dense.columns == ()
    (buckets,) = linear.columns
    (number,) = buckets.sources
    assert (buckets.kind, buckets.name, buckets.size) == ("buckets", "a_bucketized", 3)
    assert isinstance(number, FeatureColumn) and (number.kind, number.size) == ("number", 1)
    optimizers = [part.optimizer.optimizer for part in model.parts]
    assert [one.kind for one in optimizers] == ["adagrad", "ftrl"]
    assert [one.settings["learning_rate"] for one in optimizers] == [0.001, 0.005]


def test_names_in_a_loop_go_with_their_column() -> None:
    model = canned(
        "SIZES = {'b': 2, 'a': 3}\n"
        "columns = [fc.indicator_column(fc.categorical_column_with_identity(k, n))\n"
        "           for k, n in SIZES.items()]\n"
        "est = tf.estimator.LinearRegressor(columns)\n"
        "est.train(input_fn, steps=1)\n"
    )
    (part,) = model.parts
    assert [column.name for column in part.columns] == ["b_indicator", "a_indicator"]
    for column, key in zip(part.columns, ("'b'", "'a'")):
        (category,) = column.sources
        assert isinstance(category, FeatureColumn)
        size = category.argument("num_buckets")
        meant = size.bound[size.node]
        assert isinstance(meant, BoundExpression) and meant.item is not None
        assert (ast.unparse(meant.node), ast.unparse(meant.item.node)) == ("SIZES", key)


@pytest.mark.parametrize(
    ("more", "reduction", "stated"),
    [
        ("", Reduction.SUM, False),
        (", loss_reduction=tf.losses.Reduction.SUM", Reduction.SUM, True),
        (", loss_reduction=tf.losses.Reduction.MEAN", Reduction.AVERAGE, True),
    ],
)
def test_what_becomes_of_the_losses(more: str, reduction: Reduction, stated: bool) -> None:
    model = canned(
        f"est = tf.estimator.LinearRegressor([fc.numeric_column('b')]{more})\n"
        "est.train(input_fn, steps=1)\n"
    )
    assert (model.head.kind, model.head.reduction, model.head.stated) == (
        "number", reduction, stated,
    )  # fmt: skip
