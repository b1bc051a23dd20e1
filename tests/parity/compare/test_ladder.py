"""The ladder, on sides that are made here: what must fail, fails."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from migrate_mgpu.parity import second_run, verdict
from migrate_mgpu.parity.compare import ladder, numeric, outcome, printed, rounding
from migrate_mgpu.parity.compare.rounding import Rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs.sides import Side
from migrate_mgpu.parity.second_run import SecondRun

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


def assigned(reference: bool, target: bool) -> dict[str, Any]:
    """A variable that begins with another value, by which sides assign to it before."""
    return {"name": "w", "reference_assigned": reference, "target_assigned": target}


def broken(one: Side, other: Side, **tolerances: Any) -> int | None:
    found = outcome.headline(ladder.compare(one, other, Tolerances(**tolerances)))
    return found.number if found else None


def test_equal_sides_pass_on_all_rungs(tmp_path):
    found = ladder.compare(side(tmp_path, "a"), side(tmp_path, "b"), Tolerances())
    assert [rung.status for rung in found] == [outcome.EQUAL] * 9


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


@pytest.mark.parametrize(
    ("reference", "target", "detail"),
    [
        (True, False, "the reference assigns to it before the first step; the target does not"),
        (False, True, "the target assigns to it before the first step; the reference does not"),
        (True, True, "what is assigned to it before the first step is another value"),
    ],
)
def test_what_is_assigned_before_the_first_step(tmp_path, reference, target, detail):
    other = side(tmp_path, "b", first_values=[assigned(reference, target)])
    found = outcome.headline(ladder.compare(side(tmp_path, "a"), other, Tolerances()))
    assert found is not None and found.number == 2
    assert [output.detail[: len(detail)] for output in found.outputs] == [detail]


_TAKEN = {"combine": "sum", "losses": [[3.0, 2.0, 1.0]], "examples": [[8, 8, 8]], "variables": [0]}
_IDLE = {"combine": "sum", "losses": [], "examples": [], "variables": []}


@pytest.mark.parametrize(
    ("one", "other", "rung"),
    [
        ([_TAKEN, _IDLE], [_TAKEN, _IDLE], None),
        ([_IDLE, _TAKEN], [_TAKEN], None),
        ([_TAKEN, {**_TAKEN, "variables": [1]}], [_TAKEN, _IDLE], 2),
        ([_TAKEN, _IDLE], [_TAKEN, {**_TAKEN, "variables": [1]}], 2),
        ([_IDLE, _IDLE], [_IDLE, _IDLE], 2),
    ],
)
def test_a_step_that_is_built_beside_others_and_not_taken(tmp_path, one, other, rung):
    """Its variables have no gradients. One that a side alone takes trains what the other lacks."""
    alone = {"gradient/1": None, "after_one/1": None, "final/1": None, "initial/1": None}
    sides = []
    for name, steps in (("a", one), ("b", other)):
        taken = any(1 in step["variables"] for step in steps)
        variables = [{"name": "w", "shape": [2, 3]}, {"name": "b", "shape": [3]}]
        listed = variables if taken or name == "a" else variables[:1]
        arrays = {} if taken else dict(alone)
        sides.append(side(tmp_path, name, series=steps, variables=listed, arrays=arrays))
    assert broken(*sides) == rung


def test_both_not_a_number_is_no_match(tmp_path):
    nans = {"series": series(NAN, NAN, NAN)}
    assert broken(side(tmp_path, "a", **nans), side(tmp_path, "b", **nans)) == 4


def test_no_steps_on_both_sides_is_no_match(tmp_path):
    nothing = {"series": [], "variables": []}
    assert broken(side(tmp_path, "a", **nothing), side(tmp_path, "b", **nothing)) == 2


def test_examples_that_cannot_be_seen_are_said_so(tmp_path):
    other = side(tmp_path, "b", series=series(3.0, 2.0, 1.0, examples=None))
    found = ladder.compare(side(tmp_path, "a"), other, Tolerances())
    assert found[2].status == outcome.NOT_COMPARED
    assert found[2].outputs[0].detail == "not observed in the target"


def test_a_step_of_several_batches_may_be_counted_by_any_of_them(tmp_path):
    either = [{**series(3.0, 2.0, 1.0, examples=4)[0], "lengths": [4, 8]}]
    one, other = side(tmp_path, "a"), side(tmp_path, "b", series=either)
    assert broken(one, other) is None
    half = [{**series(3.0, 2.0, 1.0, examples=4)[0], "lengths": [4]}]
    assert broken(one, side(tmp_path, "c", series=half)) == 3


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
    assert [r.number for r in found if r.status != outcome.NOT_COMPARED] == [1, 9]
    other.stdout = "loss 0.6\n"
    assert broken(one, other) == 9


def result(kind: str, **values: float) -> dict[str, Any]:
    return {"outputs": [{"kind": kind, "step": 3, "values": values, "arrays": {}}]}


def of_canned(**values: float) -> dict[str, Any]:
    """The evaluation of a canned Estimator."""
    (entry,) = result("evaluate", **values)["outputs"]
    return {"outputs": [{**entry, "canned": True}]}


@pytest.mark.parametrize(
    ("before", "after", "rung"),
    [
        (result("evaluate", loss=1.0, acc=0.5), result("evaluate", loss=1.0, accuracy=0.5), None),
        (result("evaluate", loss=1.0, global_step=9), result("evaluate", loss=1.0), None),
        (result("evaluate", loss=1.0), result("evaluate", loss=1.1), 9),
        (result("evaluate", loss=1.0), result("evaluate", loss=NAN), 9),
        (result("evaluate", loss=1.0, rmse=1.0), result("evaluate", loss=1.0), 9),
        (result("evaluate", loss=1.0, accuracy=1.0), result("evaluate", loss=1.0), 9),
        (of_canned(loss=1.0, accuracy=1.0), result("evaluate", loss=1.0), None),
        (of_canned(loss=1.0, accuracy=1.0), result("evaluate", loss=1.0, accuracy=0.9), 9),
        (of_canned(loss=1.0, accuracy=1.0), result("evaluate", accuracy=1.0), 9),
        (of_canned(loss=1.0, accuracy=1.0), {"outputs": []}, 9),
        (result("evaluate", loss=1.0), {"outputs": []}, 9),
        ({"outputs": result("evaluate", loss=1.0)["outputs"] * 2}, result("evaluate", loss=1.0), 9),
    ],
)
def test_results(tmp_path, before, after, rung):
    """A model_fn's metrics are its author's; which a canned Estimator adds is TensorFlow's."""
    assert broken(side(tmp_path, "a", **before), side(tmp_path, "b", **after)) == rung


