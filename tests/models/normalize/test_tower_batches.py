"""Batches that a tower draws in a function, functions given functions, sessions elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import run, said

FOLDER = Path(__file__).parents[3] / "fixtures" / "towers" / "functions_of_functions" / "before"
FILES = {one.name: one.read_text(encoding="utf-8") for one in sorted(FOLDER.glob("*.py"))}


def states(files: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    result = run(*files.items(), native_sessions=True)
    return {str(one.entry): one.state for one in result.programs}, said(result)


def changed(name: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[name]
    return {**FILES, name: FILES[name].replace(old, new)}


def test_as_it_stands() -> None:
    found, told = states(FILES)
    assert found == {"main.py": "native"}, told


CALL = "    take_steps(step, cost)\n"
UNNAMED = "from parts import average, measured_cost, measured_rows, take_steps\n"


@pytest.mark.parametrize(
    "files",
    [
        # How many parts a batch has is not known, or which one is asked for.
        changed("parts.py", "data.repeat(passes)", "data.map(lambda *row: row).repeat(passes)"),
        changed("parts.py", "(values, results))", "rows(values, results))"),
        changed("parts.py", "values = batch[0]", "values = batch[len(batch) - 2]"),
        changed("parts.py", "values = batch[0]", "values = [*batch][0]"),
        changed("parts.py", "values = batch[0]", "values = batch[2]"),
        # The function that draws is used as something else as well.
        changed("main.py", CALL, f"{CALL}    print(batch_fn)\n"),
        # The session's function is given to another, is called twice, or in another place.
        changed("main.py", CALL, f"{CALL}{CALL}"),
        changed("main.py", CALL, "    done = take_steps(step, cost)\n    print(done)\n"),
        changed("main.py", CALL, "    for _ in range(2):\n        take_steps(step, cost)\n"),
        # What is called for nothing draws, or makes a part of a graph.
        changed("parts.py", "    return data\n", "    tf.reduce_sum(values)\n    return data\n"),
    ],
)
def test_neighbours_stay(files: dict[str, str]) -> None:
    found, told = states(files)
    assert found != {"main.py": "native"}, told


def test_programs_that_share_the_modules_keep_them() -> None:
    """The one without towers stays, with the modules as they are; the other has its own."""
    plain = """import tensorflow as tf
from parts import measured_cost, measured_rows, take_steps

iterator = measured_rows().make_one_shot_iterator()
cost = measured_cost(iterator.get_next)
take_steps(tf.train.AdamOptimizer(0.01).minimize(cost), cost)
"""
    found, told = states({**FILES, "plain.py": plain})
    assert found["main.py"] == "native", told
    assert found["plain.py"] != "refused"
