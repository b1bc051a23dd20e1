"""A reset of the default graph above everything, and modules that a call imports: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
TESTS = FOLDER / "graph_beside_tests" / "before"
TWINS = FOLDER / "rnn_twins" / "before"
RESET = "ops.reset_default_graph()"

STAYS = {
    "a seed is gone with the graph": (RESET, f"tf.set_random_seed(3)\n{RESET}"),
    "something is in the graph": (RESET, f"STEPS = tf.constant(8)\n{RESET}"),
    "a function may leave something in it": (
        RESET, f"def begin():\n    return tf.constant(8)\n\n\nbegin()\n{RESET}"
    ),
    "it is reset for each of several": (RESET, f"for _ in range(2):\n    {RESET}"),
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_a_graph_that_has_something_is_reset(case: str) -> None:
    main = changed((TESTS / "main.py").read_text(), STAYS[case])
    reader = (TESTS / "evaluate.py").read_text()
    result = run(("main.py", main), ("evaluate.py", reader), bridge=True, native_sessions=True)
    states = {one.entry.name: one.state for one in result.programs}
    assert states["main.py"] == "bridge", said(result)
    assert any("is not supported in a native program" in one for one in said(result)), said(result)


def _twins(*pairs: tuple[str, str], parts: tuple[tuple[str, str], ...] = ()) -> list[str]:
    main = changed((TWINS / "main.py").read_text(), *pairs)
    text = changed((TWINS / "twins.py").read_text(), *parts)
    result = run(("main.py", main), ("twins.py", text), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    return said(result)


def test_the_name_of_a_module_is_computed() -> None:
    found = _twins(('__import__("twins")', '__import__("tw" + "ins"[:3])'))
    assert any("only known at run time" in one for one in found), found


def test_the_state_of_a_listed_network_drops_out() -> None:
    keeps = ("input_keep_prob=0.9", "input_keep_prob=0.9, state_keep_prob=keep")
    found = _twins(parts=(keeps,))
    assert any("the session stays" in one for one in found), found


def test_a_name_stands_for_two_cells() -> None:
    cells = (
        "make = tf.nn.rnn_cell.BasicLSTMCell",
        "make = tf.nn.rnn_cell.BasicLSTMCell\n        make = tf.nn.rnn_cell.GRUCell",
    )
    found = _twins(parts=(cells,))
    assert any("the session stays" in one for one in found), found