def predicted(numbers: list[float], **entry: int) -> dict[str, Any]:
    """What a program predicts; ``taken=3`` where it asked for three rows, and no more."""
    outputs = [
        {"kind": "predict", "step": 3, "values": {}, "arrays": {"y": "predict/0/0"}, **entry}
    ]
    return {"outputs": outputs, "arrays": {"predict/0/0": numpy.asarray(numbers)}}


@pytest.mark.parametrize(
    ("before", "after", "rung"),
    [
        (predicted([1, 2, 3]), predicted([1, 2, 3]), None),
        (predicted([1, 2, 3]), predicted([1, 2, 3, 4]), 9),
        (predicted([1, 2, 3], taken=3), predicted([1, 2, 3, 4]), None),
        (predicted([1, 2, 3], taken=3), predicted([1, 2, 5, 4]), 9),
        (predicted([1, 2, 3], taken=3), predicted([1, 2]), 9),
    ],
)
def test_rows_that_a_program_did_not_take_are_none_of_its_results(tmp_path, before, after, rung):
    """An Estimator predicts when it is asked for a row: `islice(estimator.predict(...), 3)`."""
    assert broken(side(tmp_path, "a", **before), side(tmp_path, "b", **after)) == rung


def first_update(update: Any, gradient: Any) -> dict[str, Any]:
    """Of a bias that begins at zero."""
    arrays = {"initial/1": numpy.zeros(3), "after_one/1": update, "gradient/1": gradient}
    return {"arrays": {n: numpy.asarray(v, "float32") for n, v in arrays.items()}}


