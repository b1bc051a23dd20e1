"""Rung 9: what programs evaluate, predict and print."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import numeric, printed, tolerances
from migrate_mgpu.parity.compare.configuration import Difference
from migrate_mgpu.parity.compare.outcome import DIFFERS, EQUAL, NOT_COMPARED, Output
from migrate_mgpu.parity.compare.rounding import SUMMARY, Rounding, output_key, record_label
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs.sides import Side

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.numeric import Array

    _Call = tuple[int, Array, bool]  # step, value, whether it is of whole numbers

# Results that Estimators add by themselves; a Keras program has no reason to have them. A canned
# Estimator chooses all of its results: what the program reads of them shows where it uses it.
ESTIMATORS_OWN = {
    "accuracy_baseline",
    "all_class_ids",
    "all_classes",
    "auc",
    "auc_precision_recall",
    "average_loss",
    "global_step",
    "label/mean",
    "precision",
    "prediction/mean",
    "recall",
}
_SAME_METRIC = {"acc": "accuracy", "mae": "mean_absolute_error", "mse": "mean_squared_error"}


def compare(
    reference: Side, target: Side, allowed: Tolerances, rounding: Rounding | None = None
) -> list[Output]:
    found: list[Output] = []
    first, second = reference.load_arrays(), target.load_arrays()
    old, new = reference.training.get("outputs", []), target.training.get("outputs", [])
    if not any(o["kind"] == "history" for o in old):
        new = [part for o in new for part in _validations(o, second)]
    for kind in ("history", "evaluate", "predict"):
        before = [o for o in old if o["kind"] == kind]
        after = [o for o in new if o["kind"] == kind]
        if kind == "history" and not (before and after):
            continue  # only Keras has one; the loss curve is compared in any case
        if before and not after:
            found.append(Output(kind, DIFFERS, detail=f"the target has no {kind}"))
        elif after and not before:
            text = f"the reference has no {kind}: its printed lines are compared"
            found.append(Output(kind, NOT_COMPARED, detail=text))
        elif len(before) != len(after):
            text = f"{len(before)} became {len(after)}"
            found.append(Output(kind, DIFFERS, detail=text))
        else:
            for number, (a, b) in enumerate(zip(before, after), start=1):
                label = kind if len(before) == 1 else f"{kind} {number}"
                place = next(n for n, entry in enumerate(old) if entry is a)
                found += _one_result(label, a, b, first, second, allowed, place, rounding)
    return found


def _validations(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> list[Mapping[str, Any]]:
    """A ``fit`` with validation evaluates after each epoch: what an Estimator's loop does."""
    columns = {n: arrays[key] for n, key in entry["arrays"].items() if n.startswith("val_")}
    if entry["kind"] != "history" or not columns:
        return [entry]
    epochs = max(len(column) for column in columns.values())
    return [
        {
            "kind": "evaluate",
            "step": entry["step"],
            "values": {n[len("val_") :]: column[i] for n, column in columns.items()},
            "arrays": {},
        }
        for i in range(epochs)
    ]


def _one_result(
    label: str,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    first: Mapping[str, Array],
    second: Mapping[str, Array],
    allowed: Tolerances,
    place: int,
    rounding: Rounding | None,
) -> list[Output]:
    import numpy

    def values(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Array]:
        found = {_metric(n): numpy.asarray(v) for n, v in entry["values"].items()}
        found.update({_metric(n): arrays[key] for n, key in entry["arrays"].items()})
        return found

    before, after = values(one, first), values(other, second)
    if "taken" in one:
        # An Estimator predicts as rows are asked for, `Model.predict` all of them at once: what
        # the program did not take is none of its results.
        # Rows of several lengths stand one behind the other.
        taken = {n: len(v) if v.ndim else one["taken"] for n, v in before.items()}
        after = {n: v[: taken.get(n, one["taken"])] if v.ndim else v for n, v in after.items()}
    step = max(one["step"], other["step"])
    if len(after) == 1 and one["kind"] == "predict" and not set(before) & set(after):
        # Estimators return named columns, a Keras model its one output.
        (lone,) = after
        like = [n for n, v in before.items() if v.shape == after[lone].shape]
        if like:
            name = "logits" if "logits" in like else like[0]
            before, after = {name: before[name]}, {name: after[lone]}
    found = []
    for name in sorted({*before, *after}):
        text = f"{label} {name}"
        if name in before and name in after:
            relative = allowed.relative(text, tolerances.RESULT, step)
            absolute = allowed.absolute(text)
            if rounding is not None:
                raw = [n for n in (*one["values"], *one["arrays"]) if _metric(n) == name]
                absolute += max(rounding.outputs.get(output_key(place, n), 0.0) for n in raw)
            found.append(numeric.array(text, before[name], after[name], relative, absolute))
        elif name in after:
            found.append(Output(text, NOT_COMPARED, detail="the reference has none"))
        elif name in ESTIMATORS_OWN or (one.get("canned") and name != "loss"):
            found.append(Output(text, NOT_COMPARED, detail="Estimators add it themselves"))
        else:
            found.append(Output(text, DIFFERS, detail="missing in the target"))
    return found


