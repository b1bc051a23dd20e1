"""Canned Estimators of which a run makes one, over columns that one function makes for all.

The program is the fixture ``canned_kinds``, which is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated

FIXTURE = Path(__file__).parents[4] / "fixtures" / "estimator" / "canned_kinds"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")
LAST = "    return wide_columns, deep_columns\n"


def changed(old: str, new: str) -> str:
    assert old in PROGRAM, old
    return PROGRAM.replace(old, new, 1)


def test_what_restores_is_one_for_all_of_them() -> None:
    after, said = migrated(PROGRAM)
    assert after.count("CheckpointManager(") == 1, said
    assert '        if hasattr(model, "linear_optimizer"):\n' in after
    assert "build_columns" not in after


def test_only_those_that_have_one_build_a_second_optimizer() -> None:
    head, _, tail = PROGRAM.partition('    if kind == "wide":\n')
    made = tail.partition("    else:\n")[2].partition("\n\n\n")
    combined = "\n".join(line.removeprefix("    ") for line in made[0].splitlines())
    after, said = migrated(head + combined + made[1] + made[2])
    assert "        model.linear_optimizer.build(model.linear.trainable_variables)\n" in after, said
    assert "hasattr" not in after


@pytest.mark.parametrize(
    "line",
    [
        "    print(len(wide_columns))\n",
        "    deep_columns.append(input())\n",
        "    extra = [open('towns').read()]\n",
        "    global built\n    built = True\n",
    ],
)
def test_a_function_that_does_more_makes_the_columns(line: str) -> None:
    """It stays, and all of the Estimators that the run may make ask what it made."""
    after, said = migrated(changed(LAST, line + LAST))
    assert line + LAST in after, said
    assert after.count("class FeatureColumns(") == after.count("class WeightedColumns(") == 1
    assert after.count("build_columns()") == 2