@pytest.mark.parametrize(
    ("before", "after", "rung"),
    [
        # Seen with Adagrad: an update carries the rounding of a gradient whose terms cancel.
        (([2e-4] * 3, [1.0, 1, 1]), ([2.00004e-4] * 3, [1.00002, 1, 1]), None),
        (([2e-4] * 3, [1.0, 1, 1]), ([2.00004e-4] * 3, [1.0, 1, 1]), 6),
        # Seen with Adam: a gradient near its epsilon, which is no larger than its own rounding.
        (([0.1, 0.1, 0.08], [1.0, 1, 7e-8]), ([0.1, 0.1, 0.09], [1.0, 1.0000001, 8e-8]), None),
        (([0.1, 0.1, 0.08], [1.0, 1, 7e-3]), ([0.1, 0.1, 0.09], [1.0, 1.0000001, 7e-3]), 6),
        (([0.1, 0.1, 0.1], [1.0, 1, 1]), ([0.11, 0.11, 0.11], [1.0, 1, 1.0000001]), 6),
    ],
)
def test_a_first_update_has_the_noise_of_its_gradient(tmp_path, before, after, rung):
    one = side(tmp_path, "a", **first_update(*before))
    assert broken(one, side(tmp_path, "b", **first_update(*after))) == rung


def test_single_final_weights_may_be_apart(tmp_path):
    """As Adam leaves them: one of 8192 by 1.5e-5 of the largest, the others by 1e-7."""

    def final(*changes: float, kind: str = "final") -> dict[str, Any]:
        value = numpy.linspace(0.1, 1.0, 2000, dtype="float32")
        value[: len(changes)] += numpy.asarray(changes, "float32")
        return {"arrays": {f"{kind}/0": value}}

    def rung(name: str, *changes: float, kind: str = "final") -> int | None:
        one = side(tmp_path, f"{name}-a", **final(kind=kind))
        return broken(one, side(tmp_path, f"{name}-b", **final(*changes, kind=kind)))

    assert rung("two", 5e-5, 5e-5) is None
    assert rung("three", 5e-5, 5e-5, 5e-5) == 8  # of 2000
    assert rung("far", 2e-4) == 8
    assert rung("after one", 5e-5, kind="after_one") == 6
    sides = side(tmp_path, "a", **final()), side(tmp_path, "b", **final(5e-5))
    said = ladder.compare(*sides, Tolerances())[7].outputs[0]
    assert said.status == outcome.EQUAL and said.detail.startswith("1 of 2000 elements beyond 1")


def test_a_training_that_cannot_be_seen_is_not_compared(tmp_path):
    """No pass, and no blame: the numbers that are there are not the program's."""
    hidden = side(tmp_path, "b", unseen="workers", variables=[], series=[])
    for one, other in ((side(tmp_path, "a"), hidden), (hidden, side(tmp_path, "a"))):
        judged = verdict.judge(1, one, other, Tolerances())
        assert judged.verdict == outcome.NOT_COMPARED and judged.reason.endswith(
            "observed: workers"
        )
        assert [rung.status for rung in judged.rungs[1:8]] == [outcome.NOT_COMPARED] * 7
    hidden.stdout = "loss 0.6\n"
    judged = verdict.judge(1, side(tmp_path, "a"), hidden, Tolerances())
    assert judged.verdict == outcome.NOT_EQUIVALENT  # what is seen, differs


def test_other_gradients_excuse_no_other_weights(tmp_path):
    """As with another batch: what is no rounding shows on both rungs."""
    one = side(tmp_path, "a", **first_update([0.05] * 3, [-4.0, 1, 1]))
    two = side(tmp_path, "b", **first_update([0.046] * 3, [-0.8, 1, 1]))
    found = ladder.compare(one, two, Tolerances())
    assert [found[n].status for n in (4, 5)] == [outcome.DIFFERS] * 2


def recorded(*calls: Any, name: str = "norm", whole: bool = False) -> dict[str, Any]:
    values = [numpy.asarray(call) for call in calls]
    entry = {
        "name": name,
        "whole": whole,
        "steps": list(range(1, len(calls) + 1)),
        "shapes": [list(value.shape) for value in values],
    }
    flat = numpy.concatenate([value.ravel() for value in values])
    return {"records": [entry], "arrays": {"record/0": flat}}


