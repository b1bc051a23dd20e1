"""Pairs of gradients that runs fetch: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
COMPUTED = "# the pairs of gradients"
PROGRAM = (FOLDER / "fetched_gradients" / "before.py").read_text()
PROGRAM = PROGRAM.replace(COMPUTED, f"unused = optimizer.minimize(cost)\n{COMPUTED}")
LISTED = "compute_gradients(cost, [slope, shift])"
APPLIED, AGAIN = "apply_gradients = opt", "    for step in range(2):"
PAIRS = "what `pairs` fetches cannot be determined"
ZEROS = "tf.Variable(tf.zeros([1]))"
SHIFT = f"shift = {ZEROS}"
FED = "feed_dict={x: xs[1:], y: ys[1:]}"
RUN = f"last = sess.run(pairs, {FED})"
TWO = "one optimizer minimizes two losses"

# What is changed, and what the finding says then.
STAYS = {
    "a function makes a variable": (
        [
            (LISTED, "compute_gradients(cost)"),
            (SHIFT, f"def made():\n    return {ZEROS}\n\nshift = made()"),
        ],
        PAIRS,
    ),
    "the pairs are others below": (
        [(APPLIED, f"pairs = [(g * g, g) for g, v in pairs]\n{APPLIED}")],
        "what happens to the gradients here cannot be analyzed",
    ),
    "a run may not be made": (
        [("hand, values, _ = sess", "hand, values, _ = step and sess")],
        "",
    ),
    "a step is run before, in the same statement": (
        [(RUN, f"last = step(sess.run([cost, apply_gradients], {FED})[:1] + {RUN[7:]})")],
        PAIRS,
    ),
    "what minimizes is run": ([(AGAIN, f"    sess.run(unused)\n{AGAIN}")], ""),
    "what minimizes makes variables": ([("GradientDescentOptimizer(", "AdamOptimizer(")], TWO),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_variables_by_their_names() -> None:
    after = native(changed(PROGRAM, (LISTED, "compute_gradients(cost)")))
    assert "slope_gradient, shift_gradient = tf.gradients(cost, [slope, shift])" in after


def test_pairs_alone() -> None:
    after = native(changed(PROGRAM, (RUN, f"last = sorted({RUN[7:]})")))
    assert "slope_value, shift_value = slope.numpy(), shift.numpy()" in after
    pairs = "[(slope_gradient_value, slope_value), (shift_gradient_value, shift_value)]"
    assert f"last = sorted({pairs})" in after


def test_the_only_variable() -> None:
    text = changed(
        PROGRAM,
        (LISTED, "compute_gradients(cost)"),
        (" + shift", ""),
        (", slope, pairs]", ", pairs]"),
        ("cost, slope, pairs = parts", "cost, pairs = parts"),
        ("(cost, slope), [", "(cost, cost), ["),
    )
    after = native(changed(text, ("shift = tf.Variable(tf.zeros([1]))\n", "")))
    assert "slope_gradient, = tf.gradients(cost, [slope])" in after
