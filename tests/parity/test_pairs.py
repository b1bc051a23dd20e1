"""Equal pairs pass, on real TensorFlow; wrong variants are in ``diagnose/test_mutants.py``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from migrate_mgpu.parity import check, ladder, sides
from migrate_mgpu.parity.sides import Options, Side
from migrate_mgpu.parity.supervise import Limits
from migrate_mgpu.parity.tolerances import Tolerances

sys.path.insert(0, str(Path(__file__).parent))
import pairs

pytest.importorskip("numpy")
DEVICES = 2
OPTIONS = Options(limits=Limits(seconds=200))
References = Callable[[str], "tuple[Side, Path]"]


@pytest.fixture(scope="module")
def reference(runtime, tmp_path_factory) -> References:
    """``reference("towers")``: the run of its before.py, once for all tests."""
    done: dict[str, tuple[Side, Path]] = {}

    def get(case: str) -> tuple[Side, Path]:
        if case not in done:
            place = tmp_path_factory.mktemp(case)
            before = pairs.FOLDER / case / "before.py"
            side = sides.run_one(runtime("tf1.15"), before, DEVICES, OPTIONS, place)
            assert side.failure is None, side.stderr[-2000:]
            done[case] = side, place / "initial.npz"
        return done[case]

    return get


def judged(reference: References, case: str, target, after: Path, place: Path) -> check.Judged:
    before, initial = reference(case)
    side = sides.run_one(target, after, DEVICES, OPTIONS, place, "target", initial)
    return check.judge(DEVICES, before, side, Tolerances())


@pytest.mark.parametrize("where", ["tf2.15", "tf2-latest"])
@pytest.mark.parametrize("case", pairs.CASES)
def test_pair_is_equal(reference, runtime, tmp_path, case, where):
    after = pairs.FOLDER / case / "after.py"
    found = judged(reference, case, runtime(where), after, tmp_path)
    assert found.verdict == check.EQUIVALENT, found.reason
    steps = sides.summary(found.target)["steps"]
    assert steps and min(steps) >= 40
    for rung in found.rungs[:8]:
        assert rung.status == ladder.EQUAL, (rung.name, rung.reason)
    for curve in found.rungs[6].outputs:  # a GAN has two
        assert curve.largest_relative is not None and curve.largest_relative < 1e-5


def test_a_model_that_is_not_restored_is_another_one(reference, runtime, tmp_path):
    text = (pairs.FOLDER / "two_models" / "after.py").read_text(encoding="utf-8")
    restored = "tf.train.Checkpoint(model=again).restore"
    assert restored in text
    after = tmp_path / "after.py"
    after.write_text(
        text.replace(restored, "tf.train.Checkpoint().restore", 1).replace(
            ".assert_existing_objects_matched()", "", 1
        ),
        encoding="utf-8",
    )
    found = judged(reference, "two_models", runtime("tf2.15"), after, tmp_path / "run")
    assert found.verdict == check.NOT_EQUIVALENT
    lacking = [output.name for output in found.rungs[1].outputs]
    assert len(lacking) == 4 and all("of model 3" in name for name in lacking), lacking