@pytest.mark.parametrize(
    ("before", "after", "rung", "detail"),
    [
        (recorded(1.0, [2.0, 3.0]), recorded(1.0, [2.0, 3.00001]), None, ""),
        (recorded(1.0, [2.0, 3.0]), recorded(1.0, [2.0, 3.1]), 9, "call 2: [1]: 3 became 3.1"),
        (recorded(1.0, 2.0), recorded(1.0), 9, "2 calls became 1"),
        (recorded(1.0), recorded(1.0, name="loss"), 9, "the target has not recorded it"),
        (recorded(1.0), {}, 9, "the target has not recorded it"),
        ({}, recorded(1.0), 9, "the reference has not recorded it"),
        (recorded([1.0, 2.0]), recorded([[1.0, 2.0]]), 9, "shape (2,) became (1, 2)"),
        (recorded(NAN), recorded(NAN), 9, "not all values are finite"),
        (recorded(1000000), recorded(1000001), None, ""),
        (recorded(1000000, whole=True), recorded(1000001, whole=True), 9, "1000000 became 1000001"),
    ],
)
def test_what_programs_record(tmp_path, before, after, rung, detail):
    found = ladder.compare(
        side(tmp_path, "a", **before), side(tmp_path, "b", **after), Tolerances()
    )
    broken = outcome.headline(found)
    assert (broken.number if broken else None) == rung
    if rung:
        assert detail in next(o.detail for o in found[8].outputs if o.status == outcome.DIFFERS)


def test_records_of_stopped_programs_are_compared(tmp_path):
    """The last call may come after the step that ended one of them."""
    one = side(tmp_path, "a", stopped=True, **recorded(1.0, 2.0, 3.0))
    assert broken(one, side(tmp_path, "b", stopped=True, **recorded(1.0, 2.0))) is None
    assert broken(one, side(tmp_path, "c", stopped=True, **recorded(1.0))) == 9
    assert broken(one, side(tmp_path, "d", stopped=True, **recorded(1.0, 2.5))) == 9


def test_a_side_that_crashed_never_passes(tmp_path):
    one, other = side(tmp_path, "a"), side(tmp_path, "b")
    other.trace["exception"] = {"type": "ValueError", "message": "mine"}
    assert verdict.judge(1, one, other, Tolerances()).verdict == outcome.NOT_EQUIVALENT
    assert verdict.judge(1, other, one, Tolerances()).verdict == outcome.NOT_COMPARED
    other.trace["exception"], other.ended = None, "timed out after 5 s"
    assert verdict.judge(1, one, other, Tolerances()).verdict == outcome.NOT_EQUIVALENT


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no such GPU\n  File x.py, line 3\n", "no such GPU"),
        ("in user code:\n\n    File x.py, line 3\n    mine\n", "in user code: ... mine"),
        (
            "Graph execution error:\n\nNode: 'a'\nIncompatible shapes: [2] vs. [3]\n"
            "\t [[{{node a}}]]",
            "Graph execution error: ... Incompatible shapes: [2] vs. [3]",
        ),
        (
            "Graph execution error:\n\n2 root error(s) found.\n  (0) INVALID_ARGUMENT:  no\n"
            "\t [[{{node a}}]]\n  (1) CANCELLED:  gone\n1 derived errors ignored.",
            "Graph execution error: ... (0) INVALID_ARGUMENT:  no",
        ),
        ("", ""),
    ],
)
def test_why_a_side_crashed_is_told_in_a_line(tmp_path, message, shown):
    one = side(tmp_path, "a")
    one.trace["exception"] = {"type": "ValueError", "message": message}
    assert one.failure == f"ValueError: {shown}"


def test_noise_of_printed_numbers():
    one, two = "step 1 loss 0.5 (0.01 s)\n", "step 1 loss 0.5 (0.02 s)\n"
    found = printed.noise(one, two)
    assert found == {(0, 2)}
    assert printed.compare(one, "step 1 loss 0.5 (9.9 s)\n", noise=found) == []
    assert printed.compare(one, "step 1 loss 0.6 (9.9 s)\n", noise=found)
    assert printed.noise(one, one + one) is None
    # Rounding is none, and must not hide what follows.
    assert printed.noise("loss 0.1234567\n", "loss 0.1234568\n") == set()
    # A path: the whole line.
    found = printed.noise("saved in /tmp/a\nloss 0.5\n", "saved in /tmp/b\nloss 0.5\n")
    assert found == {(0, printed.WHOLE)}
    assert printed.compare("saved in /tmp/a\n0.5\n", "in c\n0.5\n", noise=found) == []
    assert printed.compare("saved in /tmp/a\n0.5\n", "in c\n0.6\n", noise=found)


