"""Functions that build a graph, run it, and give what that gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import after, run, said

PROGRAM = (
    Path(__file__).parents[4] / "fixtures" / "session" / "answers_by_call" / "before.py"
).read_text("utf-8")


def test_what_another_function_looks_for_by_its_text_is_its_own() -> None:
    """`eval(input())`, which Python 2's `input` is, sees no names of other functions."""
    asked = PROGRAM.replace("    for seed in range(3):", '    for seed in eval("range(3)"):')
    result = run(asked, native_sessions=True)
    assert [program.state for program in result.programs] == ["native"], said(result)
    assert "guess_value = compute_guess(question).numpy()" in after(result, asked)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        # A tensor is given in one of two places.
        ("                return -1\n", "                return scores\n", "`scores`, a part"),
        # Somebody looks for the name where it is.
        (
            "                return guess\n",
            '                return locals()["guess"]\n',
            "`guess`, a part of the graph, is assigned again",
        ),
    ],
)
def test_what_may_be_given_of_the_graph_keeps_its_program(old: str, new: str, reason: str) -> None:
    assert PROGRAM.count(old) == 1
    result = run(PROGRAM.replace(old, new), bridge=True, native_sessions=True)
    assert [program.state for program in result.programs] == ["bridge"]
    assert any(reason in one for one in said(result)), said(result)
