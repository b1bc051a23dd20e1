"""Functions and input functions that a module defines again below."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD
from tests.support.migration import changed, migrated

PROGRAM = f"""\
{HEAD}estimator = tf.estimator.Estimator(model_fn)


def rows_fn(count):
    def take():
        return tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(count)

    return take


def show(count):
    print(estimator.evaluate(rows_fn(count)))


fed = rows_fn(4)
estimator.train(fed, steps=3)
show(4)
fed = rows_fn(2)
estimator.train(fed, steps=2)


def rows_fn():
    return tf.data.Dataset.from_tensor_slices(X).batch(1)


for row in estimator.predict(rows_fn):
    print(row)
"""


def test_each_definition_has_a_name_of_its_own() -> None:
    text, messages = migrated(PROGRAM)
    assert "def rows_fn_2():" in text, messages
    assert "estimator.predict(rows_fn_2()" in text
    assert "fed_2 = rows_fn(2)" in text
    assert "estimator.fit(fed_2(), steps_per_epoch=2" in text
    assert "estimator.evaluate(rows_fn(count)()" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # `show` is called where there is another one, or kept for later.
        ("    print(row)\n", "    print(row)\nshow(3)\n"),
        ("show(4)\n", "show(4)\nkept = [show]\n"),
        ("show(4)\n", "show(4)\nkept = [lambda: rows_fn(1)]\n"),
        ("show(4)\n", "show(4)\nprint(globals()['fed'])\n"),
        # Which of them it is depends on what happens.
        ("def rows_fn():\n    return", "if len(X):\n    def rows_fn():\n        return"),
        ("def show(count):\n", "@print\ndef show(count):\n"),
        # A function that it gives away may be called whenever.
        (
            "    print(estimator.evaluate(rows_fn(count)))",
            "    kept.append(lambda: estimator.evaluate(rows_fn(count)))",
        ),
    ],
)
def test_names_whose_meaning_cannot_be_told_stay(old: str, new: str) -> None:
    text, messages = migrated(changed(PROGRAM, (old, new)))
    assert "rows_fn_2" not in text
    assert any("the Estimator stays" in one for one in messages)
