"""Equal pairs pass, on real TensorFlow; wrong variants are in ``diagnose/test_mutants.py``.

The programs of a runtime run in one process that imports TensorFlow once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.compare import outcome, rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import sides
from migrate_mgpu.parity.second_run import ROUNDING_RUNS, SecondRun

sys.path.insert(0, str(Path(__file__).parent))
import live
import pairs

pytest.importorskip("numpy")
REFERENCE = "tf1.15"
NOT_RESTORED = "two_models, not restored"
Judge = Callable[[str, str, str], verdict.Judged]


def text(case: str, side: str) -> str:
    return (pairs.FOLDER / case / f"{side}.py").read_text(encoding="utf-8")


def not_restored() -> str:
    """The pair ``two_models`` whose second model does not begin as the first one ended."""
    program = text("two_models", "after")
    restored = "tf.train.Checkpoint(model=again).restore"
    assert restored in program
    program = program.replace(restored, "tf.train.Checkpoint().restore", 1)
    return program.replace(".assert_existing_objects_matched()", "", 1)


@pytest.fixture(scope="module")
def judged(runtime, tmp_path_factory) -> Judge:
    """``judged("towers", "towers", "tf2.15")``: a program of a runtime beside its reference."""
    folders: dict[str, Path] = {}

    def get(case: str, name: str, where: str) -> verdict.Judged:
        runtime(REFERENCE), runtime(where)  # skips where they cannot be made
        if REFERENCE not in folders:
            folders[REFERENCE] = tmp_path_factory.mktemp(REFERENCE)
            before = {one: (one, text(one, "before")) for one in pairs.CASES}
            live.run(REFERENCE, before, folders[REFERENCE])
        if where not in folders:
            folders[where] = tmp_path_factory.mktemp(where)
            after = {f"{one}.after": (one, text(one, "after")) for one in pairs.CASES}
            after[NOT_RESTORED] = ("two_models", not_restored())
            for initial in folders[REFERENCE].glob("*.initial.npz*"):
                (folders[where] / initial.name).symlink_to(initial)
            live.run(where, after, folders[where])
        before = sides.collect(folders[REFERENCE], case, "before.py", REFERENCE)
        assert before.failure is None, before.stderr[-2000:]
        found = sides.collect(folders[where], name, "after.py", where)
        first = verdict.judge(live.DEVICES, before, found, Tolerances())
        if not verdict.rounding_may_explain(first):
            return first
        # Some first values lie badly: measured as the command does.
        measured = rounding.between(before, rounded(case))
        assert measured is not None
        return verdict.with_rounding(first, Tolerances(), SecondRun(), measured)

    def rounded(case: str) -> list[sides.Side]:
        folder, others = folders[REFERENCE], []
        for n in range(1, ROUNDING_RUNS[0] + 1):
            again = f"{case}.rounded{n}"
            if not (folder / f"{again}.json").exists():
                live.run(REFERENCE, {again: (case, text(case, "before"))}, folder, rounded=n)
            others.append(sides.collect(folder, again, "before.py", REFERENCE))
        return others

    return get


@pytest.mark.parametrize("where", ["tf2.15", "tf2-latest"])
@pytest.mark.parametrize("case", pairs.CASES)
def test_pair_is_equal(judged, case, where):
    found = judged(case, f"{case}.after", where)
    assert found.verdict == outcome.EQUIVALENT, found.reason
    steps = sides.summary(found.target)["steps"]
    assert steps and min(steps) >= 40
    for rung in found.rungs[:8]:
        assert rung.status == outcome.EQUAL, (rung.name, rung.reason)
    for curve in found.rungs[6].outputs:  # a GAN has two
        assert curve.largest_relative is not None and curve.largest_relative < 1e-5


def test_a_model_that_is_not_restored_is_another_one(judged):
    found = judged("two_models", NOT_RESTORED, "tf2.15")
    assert found.verdict == outcome.NOT_EQUIVALENT
    lacking = [output.name for output in found.rungs[1].outputs]
    assert len(lacking) == 4 and all("of model 3" in name for name in lacking), lacking
