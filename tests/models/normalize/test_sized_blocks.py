"""Layers whose sizes, or number, follow from how long a sequence is; cells of scopes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FOLDER = Path(__file__).parents[3] / "fixtures/session"
TEXT = (FOLDER / "sized_blocks/before.py").read_text()
CELLS = (FOLDER / "scoped_cells/before.py").read_text()
OUTSIDE = "a part of the graph, is used outside of"


def test_as_many_layers_as_the_sequence_asks_for() -> None:
    text, _ = migrated(TEXT, native_sessions=True)
    assert "for _ in range(4):" in text
    assert 'tf.nn.max_pool1d(found, found.get_shape().as_list()[1], 1, "VALID")' in text
    assert "hidden = input_shape[2]" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[None, length]", "[None, None]", OUTSIDE),
        ("length = 20\n", "length = int('20')\n", OUTSIDE),
        ("x, 3, 2)", "x, 3, 2, padding=width and 'same')", OUTSIDE),
        ("as_list()[1] >= 2", "as_list()[2] >= 2", OUTSIDE),
    ],
)
def test_sizes_that_are_not_told_stay(old: str, new: str, reason: str) -> None:
    result = run(changed(TEXT, (old, new)), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)


def test_cells_get_the_initializer_of_their_scope() -> None:
    text, _ = migrated(CELLS, native_sessions=True)
    assert "kernel_initializer=tf.keras.initializers.Orthogonal()" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"query", initializer=tf.orthogonal', '"query", initializer=tf.zeros'),
        ("orthogonal_initializer())", "orthogonal_initializer(seed=1))"),
        ("GRUCell(size,", "BasicRNNCell(size,"),
        (
            "            answers, _ =",
            "            stack = [stack][0] if tf.get_variable('w', [2]) is None else stack\n"
            "            answers, _ =",
        ),
        ("        both =", "        more = cells()\n        both ="),
    ],
)
def test_cells_that_may_begin_otherwise_stay(old: str, new: str) -> None:
    text = CELLS.replace(old, new)
    assert text != CELLS
    result = run(text, bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge", said(result)
