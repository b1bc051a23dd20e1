"""Losses of sequences that are one tensor each: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "sequence_losses" / "before.py").read_text()
ROWS = "[self.kinds], [self.kind],"

# What is changed.
STAYS = {
    "of two parts": [
        (ROWS, "[self.kinds, self.kinds], [self.kind, self.kind],"),
        ("[tf.fill([self.batch], 0.5)]", "[tf.fill([self.batch], 0.5)] * 2"),
    ],
    "of a list by a name": [
        ("        rows = ", "        kinds = [self.kinds]\n        rows = "),
        (ROWS, "kinds, [self.kind],"),
    ],
    "averaged or not": [("average_across_timesteps=False", "average_across_timesteps=self.flag")],
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("sequence_loss_by_example" in one for one in said(result)), said(result)
