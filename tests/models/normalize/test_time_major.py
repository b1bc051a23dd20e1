"""Networks over sequences whose first index is the time: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "time_major" / "before.py").read_text()
FIRST = "time_major=True, scope='encoder'"

# What is changed, and what the finding says then.
STAYS = {
    "it is not known which": (
        [(FIRST, "time_major=STEPS > 3, scope='encoder'")],
        "the session stays",
    ),
    "the two are not taken apart": (
        [("outputs, _ = tf", "both = tf"), ("dense(outputs,", "dense(both[0],")],
        "the first index of the inputs is the time",
    ),
    "of two sequences": (
        [("encoder, embedded,", "encoder, (embedded, embedded),")],
        "the session stays",
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)