def records(
    reference: Side,
    target: Side,
    allowed: Tolerances,
    stopped: bool = False,
    rounding: Rounding | None = None,
) -> list[Output]:
    """What the programs recorded themselves (``record(name, value)``), call by call.

    So are the summaries that they write, as ``summary TAG``: the step and the value of each scalar,
    the step and three numbers of each histogram.

    Args:
      stopped: the programs were ended in the middle: one may have come a call further.
    """
    before, after = _recorded(reference), _recorded(target)
    found = []
    for name in [*before, *(n for n in after if n not in before)]:
        one, other = before.get(name), after.get(name)
        label = record_label(name)
        if name.startswith(SUMMARY) and _FULLNESS.search(name):
            text = "how full a queue is, which its threads decide in each run"
            found.append(Output(label, NOT_COMPARED, detail=text))
            continue
        if one is None or other is None:
            side = "reference" if one is None else "target"
            if name.startswith(SUMMARY):
                text = f"the {side} has not written it, or in another way"
                found.append(Output(label, NOT_COMPARED, detail=text))
                continue
            found.append(Output(label, DIFFERS, detail=f"the {side} has not recorded it"))
            continue
        more = rounding.outputs.get(label, 0.0) if rounding else 0.0
        if name.startswith(SUMMARY):
            text = _other_steps(one, other)
            if text:
                found.append(Output(label, DIFFERS, detail=text))
                continue
            one, other = _without_steps(one, other)
        output = _calls(label, one, other, allowed, more)
        if len(one) != len(other) and not (stopped and abs(len(one) - len(other)) == 1):
            text = f"{len(one)} calls became {len(other)}"
            output.detail = f"{output.detail}; {text}" if output.detail else text
            output.status, output.needed = DIFFERS, None
            output.first_bad = output.first_bad or min(len(one), len(other)) + 1
        found.append(output)
    return found


def _other_steps(one: list[_Call], other: list[_Call]) -> str:
    """The first summary that is of another step: steps are no results, and have no rounding."""
    for number, ((_, a, _), (_, b, _)) in enumerate(zip(one, other), start=1):
        if a.size and b.size and a[0] != b[0]:
            return f"call {number}: step {a[0]:g} became {b[0]:g}"
    return ""


def _without_steps(one: list[_Call], other: list[_Call]) -> tuple[list[_Call], list[_Call]]:
    """In the place of its step each summary has the largest value of all of its tag, which is what
    its tolerance follows: a step of 1000 would hide a loss that is a hundredth off.
    """
    import numpy

    sizes = [float(numpy.abs(values[1:]).max()) for _, values, _ in one if values.size > 1]
    largest = max((size for size in sizes if math.isfinite(size)), default=0.0)

    def scaled(calls: list[_Call]) -> list[_Call]:
        return [
            (step, numpy.concatenate([[largest], values[1:]]), whole)
            for step, values, whole in calls
        ]

    return scaled(one), scaled(other)


# What TF1's queues are called in summaries: `batch/fraction_of_45_full`.
_FULLNESS = re.compile(r"/fraction_(of|over)_\d+(_of_\d+)?_full$")


