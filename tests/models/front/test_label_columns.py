"""A loss by operators, of an output that may be a column and labels that may be a list."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import HEAD
from tests.support.migration import migrated

TOLD = "TF1 compares each label of a batch with each output here"
PROGRAM = (
    HEAD
    + """\
def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features, {units})
    loss = {loss}
    metrics = {{"away": {metric}}}
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


config = tf.estimator.RunConfig({config})
tf.estimator.Estimator(model_fn, config=config).train(input_fn, steps=10)
"""
)
MEAN = "tf.reduce_mean(tf.squared_difference(labels, outputs))"
ERROR = "tf.metrics.mean_absolute_error(labels, outputs)"


@pytest.mark.parametrize(
    ("loss", "units", "metric", "broadcasts"),
    [
        ("tf.nn.l2_loss(outputs - labels)", "1", ERROR, True),
        (MEAN, "1", ERROR, True),
        (MEAN, "int(\"1\")", ERROR, True),  # not known
        ("tf.nn.l2_loss(outputs - labels)", "3", ERROR, False),
        ("tf.losses.mean_squared_error(labels, outputs)", "1", ERROR, False),  # asserted
        ("tf.nn.l2_loss(tf.squeeze(outputs, 1) - labels)", "1", ERROR, True),  # of labels [n, 1]
        (
            "tf.losses.mean_squared_error(labels, outputs)", "1",
            "tf.metrics.mean(tf.abs(labels - outputs))", True,
        ),
    ],
)  # fmt: skip
def test_what_broadcasts_has_a_step_of_its_own(
    loss: str, units: str, metric: str, broadcasts: bool
) -> None:
    """`compile` gives both one shape, a step of the model's own hands them on as they are."""
    program = PROGRAM.format(loss=loss, units=units, metric=metric, config="")
    after, said = migrated(program)
    assert "tf.estimator" not in after, said
    assert ("def train_step(self, data):" in after) is broadcasts, after
    assert not any(TOLD in one for one in said), said


def test_an_evaluation_that_is_shared_out_is_told() -> None:
    config = "train_distribute=tf.distribute.MirroredStrategy()"
    given = {"units": "1", "metric": ERROR, "config": config}
    after, said = migrated(PROGRAM.format(loss=MEAN, **given))
    assert "def train_step(self, data):" in after, said
    assert any(TOLD in one for one in said), said
    after, said = migrated(PROGRAM.format(loss=MEAN, **{**given, "units": "3"}))
    assert not any(TOLD in one for one in said), said


def test_labels_of_a_dictionary_have_a_step_of_their_own() -> None:
    """Keras takes the names of labels for those of outputs, which a model of one has not."""
    loss = 'tf.losses.mean_squared_error(labels["size"], outputs)'
    metric = 'tf.metrics.mean_absolute_error(labels["size"], outputs)'
    after, said = migrated(PROGRAM.format(loss=loss, units="1", metric=metric, config=""))
    assert "def train_step(self, data):" in after, said
    assert 'labels["size"]' in after
