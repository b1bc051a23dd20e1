"""What a model_fn is given by a partial or a variable, and the total of its losses."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import (
    END,
    HEAD,
    LOSS,
    STEP,
    TAIL,
    closure,
    whole,
)
from tests.support.migration import migrated, stays


@pytest.mark.parametrize(
    "given",
    [
        "functools.partial(model_fn, rate=0.2)",
        "lambda features, labels, mode: model_fn(features, labels, mode, 0.2)",
    ],
)
def test_what_a_partial_or_a_lambda_gives_is_a_parameter(given: str) -> None:
    function = (
        "def model_fn(features, labels, mode, rate):\n    logits = tf.layers.dense(features, 3)\n"
    )
    estimator = f"\nestimator = tf.estimator.Estimator({given})\n"
    after, _ = migrated(whole(function + END.format(rate="rate") + estimator))
    assert "estimator = model_fn(rate=0.2)\n" in after
    assert "Adam(rate, epsilon=1e-8)" in after


@pytest.mark.parametrize(
    ("kept", "more", "moves"),
    [
        ("functools.partial(model_fn, rate=0.2)", "", True),
        ("lambda features, labels, mode: model_fn(features, labels, mode, 0.2)", "", True),
        ("functools.partial(model_fn, rate=0.2)", "print(fn)\n", False),
        ("functools.partial(model_fn, rate=rate)", "rate = 0.4\n", False),
    ],
)
def test_a_variable_with_a_partial_goes_with_it(kept: str, more: str, moves: bool) -> None:
    function = (
        "def model_fn(features, labels, mode, rate):\n    logits = tf.layers.dense(features, 3)\n"
    )
    program = function + END.format(rate="rate") + "\nrate = 0.2\n" if "rate=rate" in kept else ""
    program = program or function + END.format(rate="rate")
    program += f"\nfn = {kept}\n{more}estimator = tf.estimator.Estimator(fn)\n"
    after, said = migrated(whole(program))
    if moves:
        assert "estimator = model_fn(rate=0.2)\n" in after and "fn = functools" not in after
        assert "\nfn = " not in after
    else:
        assert after == HEAD + program + TAIL
        assert any("stored in a variable" in message for message in said), said


def test_a_variable_with_a_made_model_fn_goes_with_it() -> None:
    program = closure().replace(
        "estimator = tf.estimator.Estimator(make_model_fn(16))",
        "model_fn = make_model_fn(16)\nestimator = tf.estimator.Estimator(model_fn)",
    )
    after, _ = migrated(whole(program))
    assert "\n\nestimator = model_fn(hidden=16, rate=0.1)\n" in after
    assert "make_model_fn" not in after


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("lambda features, labels, mode: model_fn(features, features, mode, 0.2)",
         "the model_fn gets the Estimator's features as `labels`"),
        ("lambda features, labels, mode: model_fn(features + 1, labels, mode, 0.2)",
         "the lambda changes what the Estimator gives"),
        ("lambda x, labels, mode: model_fn(x, labels, mode, 0.2)",
         "the model_fn gets the Estimator's x as `features`"),
        ("lambda *given: model_fn(*given, 0.2)", "its model_fn is a lambda that cannot "
         "be analyzed"),
    ],
)  # fmt: skip
def test_a_lambda_that_changes_what_is_given_stays(given: str, reason: str) -> None:
    function = (
        "def model_fn(features, labels, mode, rate):\n    logits = tf.layers.dense(features, 3)\n"
    )
    program = (
        function + END.format(rate="rate") + f"\nestimator = tf.estimator.Estimator({given})\n"
    )
    stays(whole(program), reason)


TOTAL = """
REGULARIZER = tf.contrib.layers.l2_regularizer(0.01)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3, kernel_regularizer=REGULARIZER)
    {loss}
    loss = tf.losses.get_total_loss({given})
    train_op = {step}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
"""


@pytest.mark.parametrize(
    ("loss", "given", "regularized"),
    [
        (f"cost = {LOSS}", "", True),
        (f"loss = {LOSS}", "", True),
        (f"cost = {LOSS}", "add_regularization_losses=True", True),
        (f"cost = {LOSS}", "False", False),
    ],
)
def test_the_total_of_one_loss(loss: str, given: str, regularized: bool) -> None:
    text = TOTAL.format(loss=loss, given=given, step=STEP.format(rate=0.1))
    after, said = migrated(whole(HEAD + text))
    assert "SparseCategoricalCrossentropy(from_logits=True)" in after, said
    assert ("kernel_regularizer=" in after) == regularized
    assert "get_total_loss" not in after


@pytest.mark.parametrize(
    ("loss", "given"),
    [
        (f"a = {LOSS}\n    b = {LOSS}", ""),
        (f"a = {LOSS}\n    tf.losses.add_loss(tf.reduce_sum(logits))", ""),
        (f"a = {LOSS[:-1]}, loss_collection=None)", ""),
        (f"if mode == 'train':\n        a = {LOSS}", ""),
        (LOSS, ""),
        (f"a = {LOSS}", "scope='a'"),
    ],
)
def test_a_total_of_others_stays(loss: str, given: str) -> None:
    text = TOTAL.format(loss=loss, given=given, step=STEP.format(rate=0.1))
    stays(whole(HEAD + text), "the loss uses no value of the network")


def test_a_total_with_a_loss_of_another_function_stays() -> None:
    text = TOTAL.format(loss=f"a = {LOSS}", given="", step=STEP.format(rate=0.1))
    other = f"def other(labels, logits):\n    return {LOSS}\n\n\n"
    stays(whole(HEAD + other + text), "the loss uses no value of the network")
