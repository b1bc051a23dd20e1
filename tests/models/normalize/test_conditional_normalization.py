"""Batch normalization that a condition makes for training, and once more for all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "session"
PROGRAM = (FIXTURES / "conditional_normalization" / "before.py").read_text()
LAST = "decay=0.8, center=True, is_training=True, updates_collections=None, scope='last_batch'"
AGAIN = LAST.replace("True, updates", "False, updates") + ", reuse=True"
OWN = "keeps its updates in a collection of its own"
SHARED = "its variables are shared by name with another call"
IN_LAMBDA = "a layer is made in a comprehension, or a lambda"
FUNCTION = "`Batch_Normalization` does more than make and apply layers"
ALONE = changed(
    PROGRAM,
    ("                   scope=scope,\n                   updates_collections=None,\n", ""),
    ("training, reuse=None", "training, scope=scope, updates_collections=None"),
    ("training, reuse=True", "training, scope=scope, updates_collections=None, reuse=True"),
)


def stays(program: str) -> str:
    """What is said of a program that stays on the bridge."""
    result = run(program, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return "\n".join(one for one in said(result) if "stays, on the bridge" in one)


def test_both_calls_are_one_that_is_told_whether_it_trains() -> None:
    after = native(PROGRAM)
    assert "self.batch_norm(x, training=training)" in after
    assert "net = batch_norm_2(net, training=training_flag)" in after
    assert "tf.cond(" not in after


def test_an_arg_scope_may_say_less() -> None:
    assert "tf.cond(" not in native(ALONE)


def test_an_import_of_arg_scope_gives_no_arguments() -> None:
    told = "is_training=training, updates_collections=None, scope=scope"
    given = f"    return batch_norm(inputs=x, {told})\n"
    start, end = PROGRAM.index("    with arg_scope"), PROGRAM.index("\n\nx = tf.placeholder")
    after = native(PROGRAM[:start] + given + PROGRAM[end:])
    assert "arg_scope" not in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (LAST, LAST.replace("updates_collections=None", "updates_collections='mine'"), OWN),
        (LAST, LAST.replace(" updates_collections=None,", ""), SHARED),
        (AGAIN, AGAIN.replace(", reuse=True", ""), IN_LAMBDA),
        (AGAIN, AGAIN.replace("0.8", "0.7"), SHARED),
        (AGAIN, AGAIN.replace("is_training=False", "is_training=True"), SHARED),
        (LAST, LAST.replace("is_training=True", "is_training=False"), SHARED),
        ("net = tf.cond(training_flag", "net = tf.cond(tf.equal(learning_rate, 0.0)", SHARED),
    ],
)
def test_calls_that_are_not_one_stay(old: str, new: str, why: str) -> None:
    assert why in stays(changed(PROGRAM, (old, new)))


def test_all_of_the_update_ops_are_not_those_of_a_branch() -> None:
    program = changed(PROGRAM, (LAST, LAST.replace(" updates_collections=None,", "")))
    program = changed(program, (AGAIN, AGAIN.replace(" updates_collections=None,", "")))
    assert SHARED in stays(program)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("zero_debias_moving_mean=True", "zero_debias_moving_mean=len(labels) > 1", FUNCTION),
        (
            "zero_debias_moving_mean=True",
            "zero_debias_moving_mean=True, fused=False",
            "that is not fused",
        ),
        (
            "    for step in",
            "    saver = tf.train.Saver()\n    for step in",
            "debiased moving mean",
        ),
    ],
)
def test_means_that_are_debiased_otherwise_stay(old: str, new: str, why: str) -> None:
    assert why in stays(changed(PROGRAM, (old, new)))
