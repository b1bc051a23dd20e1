"""A model_fn with arguments that a variable has, and several Estimators get."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import HEAD, closure
from tests.support.migration import migrated, stays

MADE = closure().partition("estimator = ")[0]
SHARED = """\
fn = make_model_fn(16)
first = tf.estimator.Estimator(fn)
second = tf.estimator.Estimator(model_fn=fn)
"""
DRIVEN = """\
first.train(input_fn, steps=100)
second.train(input_fn, steps=100)
print(first.evaluate(input_fn, steps=1), second.evaluate(input_fn, steps=1))
"""
STORED = "the arguments of its model_fn are stored in a variable"


def test_each_estimator_gets_its_own_model() -> None:
    after, _ = migrated(HEAD + MADE + SHARED + DRIVEN)
    assert (
        "first = model_fn(hidden=16, rate=0.1)\nsecond = model_fn(hidden=16, rate=0.1)\n" in after
    )


def test_an_estimator_in_a_function_below() -> None:
    made = "def make():\n    return tf.estimator.Estimator(fn)\n\n\nsecond = make()"
    after, messages = migrated(
        HEAD + MADE + SHARED.replace("second = tf.estimator.Estimator(model_fn=fn)", made) + DRIVEN
    )
    assert "    return model_fn(hidden=16, rate=0.1)\n" in after, messages


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("second = tf", "print(fn)\nsecond = tf"),
        ("fn = make_model_fn(16)", "size = 16\nfn = make_model_fn(size)\nsize = 8"),
    ],
)
def test_variables_that_stay(old: str, new: str) -> None:
    program = HEAD + MADE + SHARED.replace(old, new) + DRIVEN
    stays(program, STORED)
