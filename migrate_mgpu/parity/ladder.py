"""Compare two sides in the order in which errors arise.

Nine rungs; the first broken one is the headline, because what comes after it usually
follows from it. Nothing passes by having nothing to compare: an output that one side
lacks, an unequal number of steps, a NaN, a run without steps are broken rungs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity import configuration, matching, printed, tolerances
from migrate_mgpu.parity.sides import Side
from migrate_mgpu.parity.tolerances import Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

NAMES = (
    "device configuration",
    "variables",
    "examples per step",
    "first loss",
    "first gradients",
    "weights after one step",
    "loss curve",
    "final weights",
    "evaluation and printed results",
)
EQUAL, DIFFERS, NOT_COMPARED = "equal", "differs", "not compared"
# Results that Estimators add by themselves; a Keras program has no reason to have them.
ESTIMATORS_OWN = {
    "accuracy_baseline",
    "auc",
    "auc_precision_recall",
    "average_loss",
    "global_step",
    "label/mean",
    "precision",
    "prediction/mean",
    "recall",
}
# Device settings that TensorFlow makes by itself.
ACCEPTED = {
    "isolate_session_state": "a MirroredStrategy sets it on its sessions; TF2 has no sessions",
}
_SAME_METRIC = {"acc": "accuracy", "mae": "mean_absolute_error", "mse": "mean_squared_error"}


@dataclass
class Output:
    """One compared thing.

    Attributes:
      first_bad: the first step (from 1) that is out of tolerance, where steps exist.
      needed: the smallest relative tolerance with which it would pass; None when none does.
    """

    name: str
    status: str
    first_bad: int | None = None
    largest_absolute: float | None = None
    largest_relative: float | None = None
    needed: float | None = None
    detail: str = ""


@dataclass
class Rung:
    number: int
    outputs: list[Output] = field(default_factory=list)
    reason: str = ""  # why nothing was compared

    @property
    def name(self) -> str:
        return NAMES[self.number - 1]

    @property
    def status(self) -> str:
        found = {output.status for output in self.outputs}
        return DIFFERS if DIFFERS in found else EQUAL if EQUAL in found else NOT_COMPARED

    def as_data(self) -> dict[str, Any]:
        return {
            "rung": self.number,
            "name": self.name,
            "status": self.status,
            "reason": self.reason,
            "outputs": [asdict(output) for output in self.outputs],
        }


def headline(rungs: Sequence[Rung]) -> Rung | None:
    """The first broken rung."""
    return next((rung for rung in rungs if rung.status == DIFFERS), None)


def compare(
    reference: Side,
    target: Side,
    allowed: Tolerances,
    accept: Mapping[str, str] | None = None,
    noise: printed.Noise | None = None,
) -> list[Rung]:
    """All nine rungs.

    Args:
      accept: settings of the device configuration that may differ, with the reason.
      noise: what differs between two runs of the reference's printed lines.
    """
    rungs = [Rung(number) for number in range(1, 10)]
    rungs[0].outputs = _configurations(reference, target, {**ACCEPTED, **(accept or {})})
    one, other = reference.training, target.training
    if not one.get("declared") and not other.get("declared"):
        for rung in rungs[1:8]:
            rung.reason = "neither program trains"
    else:
        _training(rungs, reference, target, allowed)
    if reference.failure or target.failure:
        rungs[8].reason = "a program did not come to its end"
    elif one.get("stopped") or other.get("stopped"):
        rungs[8].reason = "the programs were stopped after the wanted steps"
    else:
        rungs[8].outputs = [
            *_results(reference, target, allowed),
            _printed(reference, target, noise),
        ]
    return rungs


# 1 ----------------------------------------------------------------------------------------


def _configurations(reference: Side, target: Side, accept: Mapping[str, str]) -> list[Output]:
    if reference.trace is None or target.trace is None:
        return [Output("configuration", DIFFERS, detail="a side left no trace")]
    if not _runs(reference.trace) and not _runs(target.trace):
        return [Output("configuration", NOT_COMPARED, detail="neither program runs TensorFlow")]
    found = configuration.compare(reference.trace, target.trace, accept)
    if not found:
        return [Output("configuration", EQUAL)]
    return [
        Output(d.name, EQUAL if d.accepted is not None else DIFFERS, detail=str(d)) for d in found
    ]


def _runs(trace: Mapping[str, Any]) -> bool:
    """Whether TensorFlow has executed anything."""
    return bool(trace["sessions"] or trace["servers"] or trace["context"]["initialised"])


# 2 to 8 -----------------------------------------------------------------------------------


def _training(rungs: list[Rung], reference: Side, target: Side, allowed: Tolerances) -> None:
    one, other = reference.training, target.training
    pairs, lacking, more = matching.pair(one["variables"], other["variables"])
    first, second = _arrays(reference), _arrays(target)
    rungs[1].outputs = _variables(one, other, pairs, lacking, more, first, second)
    series = list(_series(one, other))
    rungs[2].outputs = _examples(series)
    rungs[3].outputs = [_losses(name, a, b, allowed, first_only=True) for name, a, b in series]
    rungs[6].outputs = [_losses(name, a, b, allowed) for name, a, b in series]
    steps = max((len(losses) for _, losses, _ in _curves(series)), default=0)
    for rung, kind, label, default, step in (
        (rungs[4], "gradient", "gradients", tolerances.GRADIENT, 0),
        (rungs[5], "after_one", "weights", tolerances.WEIGHT, 0),
        (rungs[7], "final", "weights", tolerances.WEIGHT, steps),
    ):
        for i, j in pairs:
            name = f"{label}/{one['variables'][i]['name']}"
            a, b = first.get(f"{kind}/{i}"), second.get(f"{kind}/{j}")
            rung.outputs.append(
                _array(name, a, b, allowed.relative(name, default, step), allowed.absolute(name))
            )


def _arrays(side: Side) -> dict[str, Array]:
    if side.arrays is None:
        return {}
    import numpy

    with numpy.load(side.arrays) as stored:
        return {name: stored[name] for name in stored.files}


def _variables(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    pairs: Sequence[tuple[int, int]],
    lacking: Sequence[int],
    more: Sequence[int],
    first: Mapping[str, Array],
    second: Mapping[str, Array],
) -> list[Output]:
    before, after = one["variables"], other["variables"]
    found = []
    for side, training in (("reference", one), ("target", other)):
        if not training.get("declared"):
            found.append(Output("training", DIFFERS, detail=f"the {side} does not train"))
    for indices, variables, where in ((lacking, before, "target"), (more, after, "reference")):
        for i in indices:
            v = variables[i]
            text = f"{v['shape']} has no partner in the {where}"
            found.append(Output(v["name"], DIFFERS, detail=text))
    for i, j in pairs:
        a, b = first.get(f"initial/{i}"), second.get(f"initial/{j}")
        if a is None or b is None:
            found.append(Output(before[i]["name"], DIFFERS, detail="its first value is not known"))
        elif not _identical(a, b):
            text = "the reference's first value was not carried into the target"
            found.append(Output(before[i]["name"], DIFFERS, detail=text))
    if pairs and not found:
        found.append(Output("variables", EQUAL, detail=f"{len(pairs)} pairs"))
    return found or [Output("variables", DIFFERS, detail="no variable was trained")]


def _identical(a: Array, b: Array) -> bool:
    """Equal as numbers of the narrower type."""
    import numpy

    kind = min(a.dtype, b.dtype, key=lambda t: t.itemsize)
    return bool(numpy.array_equal(a.astype(kind), b.astype(kind)))


def _series(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any] | None, Mapping[str, Any] | None]]:
    """The loss series of both sides, by position."""
    before, after = one.get("series", []), other.get("series", [])
    for i in range(max(len(before), len(after), 1)):
        a = before[i] if i < len(before) else None
        b = after[i] if i < len(after) else None
        yield ("loss" if i == 0 else f"loss[{i + 1}]"), a, b


def _curves(series: Any) -> Iterator[tuple[str, list[float], list[float]]]:
    for name, a, b in series:
        yield name, curve(a), curve(b)


def curve(series: Mapping[str, Any] | None) -> list[float]:
    """One loss a step: the mean over towers, the sum of replicas' (scaled) losses."""
    if not series or not series["losses"]:
        return []
    places = series["losses"]
    divide = len(places) if series["combine"] == "mean" else 1
    return [sum(losses) / divide for losses in zip(*places)]


