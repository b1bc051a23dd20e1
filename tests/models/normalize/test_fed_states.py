"""States of zeros that runs feed: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "fed_states" / "before.py").read_text()
CELL = "a recurrent cell is used by itself"
LAST = "print(last[0],"

# What is changed.
STAYS = {
    "the state is shown as a pair": [(LAST, "print(last.c,")],
    "the state is shown": [(LAST, "print(last,")],
    "the state is the first one again": [("begin: last,", "begin: (last[1], last[0]),")],
    "the state is another one as well": [(LAST, "last = (0, 0)\n" + LAST)],
    "the last state is more than run": [
        ("both = tf.concat([outputs, slow_outputs], 2)",
         "both = tf.concat([outputs, slow_outputs], 2) + end.h[0, 0]")
    ],
    "the cell is projected": [("num_units=UNITS,", "num_units=UNITS, num_proj=3,")],
    "the state begins two networks": [
        ("both = tf.concat([outputs, slow_outputs], 2)",
         "more, _ = tf.nn.dynamic_rnn(cell, x, initial_state=begin)\n"
         "both = tf.concat([outputs, slow_outputs, more], 2)")
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and CELL in one for one in said(result)), said(result)
