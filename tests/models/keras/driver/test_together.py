"""Estimators and specs that functions return together with other things."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

MADE = "estimator = tf.estimator.Estimator(model_fn)\n"
SPECS = """\
def specs(steps):
    train_spec = tf.estimator.TrainSpec(input_fn, max_steps=steps)
    eval_spec = tf.estimator.EvalSpec(input_fn, steps=None)
    return train_spec, eval_spec


"""
RUN = (
    "training, testing = specs(5)\ntf.estimator.train_and_evaluate(estimator, training, testing)\n"
)


def test_an_estimator_with_its_name() -> None:
    body = (
        "def build():\n    est = tf.estimator.Estimator(model_fn)\n    return 'a line', est\n\n\n"
    )
    after = converted(f"{body}name, estimator = build()\nestimator.train(input_fn, steps=5)\n")
    assert "    est = model_fn()\n    return 'a line', est\n" in after
    assert "estimator.fit(input_fn(), steps_per_epoch=5, verbose=0)\n" in after


def test_a_member_by_its_number() -> None:
    body = (
        "def build():\n    est = tf.estimator.Estimator(model_fn)\n    return 'a line', est\n\n\n"
    )
    after = converted(f"{body}estimator = build()[1]\nestimator.train(input_fn, steps=5)\n")
    assert "estimator.fit(input_fn(), steps_per_epoch=5, verbose=0)\n" in after


def test_a_variable_for_all_of_them() -> None:
    """What a function returns together goes through a variable before it is taken apart."""
    both = "both = specs(5)\ntraining, testing = both"
    after = converted(SPECS + MADE + RUN.replace("training, testing = specs(5)", both))
    assert "\nboth = specs(5)\ntrain_dataset, eval_dataset = both\n" in after
    body = "def build():\n    return tf.estimator.Estimator(model_fn), 1\n\n\npair = build()\n"
    after = converted(f"{body}estimator = pair[0]\nestimator.train(input_fn, steps=5)\n")
    assert "estimator.fit(input_fn(), steps_per_epoch=5, verbose=0)\n" in after


def test_specs_become_datasets_by_all_their_names() -> None:
    after = converted(SPECS + MADE + RUN)
    assert "    train_dataset = input_fn()\n    eval_dataset = input_fn()\n" in after
    assert "    return train_dataset, eval_dataset\n" in after
    assert "\ntrain_dataset, eval_dataset = specs(5)\n" in after
    assert "\nestimator.fit(train_dataset, steps_per_epoch=5, verbose=0)\n" in after
    assert "\nestimator.evaluate(eval_dataset, return_dict=True, verbose=0)\n" in after


def test_all_of_it_with_a_folder() -> None:
    body = SPECS.replace("def specs(steps):\n", f"def specs(steps):\n    {MADE}").replace(
        "    return train_spec", "    return estimator, train_spec"
    )
    body = body.replace("(model_fn)", "(model_fn, 'out')")
    after = converted(body + RUN.replace("training, testing =", "estimator, training, testing ="))
    assert "\nestimator, train_dataset, eval_dataset = specs(5)\n# The variables" in after
    assert "manager = tf.train.CheckpointManager(checkpoint, 'out', max_to_keep=5)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("max_steps=steps", "max_steps=1 + steps", "`max_steps` of a TrainSpec that another"),
        ("training, testing = specs(5)", "training, testing = specs(5)\nprint(training)",
         "TrainSpec is used for more"),
        ("training, testing =", "train_dataset = 3\ntraining, testing =", "means something else"),
        ("training, testing =", "testing, *training =", "which TrainSpec this is"),
    ],
)  # fmt: skip
def test_specs_that_stay(old: str, new: str, reason: str) -> None:
    stays(HEAD + (SPECS + MADE + RUN).replace(old, new), reason)


@pytest.mark.parametrize(
    ("taken", "reason"),
    [
        ("estimator, *rest = build()", "how the Estimator is used here"),
        ("for estimator in build(): pass", "how the Estimator is used here"),
    ],
)
def test_members_that_are_not_followed(taken: str, reason: str) -> None:
    body = (
        "def build():\n    est = tf.estimator.Estimator(model_fn)\n    return est, 'a line'\n\n\n"
    )
    stays(f"{HEAD}{body}{taken}\nestimator.train(input_fn, steps=5)\n", reason)
