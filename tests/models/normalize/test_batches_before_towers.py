"""Arrays that towers draw as they are built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

FIXTURES = Path(__file__).parents[3] / "fixtures" / "towers"
PROGRAM = (FIXTURES / "batches_of_arrays" / "before.py").read_text(encoding="utf-8")
DRAW = "    rows, numbers = inputs(args.batch_size)\n"
IN_LOOP = "                    loss = tower_loss()\n"


def in_loop(program: str) -> str:
    """The same, where the function's statements stand in the loop."""
    above, _, rest = program.partition("def tower_loss():\n")
    body, _, below = rest.partition("\n\n\n")
    lines = body.replace("    return ", "    loss = ").splitlines()
    return f"{above}{below}".replace(IN_LOOP, "".join(f"{' ' * 16}{one}\n" for one in lines))


def test_they_are_drawn_before_in_the_order_of_the_towers() -> None:
    after = native(PROGRAM)
    made = "batches = [inputs(args.batch_size) for _ in range(args.num_gpus)]\n"
    above, _, below = after.partition(made)
    assert "first, _ = data.next_batch(2)" in above
    assert "            rows, numbers = batches[i]\n" in below
    assert "following, _ = data.next_batch(2)" in below


def test_a_draw_of_the_loop_itself() -> None:
    after = native(in_loop(PROGRAM))
    made = "batches = [inputs(args.batch_size) for _ in range(args.num_gpus)]\n"
    assert made in after


TWICE = PROGRAM.replace(DRAW, f"{DRAW}    rows = rows + data.next_batch(args.batch_size)[0]\n")
BEHIND = in_loop(PROGRAM).replace("following, _ = data.next_batch(2)", "following = rows")
DIFFERENT = PROGRAM.replace("tower_loss()", "tower_loss(i)").replace(
    "def tower_loss(i)", "def tower_loss(number)"
)
DIFFERENT = DIFFERENT.replace("inputs(args.batch_size)", "inputs(args.batch_size + number)")
TENSORS = PROGRAM.replace(
    "data.next_batch(size)\n", "data.next_batch(size)\n    rows = tf.random_uniform([size, 4])\n"
)


@pytest.mark.parametrize("program", [TWICE, BEHIND, DIFFERENT, TENSORS])
def test_what_is_drawn_otherwise_stays(program: str) -> None:
    """It matters which is first; a last one is read; they differ; it is a part of the graph."""
    assert program != PROGRAM
    result = run(("main.py", program), native_sessions=True)
    assert [one.state for one in result.programs] != ["native"], said(result)
