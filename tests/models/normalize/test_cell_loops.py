"""Recurrent cells that a loop puts into a list, and dropout around a cell under a condition."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_refusals import program
from tests.models.front.session.test_session_cells import FEED, HEAD, REST
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

LOOP = """\
keep = 0.5
cells = []
for _ in range(2):
    one = tf.nn.rnn_cell.BasicLSTMCell(3)
    if keep < 1.0:
        one = tf.nn.rnn_cell.DropoutWrapper(one, output_keep_prob=keep)
    cells.append(one)
cell = tf.nn.rnn_cell.MultiRNNCell(cells)
outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
out = outputs[:, -1]
"""
PLAIN = LOOP.replace(
    "    if keep < 1.0:\n"
    "        one = tf.nn.rnn_cell.DropoutWrapper(one, output_keep_prob=keep)\n",
    "",
)  # fmt: skip


def test_a_loop_that_fills_a_list_of_cells_is_a_comprehension() -> None:
    after = native(program(PLAIN + REST, FEED, head=HEAD))
    assert "cells = [LSTMCell(3) for _ in range(2)]\n" in after


def test_the_name_of_a_cell_may_be_that_of_the_stack() -> None:
    after = native(program(PLAIN.replace("one", "cell") + REST, FEED, head=HEAD))
    assert "cells = [LSTMCell(3) for _ in range(2)]\n" in after


def test_a_condition_says_how_much_dropout_keeps() -> None:
    after = native(program(LOOP + REST, FEED, head=HEAD))
    assert "keep if keep < 1.0 else 1.0" in after


SINGLE = """\
keep = 0.5
cell = tf.nn.rnn_cell.BasicLSTMCell(3)
if keep < 1.0:
    cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
out = outputs[:, -1]
"""


def test_one_cell_has_dropout_under_a_condition() -> None:
    after = native(program(SINGLE + REST, FEED, head=HEAD))
    assert "keep if keep < 1.0 else 1.0" in after


IN_LOOP = "`tf.nn.rnn_cell.BasicLSTMCell` is not supported in a native program"
OUTSIDE = "a part of the graph, is used outside of `Session.run`"
STAYS = {
    "a cell that is read behind the loop": (
        PLAIN + "size = one.output_size\n",
        "`tf.nn.rnn_cell.BasicLSTMCell` is not among the functions that are known to only",
    ),
    "a number that is read behind the loop": (
        PLAIN.replace("for _ in", "for number in") + "print(number)\n",
        IN_LOOP,
    ),
    "another list": (
        PLAIN.replace("cells = []", "cells = [tf.nn.rnn_cell.BasicLSTMCell(3)]"),
        f"`cells`, {OUTSIDE}",
    ),
    "a round that does more": (
        PLAIN.replace("    cells.append", "    print(one)\n    cells.append"),
        IN_LOOP,
    ),
    "the same cell in all": (
        PLAIN.replace("for _ in range(2):\n    one = ", "one = ").replace(
            "    cells.append(one)", "for _ in range(2):\n    cells.append(one)"
        ),
        "`one` is not a value that can be used in a computation",
    ),
    "a loop that may end": (
        PLAIN.replace("    cells.append(one)", "    cells.append(one)\n    break"),
        IN_LOOP,
    ),
    "another cell without dropout": (
        SINGLE.replace("=keep)\n", "=keep)\nelse:\n    cell = tf.nn.rnn_cell.GRUCell(3)\n"),
        f"`cell`, {OUTSIDE}",
    ),
    "a condition that calls something": (
        SINGLE.replace("if keep < 1.0", "if float(rows[0, 0, 0]) < 1.0"),
        f"`cell`, {OUTSIDE}",
    ),
}


@pytest.mark.parametrize("case", STAYS.values(), ids=STAYS)
def test_stays(case: tuple[str, str]) -> None:
    text, reason = case
    result = run(program(text + REST, FEED, head=HEAD), bridge=True, native_sessions=True)
    assert {one.state for one in result.programs} <= {"bridge", "refused"}, said(result)
    assert any(reason in message for message in said(result)), said(result)
