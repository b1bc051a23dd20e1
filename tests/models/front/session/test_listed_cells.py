"""Functions that list cells, and what a cell is given that a network begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import after, changed, run, said

FIXTURES = Path(__file__).parents[4] / "fixtures" / "session"
LISTED = (FIXTURES / "listed_cells" / "before.py").read_text("utf-8")
APPENDS = "                listed.append(one(units, n >= first))\n"
WRAPS = "                cell = tf.nn.rnn_cell.ResidualWrapper(cell)\n"
WHICH = "which cells these are cannot be determined"


def _kept(text: str, *reasons: str) -> None:
    """The program stays on the bridge, and a finding says why."""
    result = run(text, bridge=True, native_sessions=True)
    kept = [one.message for one in result.findings if one.state == "kept"]
    assert any(reason in one for one in kept for reason in reasons), said(result)
    assert "class AttentionCell" not in after(result, text)


def test_a_function_lists_cells_some_around_others() -> None:
    text = after(run(LISTED, native_sessions=True), LISTED)
    assert "            if residual:\n                cell = ResidualCell(cell)\n" in text
    assert "                listed.append(one(units, n >= first))\n" in text
    assert "decoder(x_tensor, initial_state=decoder.cell.begin(last))" in text
    assert "print(encoded" not in text


@pytest.mark.parametrize(
    "lines, reason",
    [
        ("                kept = one(units, False)\n                listed.append(kept)\n"
         "                listed.append(kept)\n", "two cells of this stack may be one"),
        (APPENDS + "            listed[0] = one(units, False)\n", WHICH),
        (APPENDS + "            listed.reverse()\n", WHICH),
    ],
)  # fmt: skip
def test_a_list_that_is_more(lines: str, reason: str) -> None:
    _kept(changed(LISTED, (APPENDS, lines)), reason)


def test_a_branch_that_asks_the_graph() -> None:
    _kept(changed(LISTED, ("            if residual:\n", "            if residual and rows > 1:\n"),
                  ("        def one(", "        rows = tf.constant(2)\n\n        def one("),
                  ("        rows = tf.shape(self.x)[0]\n", "")),
          "`rows`, a part of the graph, is used outside of `Session.run`")  # fmt: skip


def test_a_cell_that_is_read_before_it_is_wrapped() -> None:
    text = changed(LISTED, (WRAPS, "                inner = cell\n" + WRAPS))
    _kept(text, "the cell in this one may be another one's as well")


@pytest.mark.parametrize("given", [", 0.5)", ", keep=0.5)"])
def test_a_state_that_is_not_kept(given: str) -> None:
    text = changed(LISTED, ("Model(5, 3, 4, 0.05)", f"Model(5, 3, 4, 0.05{given}"))
    _kept(text, "`state_keep_prob` of `tf.contrib.rnn.DropoutWrapper` cannot be analyzed")


def test_a_state_that_is_begun_twice() -> None:
    old = "        outputs, _ = tf.nn.dynamic_rnn(\n"
    more = "        again, _ = tf.nn.dynamic_rnn(decoder, read, initial_state=start)\n"
    _kept(changed(LISTED, (old, more + old)), "a recurrent cell")