def _examples(series: Sequence[Any]) -> list[Output]:
    found = []
    for name, a, b in series:
        label = name.replace("loss", "examples", 1)
        before, after = _counts(a), _counts(b)
        if not curve(a) and not curve(b):
            found.append(Output(label, DIFFERS, detail="no step was run on either side"))
        elif not before or not after or None in before or None in after:
            sides = [s for s, c in (("reference", before), ("target", after)) if not c or None in c]
            text = f"not to be seen in the {' and the '.join(sides)}"
            found.append(Output(label, NOT_COMPARED, detail=text))
        else:
            bad = next((k for k, (m, n) in enumerate(zip(before, after)) if m != n), None)
            if bad is None:
                found.append(Output(label, EQUAL, detail=f"{before[0]}"))
            else:
                text = f"{before[bad]} became {after[bad]}"
                found.append(Output(label, DIFFERS, bad + 1, detail=text))
    return found


def _counts(series: Mapping[str, Any] | None) -> list[int | None]:
    if not series:
        return []
    return [
        None if None in counts else sum(n for n in counts if n is not None)
        for counts in zip(*series["examples"])
    ]


def _losses(name: str, a: Any, b: Any, allowed: Tolerances, first_only: bool = False) -> Output:
    before, after = curve(a), curve(b)
    if first_only:
        before, after = before[:1], after[:1]
    if not before or not after:
        sides = [s for s, c in (("reference", before), ("target", after)) if not c]
        return Output(name, DIFFERS, detail=f"no step in the {' and the '.join(sides)}")
    found = Output(name, EQUAL, largest_absolute=0.0, largest_relative=0.0, needed=0.0)
    scale = max(abs(v) for v in before)
    for step, (x, y) in enumerate(zip(before, after)):
        difference = abs(x - y)
        if difference != difference or difference == float("inf"):
            text = f"step {step + 1}: {x} and {y}"
            return Output(name, DIFFERS, step + 1, detail=text)
        growth = allowed.relative(name, tolerances.LOSS, step)
        base = allowed.relative(name, tolerances.LOSS)
        spare = allowed.absolute(name) + tolerances.FLOOR * scale
        _widen(found, difference, abs(x))
        if x:
            at_start = max(0.0, difference - spare) / abs(x) / (growth / base if base else 1)
            found.needed = None if found.needed is None else max(found.needed, at_start)
        elif difference > spare:
            found.needed = None
        if found.status == EQUAL and difference > spare + growth * abs(x):
            found.status, found.first_bad = DIFFERS, step + 1
            found.detail = f"step {step + 1}: {x:.7g} became {y:.7g}"
    if len(before) != len(after) and not first_only:
        found.status, found.needed = DIFFERS, None
        found.first_bad = found.first_bad or min(len(before), len(after)) + 1
        found.detail += f"{'; ' * bool(found.detail)}{len(before)} steps became {len(after)}"
    return found