def test_a_rate_that_is_the_same_twice_by_chance():
    def run(*rates: int) -> str:
        return "".join(f"step {n}: loss 0.5, {rate} examples/s\n" for n, rate in enumerate(rates))

    one, two = run(30, 31, 28), run(29, 31, 33)
    found = printed.noise(one, two)
    assert found == {(0, 2), (1, 2), (2, 2)}
    assert printed.compare(one, run(70, 71, 72), noise=found) == []
    assert printed.compare(one, run(70, 71, 72).replace("0.5", "0.6"), noise=found)
    # One that most lines agree in is a result, and so is what stands in a line without words.
    assert printed.noise(run(30, 31, 28), run(30, 31, 29)) == {(2, 2)}
    assert printed.noise("1\n2\n3\n", "1\n5\n6\n") == {(1, 0), (2, 0)}


def test_two_runs_of_a_program_that_differ(tmp_path):
    one = side(tmp_path, "a")
    assert second_run.between(one, side(tmp_path, "b")) == SecondRun()
    found = second_run.between(one, side(tmp_path, "c", series=series(3.5, 2.0, 1.0)))
    assert found.rung == 4 and "3 became 3.5" in found.text
    assert SecondRun.from_data(json.loads(json.dumps(found.as_data()))) == found
    crashed = side(tmp_path, "d")
    crashed.ended = "signal 11"
    assert "signal 11" in second_run.between(one, crashed).text


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (SecondRun(), outcome.NOT_EQUIVALENT),
        (SecondRun(rung=4, text="first loss: loss"), outcome.NOT_COMPARABLE),
        (SecondRun(rung=6, text="weights"), outcome.NOT_COMPARABLE),
        (SecondRun(rung=7, text="loss curve"), outcome.NOT_EQUIVALENT),  # later than what broke
    ],
)
def test_a_reference_that_differs_from_itself_has_its_own_verdict(tmp_path, seen, expected):
    one = side(tmp_path, "a", pins={"random_operations": ["RandomUniform"]})
    two = side(tmp_path, "b", arrays={"after_one/0": numpy.ones([2, 3], "float32")})
    judged = verdict.judge(1, one, two, Tolerances())
    found = verdict.with_second_run(judged, Tolerances(), seen)
    assert found.verdict == expected
    if expected == outcome.NOT_COMPARABLE:
        assert seen.text in found.reason and "RandomUniform" in found.reason


def test_a_set_of_which_the_order_is_a_run_s_own(tmp_path):
    one, two = side(tmp_path, "a"), side(tmp_path, "b", series=series(3.5, 2.0, 1.0))
    one.trace["unordered"] = [["train.py", 7]]
    judged = verdict.judge(1, one, two, Tolerances())
    assert [(found.cause, found.likelihood) for found in judged.diagnosis] == [
        ("set-order", "possible")
    ]
    found = verdict.with_second_run(judged, Tolerances(), SecondRun(rung=4, text="first loss"))
    assert found.reason.endswith("train.py, line 7, walks through a set, in an order of each run")


def test_last_printed_digit():
    assert printed.compare("0.1235", "0.1234", rounded=True) == []
    assert printed.compare("0.1235", "0.1234")
    assert printed.compare("0.1235", "0.1233", rounded=True)
    assert printed.compare("0.5", "0.6", rounded=True)
    assert printed.compare("0.12", "0.13", rounded=True)
    assert printed.compare("0.123456", "0.123457", rounded=True) == []  # within the tolerance
    assert printed.compare("0.123456", "0.123476", rounded=True)


def test_nan_on_both_sides_at_the_same_step_is_told(tmp_path):
    both = [side(tmp_path, name, series=series(3.0, NAN, NAN)) for name in "ab"]
    judged = verdict.judge(1, *both, Tolerances())
    assert judged.verdict == outcome.NOT_COMPARABLE
    assert judged.reason.startswith("the loss is NaN or infinite on both sides from step 2 on")
    later = side(tmp_path, "c", series=series(3.0, 2.0, NAN))
    assert verdict.judge(1, both[0], later, Tolerances()).verdict == outcome.NOT_EQUIVALENT
    wrong = side(tmp_path, "d", series=series(3.1, NAN, NAN))
    assert verdict.judge(1, both[0], wrong, Tolerances()).verdict == outcome.NOT_EQUIVALENT


def test_a_gradient_that_is_rounding_beside_larger_ones(tmp_path):
    small = {"gradient/1": numpy.full([3], 4e-8, "float32")}
    one = side(tmp_path, "a", arrays=small)
    other = side(tmp_path, "b", arrays={"gradient/1": numpy.full([3], -9e-8, "float32")})
    assert broken(one, other) is None
    large = side(tmp_path, "c", arrays={"gradient/1": numpy.full([3], 1e-4, "float32")})
    assert broken(one, large) == 5