_SCALAR = 2  # numbers of a scalar summary; a histogram has more


def _calls(
    label: str, one: list[_Call], other: list[_Call], allowed: Tolerances, more: float
) -> Output:
    found = Output(label, EQUAL, None, 0.0, 0.0, 0.0)
    for number, ((step, a, whole), (_, b, _)) in enumerate(zip(one, other), start=1):
        base = 0.0 if whole else tolerances.RESULT
        if label.startswith(SUMMARY) and a.size > _SCALAR:  # often of gradients
            base = tolerances.GRADIENT
        relative = allowed.relative(label, base, step)
        here = numeric.array(label, a, b, relative, allowed.absolute(label) + more)
        found.largest_absolute = max(found.largest_absolute or 0.0, here.largest_absolute or 0.0)
        found.largest_relative = max(found.largest_relative or 0.0, here.largest_relative or 0.0)
        if here.status == DIFFERS and here.needed is None:
            found.needed = None
        elif found.needed is not None and here.needed is not None:
            found.needed = max(found.needed, here.needed / (1 + tolerances.GROWTH * step))
        if here.status == DIFFERS and found.status == EQUAL:
            found.status, found.first_bad = DIFFERS, number
            found.detail = f"call {number}: {here.detail}"
    return found


def _recorded(side: Side) -> dict[str, list[_Call]]:
    arrays = side.load_arrays()
    found: dict[str, list[_Call]] = {}
    for i, entry in enumerate(side.training.get("records", [])):
        values, begin = arrays[f"record/{i}"], 0
        calls = found.setdefault(entry["name"], [])
        for step, shape in zip(entry["steps"], entry["shapes"]):
            end = begin + math.prod(shape)
            calls.append((step, values[begin:end].reshape(shape), entry["whole"]))
            begin = end
    return found


def _metric(name: str) -> str:
    prefix = "val_" if name.startswith("val_") else ""
    name = name[len(prefix) :]
    return prefix + _SAME_METRIC.get(name, name)


_MOST_TOLD = 3  # lines


def printed_lines(
    reference: Side,
    target: Side,
    noise: printed.Noise | None,
    rounding: Rounding | None = None,
) -> list[Output]:
    """The lines that both print, and what of them is told and not compared."""
    series = reference.training.get("series", [])
    steps = max((len(numeric.curve(one)) for one in series), default=0)
    relative = tolerances.RESULT * (1 + tolerances.GROWTH * steps)
    moved = rounding.moved() if rounding else None
    found = printed.outputs(
        reference.stdout,
        target.stdout,
        relative,
        noise=noise,
        rounded=True,
        moved=moved,
        known=(reference.printing, target.printing),
    )
    told = [_told(difference, reason) for difference, reason in found.told[:_MOST_TOLD]]
    if len(found.told) > _MOST_TOLD:
        text = f"{len(found.told) - _MOST_TOLD} more lines differ so"
        told.append(Output("printed", NOT_COMPARED, detail=text, told=True))
    if found.built:
        text = f"{found.built} lines of one side are printed where TensorFlow builds a graph"
        text += ": how often is no result"
        told.append(Output("printed", NOT_COMPARED, detail=text, told=True))
    if found.differences:
        detail = str(found.differences[0])
        more = len(found.differences) - 1
        counts = [
            (more, "more", "differs", "differ"),
            (found.equal, "other", "is equal", "are equal"),
        ]
        for number, which, one, several in counts:
            if number:
                lines = f"{which} line{'s' * (number > 1)}"
                detail += f"; {number} {lines} {one if number == 1 else several}"
        return [Output("printed", DIFFERS, detail=detail), *told]
    if not printed.lines(reference.stdout):
        return [Output("printed", NOT_COMPARED, detail="neither program prints"), *told]
    if not found.equal and told:
        return told
    text = f"{len(printed.lines(reference.stdout))} lines"
    return [Output("printed", EQUAL, detail=text), *told]


def _told(difference: Difference, reason: str) -> Output:
    return Output("printed", NOT_COMPARED, detail=f"{difference}: {reason}", told=True)
