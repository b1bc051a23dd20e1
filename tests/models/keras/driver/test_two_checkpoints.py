"""Checkpoints of several models, and of one that a function uses."""

from __future__ import annotations

import pytest

from tests.models.whole import HEAD, converted
from tests.support.migration import stays

FIRST = 'first = tf.estimator.Estimator(model_fn, "one")\n'
SECOND = 'second = tf.estimator.Estimator(model_fn, "two")\n'
BOTH = "first.train(input_fn, steps=2)\nsecond.train(input_fn, steps=2)\n"
ASKS = """\
def show(estimator, points):
    print(list(estimator.predict(lambda: made(points))))


def made(points):
    return tf.data.Dataset.from_tensor_slices(points).batch(4)


"""
MADE = ASKS.replace("lambda: made(points)", "make_input_fn(points)").replace(
    "def made(points):\n    return ", "def make_input_fn(points):\n    return lambda: "
)
UNKNOWN = "what the Estimator is fed is not known where it is made, and it has a model_dir"


def test_models_that_are_used_in_turns_save_their_own() -> None:
    text = converted(FIRST + SECOND + BOTH + BOTH)
    for name in ("first", "second"):
        assert text.count(f"{name}_manager.save({name}.optimizer.iterations)\n") == 2, text
        assert f"{name}_checkpoint = tf.train.Checkpoint(model={name})\n" in text


@pytest.mark.parametrize("head", ["for _ in range(2):\n", "if X is not None:\n"])
def test_models_in_one_block_save_their_own(head: str) -> None:
    lines = "".join(f"    {line}\n" for line in BOTH.splitlines())
    text = converted(FIRST + SECOND + head + lines)
    for name in ("first", "second"):
        assert f"{name}_manager.save({name}.optimizer.iterations)\n" in text, text


def test_one_that_is_made_behind_the_other() -> None:
    one, two = BOTH.splitlines(keepends=True)
    text = converted(FIRST + one + SECOND + two)
    assert text.count("\nmanager.save(") == 2, text


def test_a_function_feeds_what_it_is_given() -> None:
    text = converted(MADE + FIRST + "show(first, X)\n")
    assert "make_input_fn(X)().element_spec" in text.partition("show(first, X)")[0], text


@pytest.mark.parametrize(
    "used",
    [
        "show(first, X)\nshow(first, X)\n",
        "show(first, X + 1)\n",
        "for _ in range(2):\n    show(first, X)\n",
    ],
)
def test_what_a_function_feeds_is_not_known(used: str) -> None:
    stays(HEAD + MADE + FIRST + used, UNKNOWN)


def test_a_function_in_a_function_is_not_known() -> None:
    stays(HEAD + ASKS + FIRST + "show(first, X)\n", UNKNOWN)