@pytest.mark.parametrize(
    ("changes", "rung"),
    [
        ({}, None),
        ({"series": series(1.5, 1.0, 0.501)}, 4),  # not the same multiple at every step
        ({"arrays": {"gradient/0": numpy.ones([2, 3], "float32")}}, 4),
        ({"arrays": {"final/0": numpy.ones([2, 3], "float32")}}, 4),
    ],
)
def test_where_a_loss_is_scaled_is_a_convention(tmp_path, changes, rung):
    """What is trained says whether the gradients are scaled as well."""
    one = side(tmp_path, "a", **{"series": series(1.5, 1.0, 0.5), **changes})
    other = side(tmp_path, "b")
    assert broken(one, other) == rung
    if rung is None:
        first = ladder.compare(one, other, Tolerances())[3].outputs[0]
        assert first.detail.startswith("2 times the reference's at every step")


def test_other_factors_are_no_convention(tmp_path):
    other = side(tmp_path, "b", series=series(4.5, 3.0, 1.5))
    assert broken(side(tmp_path, "a"), other) == 4


def measured(first: Side, *others: Side) -> Rounding:
    found = rounding.between(first, others)
    assert found is not None
    found.save(Path(first.arrays.parent / "rounding.npz"))
    return Rounding.load(first.arrays.parent / "rounding.npz")


def test_rounding_may_explain_curves_that_part_by_little_at_first(tmp_path):
    one = side(tmp_path, "a", series=series(3.0, 2.0, 1.0, 1.0))
    late = side(tmp_path, "b", series=series(3.0, 2.0001, 1.01, 3.0))
    assert verdict.rounding_may_explain(verdict.judge(1, one, late, Tolerances()))
    soon = side(tmp_path, "c", series=series(3.0, 2.1, 1.01, 3.0))
    judged = verdict.judge(1, one, soon, Tolerances())
    assert judged.verdict == outcome.NOT_EQUIVALENT
    assert not verdict.rounding_may_explain(judged)


def test_what_rounding_does_is_allowed_and_no_more(tmp_path):
    one = side(tmp_path, "a", "loss 0.51234567\n", series=series(3.0, 2.0, 1.0))
    moved = {"final/1": numpy.full([3], 0.5005, "float32")}
    again = side(tmp_path, "b", "loss 0.51236\n", series=series(3.0, 2.001, 1.0), arrays=moved)
    seen = measured(one, one, again)
    assert seen.losses["loss"] == pytest.approx([0.0, 0.004, 0.004])  # it stays
    far = {"final/1": numpy.full([3], 0.5015, "float32")}
    other = side(tmp_path, "c", "loss 0.51238\n", series=series(3.0, 2.003, 1.003), arrays=far)
    judged = verdict.judge(1, one, other, Tolerances())
    assert judged.verdict == outcome.NOT_EQUIVALENT and verdict.rounding_may_explain(judged)
    found = verdict.with_rounding(judged, Tolerances(), SecondRun(), seen)
    assert found.verdict == outcome.EQUIVALENT, found.reason
    assert any("rounding" in note for note in found.reference.training["notes"])
    for wrong in (
        {"series": series(3.001, 2.003, 1.003)},
        {"series": series(3.0, 2.003, 1.006)},
        {"arrays": {"final/1": numpy.full([3], 0.503, "float32")}},
        {"arrays": {"after_one/0": numpy.ones([2, 3], "float32")}},
        {"stdout": "loss 0.5126\n"},
    ):
        given = {"series": series(3.0, 2.003, 1.003), "arrays": far, "stdout": "loss 0.51238\n"}
        changes = {**given, **wrong}
        other = side(tmp_path, "d", changes.pop("stdout"), **changes)
        judged = verdict.judge(1, one, other, Tolerances())
        found = verdict.with_rounding(judged, Tolerances(), SecondRun(), seen)
        assert found.verdict == outcome.NOT_EQUIVALENT, wrong


