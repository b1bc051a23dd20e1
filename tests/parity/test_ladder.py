"""The ladder, on sides that are made here: what must fail, fails."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from migrate_mgpu.parity import check, ladder, matching, printed
from migrate_mgpu.parity.sides import Side
from migrate_mgpu.parity.tolerances import Tolerances

numpy = pytest.importorskip("numpy")
CONFIG = {"config": {}, "environment": {}, "shown_gpus": [0], "kind": "Session", "file": None}
NAN = float("nan")


def side(folder: Path, name: str, stdout: str = "loss 0.5\n", **changes: Any) -> Side:
    """A side of three steps and two variables; ``changes`` are of its training entry."""
    arrays = {}
    for kind in ("initial", "gradient", "after_one", "final"):
        arrays[f"{kind}/0"] = numpy.arange(6, dtype="float32").reshape(2, 3) + 1
        arrays[f"{kind}/1"] = numpy.full([3], 0.5, "float32")
    arrays.update(changes.pop("arrays", {}))
    for key in [k for k, v in arrays.items() if v is None]:
        del arrays[key]
    training = {
        "declared": True,
        "stopped": False,
        "variables": [{"name": "w", "shape": [2, 3]}, {"name": "b", "shape": [3]}],
        "series": [{"combine": "sum", "losses": [[3.0, 2.0, 1.0]], "examples": [[8, 8, 8]]}],
        "outputs": [],
        "pins": {},
        "notes": [],
    }
    training.update(changes)
    place = folder / f"{name}.npz"
    numpy.savez(place, **arrays)
    trace = {
        "gpus": [1000],
        "sessions": [copy.deepcopy(CONFIG)],
        "servers": [],
        "context": {"initialised": [], "exit": None},
        "versions": {},
        "exception": None,
        "status": 0,
        "training": training,
    }
    return Side("p.py", "tf", trace, place, stdout, "", "exit 0", 0, 1.0)


def series(*losses: float, examples: int | None = 8, combine: str = "sum") -> list[Any]:
    return [{"combine": combine, "losses": [list(losses)], "examples": [[examples] * len(losses)]}]


def broken(one: Side, other: Side, **tolerances: Any) -> int | None:
    found = ladder.headline(ladder.compare(one, other, Tolerances(**tolerances)))
    return found.number if found else None


def test_equal_sides_pass_on_all_rungs(tmp_path):
    found = ladder.compare(side(tmp_path, "a"), side(tmp_path, "b"), Tolerances())
    assert [rung.status for rung in found] == [ladder.EQUAL] * 9


@pytest.mark.parametrize(
    ("changes", "rung"),
    [
        ({"variables": [{"name": "w", "shape": [2, 3]}]}, 2),
        ({"variables": [{"name": "w", "shape": [3, 2]}, {"name": "b", "shape": [3]}]}, 2),
        ({"declared": False, "variables": [], "series": []}, 2),
        ({"arrays": {"initial/1": numpy.full([3], 0.6, "float32")}}, 2),
        ({"arrays": {"initial/1": None}}, 2),
        ({"series": []}, 4),
        ({"series": series(3.0, 2.0, 1.0, examples=4)}, 3),
        ({"series": series(3.001, 2.0, 1.0)}, 4),
        ({"series": series(NAN, 2.0, 1.0)}, 4),
        ({"arrays": {"gradient/1": numpy.full([3], 0.51, "float32")}}, 5),
        ({"arrays": {"gradient/1": None}}, 5),
        ({"arrays": {"after_one/0": numpy.full([2, 3], NAN, "float32")}}, 6),
        ({"arrays": {"after_one/0": None}}, 6),
        ({"series": series(3.0, 2.0, 1.001)}, 7),
        ({"series": series(3.0, 2.0, NAN)}, 7),
        ({"series": series(3.0, 2.0)}, 7),
        ({"series": series(3.0, 2.0, 1.0, 0.5)}, 7),
        ({"series": series(3.0, 2.0, 1.0) * 2}, 4),
        ({"arrays": {"final/1": numpy.full([3], 0.501, "float32")}}, 8),
        ({"arrays": {"final/1": None}}, 8),
    ],
)
def test_what_differs_breaks_its_rung(tmp_path, changes, rung):
    one, other = side(tmp_path, "a"), side(tmp_path, "b", **changes)
    assert broken(one, other) == rung
    assert broken(other, one) is not None  # whichever side it is


def test_both_not_a_number_is_no_match(tmp_path):
    nans = {"series": series(NAN, NAN, NAN)}
    assert broken(side(tmp_path, "a", **nans), side(tmp_path, "b", **nans)) == 4


def test_no_steps_on_both_sides_is_no_match(tmp_path):
    nothing = {"series": [], "variables": []}
    assert broken(side(tmp_path, "a", **nothing), side(tmp_path, "b", **nothing)) == 2


def test_examples_that_cannot_be_seen_are_said_so(tmp_path):
    other = side(tmp_path, "b", series=series(3.0, 2.0, 1.0, examples=None))
    found = ladder.compare(side(tmp_path, "a"), other, Tolerances())
    assert found[2].status == ladder.NOT_COMPARED
    assert found[2].outputs[0].detail == "not to be seen in the target"


def test_towers_are_averaged_and_replicas_summed(tmp_path):
    towers = [{"combine": "mean", "losses": [[2.0], [4.0]], "examples": [[8], [0]]}]
    replicas = [{"combine": "sum", "losses": [[1.0], [2.0]], "examples": [[4], [4]]}]
    one, other = side(tmp_path, "a", series=towers), side(tmp_path, "b", series=replicas)
    assert broken(one, other) is None


def test_what_would_pass_is_told_and_passes(tmp_path):
    one, other = side(tmp_path, "a"), side(tmp_path, "b", series=series(3.003, 2.002, 1.0005))
    rungs = ladder.compare(one, other, Tolerances())
    needed = rungs[6].outputs[0].needed
    assert needed == pytest.approx(1e-3, rel=0.01)
    assert rungs[6].outputs[0].first_bad == 1
    assert broken(one, other, named_rtol={"loss": needed * 1.01}) is None
    assert broken(one, other, named_rtol={"loss": needed * 0.9}) == 4
    assert broken(one, other, atol=0.01) is None


def test_tolerances_by_pattern(tmp_path):
    other = side(tmp_path, "b", arrays={"final/1": numpy.full([3], 0.501, "float32")})
    assert broken(side(tmp_path, "a"), other, named_rtol={"weights/b": 1e-2}) is None
    assert broken(side(tmp_path, "a"), other, named_rtol={"weights/w": 1e-2}) == 8
    assert broken(side(tmp_path, "a"), other, named_rtol={"weights/*": 1e-2}) is None


def test_programs_without_training_are_compared_on_two_rungs(tmp_path):
    plain = {"declared": False, "variables": [], "series": []}
    one, other = side(tmp_path, "a", **plain), side(tmp_path, "b", **plain)
    found = ladder.compare(one, other, Tolerances())
    assert [r.number for r in found if r.status != ladder.NOT_COMPARED] == [1, 9]
    other.stdout = "loss 0.6\n"
    assert broken(one, other) == 9


def result(kind: str, **values: float) -> dict[str, Any]:
    return {"outputs": [{"kind": kind, "step": 3, "values": values, "arrays": {}}]}


@pytest.mark.parametrize(
    ("before", "after", "rung"),
    [
        (result("evaluate", loss=1.0, acc=0.5), result("evaluate", loss=1.0, accuracy=0.5), None),
        (result("evaluate", loss=1.0, global_step=9), result("evaluate", loss=1.0), None),
        (result("evaluate", loss=1.0), result("evaluate", loss=1.1), 9),
        (result("evaluate", loss=1.0), result("evaluate", loss=NAN), 9),
        (result("evaluate", loss=1.0, rmse=1.0), result("evaluate", loss=1.0), 9),
        (result("evaluate", loss=1.0), {"outputs": []}, 9),
        ({"outputs": result("evaluate", loss=1.0)["outputs"] * 2}, result("evaluate", loss=1.0), 9),
    ],
)
def test_results(tmp_path, before, after, rung):
    assert broken(side(tmp_path, "a", **before), side(tmp_path, "b", **after)) == rung


def test_a_side_that_crashed_never_passes(tmp_path):
    one, other = side(tmp_path, "a"), side(tmp_path, "b")
    other.trace["exception"] = {"type": "ValueError", "message": "mine"}
    assert check.judge(1, one, other, Tolerances()).verdict == check.NOT_EQUIVALENT
    assert check.judge(1, other, one, Tolerances()).verdict == check.NOT_COMPARED
    other.trace["exception"], other.ended = None, "timed out after 5 s"
    assert check.judge(1, one, other, Tolerances()).verdict == check.NOT_EQUIVALENT


def test_variables_are_paired_by_name_then_by_order_and_shape():
    def known(*named: tuple[str, list[int]]) -> list[dict[str, Any]]:
        return [{"name": name, "shape": shape} for name, shape in named]

    before = known(("a/kernel", [2]), ("b/kernel", [2]), ("c", [3]), ("d", [2]))
    after = known(("b/kernel:0", [2]), ("x", [2]), ("a/kernel", [2]), ("y", [4]))
    pairs, lacking, more = matching.pair(before, after)
    assert pairs == [(0, 2), (1, 0), (3, 1)]
    assert (lacking, more) == ([2], [3])


def test_noise_of_printed_numbers():
    one, two = "step 1 loss 0.5 (0.01 s)\n", "step 1 loss 0.5 (0.02 s)\n"
    found = printed.noise(one, two)
    assert found == {(0, 2)}
    assert printed.compare(one, "step 1 loss 0.5 (9.9 s)\n", noise=found) == []
    assert printed.compare(one, "step 1 loss 0.6 (9.9 s)\n", noise=found)
    assert printed.noise(one, "another line\n") is None
    assert printed.noise(one, one + one) is None


def test_last_printed_digit():
    assert printed.compare("0.1235", "0.1234", rounded=True) == []
    assert printed.compare("0.1235", "0.1234")
    assert printed.compare("0.1235", "0.1233", rounded=True)
    assert printed.compare("0.5", "0.6", rounded=True)
    assert printed.compare("0.12", "0.13", rounded=True)
    assert printed.compare("0.123456", "0.123457", rounded=True) == []  # within the tolerance
    assert printed.compare("0.123456", "0.123476", rounded=True)
