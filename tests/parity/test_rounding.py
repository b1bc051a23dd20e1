"""Equal loops that rounding drives apart are equal, and what is really wrong in them is not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))
import false_alarms
import live
import loops

from migrate_mgpu.parity import verdict
from migrate_mgpu.parity.compare import outcome

TARGET = "tf2.15"
NAMES = (
    "classes_clipped",
    "normalized_adam",
    "two_fast_optimizers",
    "two_in_another_order",
    "towers_adam",
)
# name: loop, what is changed in its new program, the rung that must break
WRONG = {
    "not divided by n under Adam": ("towers_adam", "g / 2.0 for", "g for", 4),
    "summed instead of averaged": ("towers_adam", "ReduceOp.MEAN, gr", "ReduceOp.SUM, gr", 4),
    "another epsilon": ("normalized_adam", "epsilon=1e-8", "epsilon=1e-6", 6),
    "one weight a little off": (
        "normalized_adam",
        "    print(step, now.numpy())",
        "    variables[0][0, 0].assign(variables[0][0, 0] + 1e-5); print(step, now.numpy())",
        6,
    ),
}


@pytest.fixture(scope="module")
def folder(runtime, tmp_path_factory) -> Path:
    """The runs of all programs."""
    runtime(false_alarms.REFERENCE), runtime(TARGET)  # skips where they cannot be made
    place: Path = tmp_path_factory.mktemp("loops")
    false_alarms.references({name: loops.texts(name)[0] for name in NAMES}, place)
    after = {f"{name}.{TARGET}": (name, loops.texts(name)[1]) for name in NAMES}
    for name, (loop, old, new, _) in WRONG.items():
        text = loops.texts(loop)[1]
        assert old in text, name
        after[name] = (loop, text.replace(old, new))
    live.run(TARGET, after, place)
    return place


@pytest.mark.parametrize("name", NAMES)
def test_equal_loops_are_equal(folder, name):
    found = false_alarms.judge(folder, name, f"{name}.{TARGET}", TARGET)
    assert found.verdict == outcome.EQUIVALENT, found.reason


def test_rounding_is_told(folder):
    found = false_alarms.judge(folder, "normalized_adam", f"normalized_adam.{TARGET}", TARGET)
    assert any("rounding" in note for note in found.reference.training["notes"])
    # The normalization takes this bias away: Adam moves it by the rounding of its gradient.
    bias = next(o for o in found.rungs[7].outputs if o.name == "weights/Variable_1")
    assert bias.status != outcome.DIFFERS
    before = false_alarms.sides.collect(folder, "normalized_adam", "", "").load_arrays()
    after = false_alarms.sides.collect(folder, f"normalized_adam.{TARGET}", "", "").load_arrays()
    assert abs(before["final/1"] - after["final/1"]).max() > 1e-3


def test_another_scale_of_the_loss_is_told(folder):
    found = false_alarms.judge(folder, "towers_adam", f"towers_adam.{TARGET}", TARGET)
    assert found.verdict == outcome.EQUIVALENT, found.reason
    assert "2 times the reference's at every step" in found.rungs[3].outputs[0].detail


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_stays_wrong(folder, name):
    loop, _, _, rung = WRONG[name]
    found = false_alarms.judge(folder, loop, name, TARGET, always=True)
    assert found.verdict == outcome.NOT_EQUIVALENT
    broken = outcome.headline(found.rungs)
    assert broken is not None and broken.number == rung, found.reason


def test_it_is_measured_where_it_may_explain_something(folder):
    wrong = false_alarms.judge(folder, "towers_adam", "not divided by n under Adam", TARGET)
    assert not verdict.rounding_may_explain(wrong)  # the cause is known