def test_where_rounding_is_all_nothing_is_said_to_be_equal(tmp_path):
    one = side(tmp_path, "a")
    chaotic = measured(one, side(tmp_path, "b", series=series(3.0, 2.0, 1.3)))
    other = side(tmp_path, "c", series=series(3.0, 2.0, 1.2))
    judged = verdict.judge(1, one, other, Tolerances())
    found = verdict.with_rounding(judged, Tolerances(), SecondRun(), chaotic)
    assert found.verdict == outcome.NOT_COMPARABLE
    assert "from step 3 on: compare fewer steps (--steps 2)" in found.reason
    arrays = {f"final/{i}": numpy.zeros(shape) for i, shape in ((0, [2, 3]), (1, [3]))}
    moved = measured(one, side(tmp_path, "d", arrays=arrays))
    other = side(tmp_path, "e", arrays={"final/1": numpy.full([3], 0.6, "float32")})
    judged = verdict.judge(1, one, other, Tolerances())
    found = verdict.with_rounding(judged, Tolerances(), SecondRun(), moved)
    assert found.verdict == outcome.NOT_COMPARABLE and "rounding alone moves it" in found.reason


def test_rounding_that_changes_the_text_explains_none_of_it(tmp_path):
    one, two = side(tmp_path, "a", "best 1\n"), side(tmp_path, "b", "worst 2\n")
    assert measured(one, two).printed is None
    assert rounding.between(one, [side(tmp_path, "c", series=series(3.0, 2.0))]) is None


def _moved(*elements: float) -> dict[str, Any]:
    """The final values of a variable of 400 elements, some of them moved by so much."""
    found = numpy.linspace(1.0, 2.0, 400)
    found[: len(elements)] += elements
    return {"final/0": found}


def test_which_weights_rounding_moves_is_chance(tmp_path):
    """Two runs move other elements, as far; a third one moves others again."""
    variables = [{"name": "w", "shape": [400]}]
    none = [0.0] * 9

    def run(name: str, *elements: float) -> Side:
        return side(tmp_path, name, variables=variables, arrays=_moved(*elements))

    first = run("first")
    measured = rounding.between(
        first, [run("a", *[1e-4] * 9, 1e-2), run("b", *none, 0.0, *[1e-4] * 9, 1e-2)]
    )
    assert measured is not None and measured.tails["final/0"].size == 21  # 10 of each are others

    def status(*elements: float, chance: bool = True) -> str:
        known = measured if chance else replace(measured, tails={})
        rungs = ladder.compare(first, run("target", *elements), Tolerances(), rounding=known)
        return next(o.status for o in rungs[7].outputs if o.name == "weights/w")

    far = [0.0] * 30
    assert status(*far, 1.5e-2) == outcome.EQUAL  # another one, as far as these
    assert status(*far, 1.5e-2, chance=False) == outcome.DIFFERS
    assert status(*far, 5e-2) == outcome.DIFFERS  # further than any
    assert status(*far, *[1.5e-2] * 5) == outcome.EQUAL
    assert status(*far, *[1.5e-2] * 6) == outcome.DIFFERS  # more that are moved so far
    assert status(*far, *[2e-4] * 21) == outcome.EQUAL
    assert status(*far, *[2e-4] * 22) == outcome.DIFFERS  # more of them
    assert status(*[3e-4] * 400) == outcome.DIFFERS  # all of them, by less
    path = tmp_path / "moved.npz"
    measured.save(path)
    again = Rounding.load(path)
    assert again.arrays.keys() == measured.arrays.keys()
    assert list(again.tails) == ["final/0"]
    assert numpy.array_equal(again.tails["final/0"], measured.tails["final/0"])


# A kernel's largest differences under Adam, measured: of two runs that rounding moves, and of an
# equal program. The rest of its 1600 elements is apart by 5e-7.
_RUNS = ([4.7e-5, 4.1e-5, 3.7e-5, 3.6e-5, 3.2e-5, 2.3e-5], [4.7e-5, 3.6e-5])
_EQUAL = [5.8e-5, 4.3e-5, 3.9e-5, 3.1e-5, 2.7e-5]