def _widen(found: Output, difference: float, magnitude: float) -> None:
    found.largest_absolute = max(found.largest_absolute or 0.0, difference)
    if magnitude:
        found.largest_relative = max(found.largest_relative or 0.0, difference / magnitude)


def _array(name: str, a: Array | None, b: Array | None, relative: float, absolute: float) -> Output:
    """Within the tolerance, relative to the reference's largest magnitude: an element near
    zero has the rounding of the terms that it is the sum of."""
    import numpy

    if a is None or b is None:
        side = "the reference" if a is None else "the target"
        return Output(name, DIFFERS, detail=f"missing in {side}")
    if a.shape != b.shape:
        return Output(name, DIFFERS, detail=f"shape {a.shape} became {b.shape}")
    if a.size == 0:
        return Output(name, EQUAL)
    x, y = a.astype("float64"), b.astype("float64")
    if not (numpy.isfinite(x).all() and numpy.isfinite(y).all()):
        return Output(name, DIFFERS, detail="not all values are finite numbers")
    difference = float(numpy.abs(x - y).max())
    scale = float(numpy.abs(x).max())
    found = Output(name, EQUAL, None, difference, difference / scale if scale else None)
    spare = absolute + (0.0 if scale else tolerances.FLOOR)
    found.needed = max(0.0, difference - spare) / scale if scale else None
    if difference <= spare:
        found.needed = 0.0
    if difference > spare + relative * scale:
        found.status = DIFFERS
        place = numpy.unravel_index(int(numpy.abs(x - y).argmax()), x.shape)
        at = ",".join(str(int(n)) for n in place)
        found.detail = f"[{at}]: {float(x[place]):.7g} became {float(y[place]):.7g}"
    return found


# 9 ----------------------------------------------------------------------------------------


def _results(reference: Side, target: Side, allowed: Tolerances) -> list[Output]:
    found: list[Output] = []
    first, second = _arrays(reference), _arrays(target)
    for kind in ("history", "evaluate", "predict"):
        before = [o for o in reference.training.get("outputs", []) if o["kind"] == kind]
        after = [o for o in target.training.get("outputs", []) if o["kind"] == kind]
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
                found += _one_result(label, a, b, first, second, allowed)
    return found


def _one_result(
    label: str,
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    first: Mapping[str, Array],
    second: Mapping[str, Array],
    allowed: Tolerances,
) -> list[Output]:
    import numpy

    def values(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Array]:
        found = {_metric(n): numpy.asarray(v) for n, v in entry["values"].items()}
        found.update({_metric(n): arrays[key] for n, key in entry["arrays"].items()})
        return found

    before, after = values(one, first), values(other, second)
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
            found.append(_array(text, before[name], after[name], relative, absolute))
        elif name in after:
            found.append(Output(text, NOT_COMPARED, detail="the reference has none"))
        elif name in ESTIMATORS_OWN:
            found.append(Output(text, NOT_COMPARED, detail="Estimators add it themselves"))
        else:
            found.append(Output(text, DIFFERS, detail="missing in the target"))
    return found


def _metric(name: str) -> str:
    prefix = "val_" if name.startswith("val_") else ""
    name = name[len(prefix) :]
    return prefix + _SAME_METRIC.get(name, name)


def _printed(reference: Side, target: Side, noise: printed.Noise | None) -> Output:
    steps = max((len(c) for _, c, _ in _curves(_series(reference.training, {}))), default=0)
    relative = tolerances.RESULT * (1 + tolerances.GROWTH * steps)
    found = printed.compare(reference.stdout, target.stdout, relative, noise=noise, rounded=True)
    if found:
        return Output("printed", DIFFERS, detail=str(found[0]))
    if not printed.lines(reference.stdout):
        return Output("printed", NOT_COMPARED, detail="neither program prints")
    return Output("printed", EQUAL, detail=f"{len(printed.lines(reference.stdout))} lines")
