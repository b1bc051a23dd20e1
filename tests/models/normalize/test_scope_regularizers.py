"""Scopes that give their variables a regularizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import after, run, said

FOLDER = Path(__file__).parents[3] / "fixtures" / "towers" / "scope_decay"
PROGRAM = (FOLDER / "before.py").read_text(encoding="utf-8")


def test_variables_state_it() -> None:
    result = run(PROGRAM, bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"native"}, said(result)
    text = after(result, PROGRAM)
    assert text.count("regularizer") >= 2  # the weights', and the biases' as well


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # A function that others call as well; a variable that states its own.
        ("x = tf.placeholder", "shown = network(tf.ones([1, 4]))\nx = tf.placeholder"),
        ("shape=[units], init", "regularizer=None, shape=[units], init"),
        # What makes variables otherwise; a regularizer that is not the same for all.
        ("outputs = network(x_parts[i])", "outputs = tf.layers.dense(network(x_parts[i]), 2)"),
        ("l2_regularizer(0.02)", "l2_regularizer(np.random.rand())"),
        ("regularizer=DECAY", "regularizer=lambda w: tf.nn.l2_loss(w)"),
    ],
)
def test_stays(old: str, new: str) -> None:
    assert old in PROGRAM
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} == {"bridge"}, said(result)
    assert "is not part of a tower" in " ".join(said(result)) or "`x`" in " ".join(said(result))