def test_how_many_weights_rounding_moves_is_chance(tmp_path):
    """One run moves four elements that the other does not; an equal program five others. A wrong
    one, apart by no more than the equal one, moves what no run does."""
    variables = [{"name": "w", "shape": [1600]}]

    def run(name: str, places: dict[int, float]) -> Side:
        found = numpy.linspace(0.01, 0.0646, 1600)
        moved = numpy.full(1600, 0.0 if name == "first" else 5e-7)
        moved[list(places)] = list(places.values())
        return side(tmp_path, name, variables=variables, arrays={"final/0": found + moved})

    first = run("first", {})
    both = [run(f"run{k}", dict(enumerate(known))) for k, known in enumerate(_RUNS)]
    known = rounding.between(first, both)
    assert known is not None and known.tails["final/0"].size == 11

    def status(places: list[float], rounding: Rounding = known) -> str:
        target = run("target", dict(enumerate(places, 100)))
        rungs = ladder.compare(first, target, Tolerances(), rounding=rounding)
        return next(o.status for o in rungs[7].outputs if o.name == "weights/w")

    assert status(_EQUAL) == outcome.EQUAL
    assert status(_EQUAL, replace(known, tails={})) == outcome.DIFFERS
    assert status([*_EQUAL, *[2.7e-5] * 6]) == outcome.EQUAL
    assert status([*_EQUAL, *[2.7e-5] * 7]) == outcome.DIFFERS  # more than a run moves so far
    assert status([5.8e-5] * 25) == outcome.DIFFERS  # one filter
    assert status([5.8e-5] * 1500) == outcome.DIFFERS  # all of them
    assert status([6e-4]) == outcome.DIFFERS  # further than any
    assert status([5e-6] * 25) == outcome.DIFFERS  # less far than these, but 25
    # Two that agree: the first run is the odd one out, and another one may be as odd, no more.
    odd = rounding.between(first, [both[1], both[1]])
    assert odd is not None and odd.tails["final/0"].size == 8
    assert status(_EQUAL[1:3], odd) == outcome.EQUAL
    assert status([*_EQUAL, *[2.7e-5] * 3], odd) == outcome.EQUAL
    assert status([*_EQUAL, *[2.7e-5] * 4], odd) == outcome.DIFFERS
    assert status([6e-4], odd) == outcome.DIFFERS
    calm = rounding.between(first, [first, first])
    assert calm is not None and not calm.tails
    assert status(_EQUAL[:1], calm) == outcome.DIFFERS


def test_how_many_rare_events_are_likely():
    """Poisson's law: 12 where 4 are expected has a probability of 9.2e-4, 11 of 2.8e-3."""
    assert [numeric.most_by_chance(count) for count in (0, 1, 4, 10)] == [0, 5, 11, 21]
    assert 77_000 < numeric.most_by_chance(76_711) < 77_711


def test_what_another_tensorflow_computes_otherwise_is_no_difference_of_programs(tmp_path):
    """The old program, run on the new one's TensorFlow, decides; where it equals neither, or does
    not run, nothing changes."""
    old = side(tmp_path, "a", series=series(3.0, 2.0, 1.0))
    new = side(tmp_path, "b", series=series(3.0, 2.001, 1.001))
    seen = measured(old, side(tmp_path, "c", series=series(3.0, 2.0, 1.0)))
    judged = verdict.judge(1, old, new, Tolerances())
    assert judged.verdict == outcome.NOT_EQUIVALENT and "rung 7" in judged.reason

    def with_bridge(bridge):
        return verdict.with_bridge(judged, Tolerances(), SecondRun(), seen, bridge)

    found = with_bridge(side(tmp_path, "d", series=series(3.0, 2.001, 1.001)))
    assert found.verdict == outcome.EQUIVALENT
    (note,) = (one for one in found.reference.training["notes"] if "as TF1 code" in one)
    assert note.startswith("rung 7, loss curve")
    assert with_bridge(side(tmp_path, "e", series=series(3.0, 2.0, 1.0))) is judged
    assert with_bridge(side(tmp_path, "f", series=series(3.0, 2.002, 1.002))) is judged
    crashed = replace(side(tmp_path, "g", series=series(3.0, 2.001, 1.001)), trace=None)
    assert crashed.failure and with_bridge(crashed) is judged


@pytest.mark.parametrize(("silent", "expected"), [(0, "not compared"), (1, "not equivalent")])
def test_a_side_that_ends_before_it_records_anything(tmp_path, silent, expected):
    sides = [side(tmp_path, "a"), side(tmp_path, "b")]
    late = replace(sides[silent], trace=None, arrays=None, ended="timed out after 5 s", status=-9)
    sides[silent] = late
    found = verdict.judge(1, *sides, Tolerances())
    name = ("reference", "target")[silent]
    assert found.verdict == expected
    assert found.reason == f"the {name} did not finish: timed out after 5 s"
    assert found.as_data()["headline"] is None
