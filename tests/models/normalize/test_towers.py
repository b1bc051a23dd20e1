"""`replicate_model_fn` and `TowerOptimizer`: a strategy that shares a batch, or they stay."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import whole
from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf

GPUS = 2


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 4, name="hidden")
    logits = tf.layers.dense(net, 3, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    if GPUS > 1:
        optimizer = tf.contrib.estimator.TowerOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


function = model_fn
if GPUS > 1:
    function = tf.contrib.estimator.replicate_model_fn(model_fn)
estimator = tf.estimator.Estimator(function)
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=1)["accuracy"])
"""
CHOSEN = PROGRAM[PROGRAM.index("function = model_fn") : PROGRAM.index("estimator.train")]
REPLICATED = "tf.contrib.estimator.replicate_model_fn(model_fn)"


def test_towers_become_replicas_that_share_a_batch() -> None:
    after, said = migrated(whole(PROGRAM))
    assert "strategy = tf.distribute.get_strategy()\nif GPUS > 1:\n" in after, said
    assert "    strategy = tf.distribute.MirroredStrategy()\n" in after
    assert "with strategy.scope():\n    estimator = model_fn()\n" in after
    assert "estimator.fit(input_fn(), steps_per_epoch=100" in after  # split by Keras
    assert "Tower" not in after and "contrib" not in after


def test_a_model_fn_that_is_replicated_in_the_call() -> None:
    given = f"estimator = tf.estimator.Estimator(model_fn={REPLICATED}, model_dir='runs')\n"
    after, said = migrated(whole(PROGRAM.replace(CHOSEN, given)))
    assert "strategy = tf.distribute.MirroredStrategy()\n" in after, said
    assert "distribute_datasets_from_function" not in after


def test_one_that_an_expression_chooses_and_a_config_that_is_there() -> None:
    chosen = (
        f"function = {REPLICATED} if GPUS > 1 else model_fn\n"
        "config = tf.estimator.RunConfig(tf_random_seed=3)\n"
        "estimator = tf.estimator.Estimator(function, config=config)\n"
    )
    after, said = migrated(whole(PROGRAM.replace(CHOSEN, chosen)))
    assert "MirroredStrategy() if GPUS > 1 else tf.distribute.get_strategy()" in after, said


def test_no_config_at_all() -> None:
    after, said = migrated(
        whole(PROGRAM.replace("Estimator(function)", "Estimator(function, config=None)"))
    )
    assert "with strategy.scope():\n    estimator = model_fn()\n" in after, said


def test_an_optimizer_of_towers_in_an_expression() -> None:
    plain = "    optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
    wrapped = PROGRAM[PROGRAM.index("    if GPUS > 1:\n        optim") :]
    wrapped = wrapped[: wrapped.index("    train_op")]
    one = plain.replace("tf.train", "tf.contrib.estimator.TowerOptimizer(tf.train")[:-1] + ")\n"
    after, said = migrated(whole(PROGRAM.replace(plain + wrapped, one)))
    assert "optimizer = tf.keras.optimizers.SGD(0.1)\n" in after, said


ELSEWHERE = "which model_fn it gets is decided elsewhere"
REASONS = {
    "options out of sight": ELSEWHERE,
    "a test that does something": "the optimizer that trains is made of another one",
    "a strategy as well": "`replicate_model_fn` under a strategy: 1.15 does one or the other",
    "sums": ELSEWHERE,
    "two model_fns": ELSEWHERE,
    "the function is used": ELSEWHERE,
    "batch normalization": "the towers of `replicate_model_fn` have batch normalization",
    "a factory": "its optimizer is not one of tf.train",
}


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("fn(model_fn)", "fn(model_fn, **OPTIONS)"),
        PROGRAM.replace("    if GPUS > 1:\n        opt", "    if tell():\n        opt"),
        PROGRAM.replace(
            "Estimator(function)",
            "Estimator(function, config=tf.estimator.RunConfig("
            "train_distribute=tf.distribute.MirroredStrategy()))",
        ),
        PROGRAM.replace("fn(model_fn)", "fn(model_fn, tf.losses.Reduction.SUM)"),
        PROGRAM.replace("fn(model_fn)", "fn(other_fn)"),
        PROGRAM.replace("estimator.train", "print(function)\nestimator.train"),
        PROGRAM.replace(
            "    logits",
            "    net = tf.layers.batch_normalization(net, training=True, name='bn')\n    logits",
        ),
        PROGRAM.replace("Optimizer(0.1)", "Optimizer").replace(
            "TowerOptimizer(optimizer)", "TowerOptimizer(lambda: optimizer(0.1))"
        ),
    ],
    ids=REASONS,
)
def test_what_is_nearly_that_stays(program: str, request: pytest.FixtureRequest) -> None:
    assert program != PROGRAM
    stays(whole(program), REASONS[request.node.callspec.id])
