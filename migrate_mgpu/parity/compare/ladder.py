"""Compare two sides in the order in which errors arise.

Nine rungs; the first broken one is the headline, because what comes after it usually
follows from it. Nothing passes by having nothing to compare: an output that one side
lacks, an unequal number of steps, a NaN, a run without steps are broken rungs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.compare import (
    checkpoints,
    configuration,
    evaluation,
    numeric,
    printed,
    tolerances,
)
from migrate_mgpu.parity.compare.numeric import curve
from migrate_mgpu.parity.compare.outcome import (
    DIFFERS,
    EQUAL,
    NOT_COMPARED,
    Output,
    Rung,
)
from migrate_mgpu.parity.compare.rounding import FACTOR, Rounding, is_lost
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.probe import matching
from migrate_mgpu.parity.runs.sides import Side

if TYPE_CHECKING:
    from migrate_mgpu.parity.compare.numeric import Array

# Device settings that TensorFlow makes by itself.
ACCEPTED = {
    "isolate_session_state": "a MirroredStrategy sets it on its sessions; TF2 has no sessions",
    "graph_options.rewrite_options.meta_optimizer_iterations": "an Estimator without a "
    "session_config asks for one pass of the graph optimizer; TF2 cannot, and computes the same",
}
_MOST_UNUSED = 3  # that are told
_JOINING = "by it, workers find each other and sum what they send"
# Those that TensorFlow sets where several workers train.
OF_WORKERS = dict.fromkeys(
    (
        "device_filters",
        "experimental.collective_group_leader",
        "experimental.coordination_config.coordinated_job_list",
        "experimental.coordination_config.enable_health_check",
        "experimental.coordination_config.service_leader",
        "experimental.coordination_config.service_type",
        "graph_options.rewrite_options.scoped_allocator_optimization",
        "graph_options.rewrite_options.scoped_allocator_opts.enable_op",
    ),
    _JOINING,
)


def compare(
    reference: Side,
    target: Side,
    allowed: Tolerances,
    accept: Mapping[str, str] | None = None,
    noise: printed.Noise | None = None,
    rounding: Rounding | None = None,
) -> list[Rung]:
    """All nine rungs.

    Args:
      accept: settings of the device configuration that may differ, with the reason.
      noise: what differs between two runs of the reference's printed lines.
      rounding: what rounding alone changes in the reference, where that was measured.
    """
    rungs = [Rung(number) for number in range(1, 10)]
    expected = {**ACCEPTED, **(OF_WORKERS if target.workers else {}), **(accept or {})}
    if target.workers and not reference.workers:
        expected["visible_gpus"] = "one process has the devices of all workers"
    rungs[0].outputs = _configurations(reference, target, expected)
    one, other = reference.training, target.training
    if not one.get("declared") and not other.get("declared"):
        for rung in rungs[1:8]:
            rung.reason = "neither program trains"
    elif one and other and not other.get("declared") and not _took_steps(one):
        # A graph of TF1's may have a step that trains for other programs of its class.
        for rung in rungs[1:8]:
            rung.reason = "neither program trains: no step that the reference makes was taken"
    elif not one or not other:
        for rung in rungs[1:8]:
            rung.reason = f"the {'target' if one else 'reference'} recorded nothing"
    elif unseen(reference, target):
        for rung in rungs[1:8]:
            rung.reason = unseen(reference, target)
    else:
        _training(rungs, reference, target, allowed, rounding)
    crashed = [name for name, side in _named(reference, target) if side.failure]
    if crashed:
        # What is equal shows how far it came; the rest follows from the crash.
        for rung in rungs:
            if rung.status != EQUAL:
                rung.outputs, rung.reason = [], f"the {' and the '.join(crashed)} did not finish"
        return rungs
    stopped = bool(one.get("stopped") or other.get("stopped"))
    rungs[8].outputs = evaluation.records(reference, target, allowed, stopped, rounding)
    rungs[8].outputs += checkpoints.compare(reference, target, stopped, allowed, rounding)
    if stopped:
        rungs[8].reason = "the programs were stopped after the wanted steps"
    else:
        rungs[8].outputs += evaluation.compare(reference, target, allowed, rounding)
        rungs[8].outputs += _printed(reference, target, noise, rounding)
    return rungs


def _took_steps(training: Mapping[str, Any]) -> bool:
    """Whether a step was taken that trains, or may have been where it was not seen."""
    return bool(training.get("variables") or training.get("series") or training.get("unseen"))


def _printed(
    reference: Side,
    target: Side,
    noise: printed.Noise | None,
    rounding: Rounding | None,
) -> list[Output]:
    """The printed lines. The one that a tower, or a replica, is printed of may be another
    worker's: the last one's is on the last worker."""
    found = evaluation.printed_lines(reference, target, noise, rounding)
    differs = any(output.status == DIFFERS for output in found)
    for number, text in enumerate(target.printed[1:] if differs else (), 1):
        one = replace(target, stdout=text)
        others = evaluation.printed_lines(reference, one, noise, rounding)
        if others[0].status == EQUAL:
            others[0].detail = f"as worker {number} prints; worker 0 prints other values"
            return others
    return found


def _named(reference: Side, target: Side) -> tuple[tuple[str, Side], ...]:
    return (("reference", reference), ("target", target))


def unseen(reference: Side, target: Side) -> str:
    """Why the training of a side is not recorded; empty when both sides' is."""
    for name, side in _named(reference, target):
        reason = side.training.get("unseen")
        if reason:
            return f"the training of the {name} cannot be observed: {reason}"
    return ""


# 1 ----------------------------------------------------------------------------------------


def _configurations(reference: Side, target: Side, accept: Mapping[str, str]) -> list[Output]:
    if reference.trace is None or target.trace is None:
        return [Output("configuration", DIFFERS, detail="one of the programs recorded nothing")]
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


def _training(
    rungs: list[Rung],
    reference: Side,
    target: Side,
    allowed: Tolerances,
    rounding: Rounding | None,
) -> None:
    one, other = reference.training, target.training
    pairs, lacking, more = matching.pair(one["variables"], other["variables"])
    first, second = reference.load_arrays(), target.load_arrays()
    rungs[1].outputs = _variables(one, other, pairs, lacking, more, first, second)
    series = matching.pair_series(dict(one), dict(other)) or [("loss", None, None)]
    rungs[2].outputs = _examples(series)
    _losses(rungs, series, allowed, rounding)
    steps = max((len(losses) for _, losses, _ in _curves(series)), default=0)
    floors = _gradient_floors(one, first)
    idle = _never_trained(one), _never_trained(other)
    for rung, kind, label, default, step in (
        (rungs[4], "gradient", "gradients", tolerances.GRADIENT, 0),
        (rungs[5], "after_one", "weights", tolerances.WEIGHT, 0),
        (rungs[7], "final", "weights", tolerances.WEIGHT, steps),
    ):
        # TF1's variables have values in each session, TF2's have those of the last one.
        later = kind == "final" and all(f"later/{i}" in first for i, _ in pairs)
        for i, j in pairs:
            name = f"{label}/{matching.title(one['variables'][i])}"
            if kind != "final" and i in idle[0] and j in idle[1]:
                text = "no step that trains it is taken"
                rung.outputs.append(Output(name, NOT_COMPARED, detail=text))
                continue
            if kind == "gradient" and (_of_one_worker(reference, i) or _of_one_worker(target, j)):
                text = "what was seen is of one worker, or of all: TensorFlow sums it in its place"
                rung.outputs.append(Output(name, NOT_COMPARED, detail=text))
                continue
            a, b = first.get(f"{kind}/{i}"), second.get(f"{kind}/{j}")
            extra = None
            # Gradients that are really different are no rounding: what follows shows.
            if kind == "after_one" and rungs[4].outputs[len(rung.outputs)].status == EQUAL:
                before = first.get(f"initial/{i}")
                gradients = first.get(f"gradient/{i}"), second.get(f"gradient/{j}")
                extra = numeric.update_noise(before, a, *gradients, b)
            rtol, atol = allowed.relative(name, default, step), allowed.absolute(name)
            if kind == "gradient":
                atol += floors.get(i, 0.0)
            elif f"initial/{i}" in first and first[f"initial/{i}"].size:
                # An update is rounded as what it is added to.
                atol += tolerances.FLOOR * float(abs(first[f"initial/{i}"]).max())
            apart = rounding.arrays.get(f"{kind}/{i}") if rounding else None
            if apart is not None and a is not None and a.shape == apart.shape:
                if is_lost(apart, a, floors.get(i, 0.0)):
                    text = f"rounding alone moves it by {float(apart.min()) / FACTOR:.1e}"
                    rung.outputs.append(Output(name, NOT_COMPARED, detail=text))
                    continue
                extra = apart if extra is None else extra + apart
            few = tolerances.OUTLIERS if kind == "final" else 0.0
            tail = rounding.tails.get(f"{kind}/{i}") if rounding else None
            output = numeric.array(name, a, b, rtol, atol, extra, few, tail)
            if later and output.status == DIFFERS:
                again = first[f"later/{i}"]
                output = numeric.array(name, again, b, rtol, atol, extra, few, tail)
            rung.outputs.append(output)
    _conventions(rungs, series, pairs, first, allowed, rounding)


def _of_one_worker(side: Side, index: int) -> bool:
    return index in side.workers.get("own_gradients", ())


def _losses(
    rungs: list[Rung],
    series: Sequence[Any],
    allowed: Tolerances,
    rounding: Rounding | None,
    scales: Mapping[str, float] | None = None,
) -> None:
    for rung, first_only in ((rungs[3], True), (rungs[6], False)):
        rung.outputs = [
            Output(name, NOT_COMPARED, detail="the step is given gradients: it has no loss")
            if first_only and a is not None and a.get("by_norm")
            else numeric.losses(
                name,
                a,
                b,
                allowed,
                first_only,
                rounding.losses.get(name, ()) if rounding else (),
                (scales or {}).get(name, 1.0),
            )
            for name, a, b in series
        ]


def _gradient_floors(training: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[int, float]:
    """For each variable what its gradient may be apart by: a share of the largest gradient of
    all that are trained with it."""
    found: dict[int, float] = {}
    for series in training.get("series", []):
        indices = series.get("variables") or range(len(training["variables"]))
        known = [arrays[f"gradient/{i}"] for i in indices if f"gradient/{i}" in arrays]
        largest = max((float(abs(g).max()) for g in known if g.size), default=0.0)
        if math.isfinite(largest):
            found.update(dict.fromkeys(indices, tolerances.GRADIENT_FLOOR * largest))
    return found


def _conventions(
    rungs: list[Rung],
    series: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    first: Mapping[str, Array],
    allowed: Tolerances,
    rounding: Rounding | None,
) -> None:
    """Where the loss that is differentiated is a multiple of the reference's at every step, and
    all gradients and weights are equal, the scale is a convention: a custom step may divide by the
    number of replicas after the tape. Only whole numbers are one, or their reciprocals."""
    place = {i: at for at, (i, _) in enumerate(pairs)}
    for at, (name, a, b) in enumerate(series):
        if all(rungs[n].outputs[at].status == EQUAL for n in (3, 6)):
            continue
        before, after = numeric.curve(a), numeric.curve(b)
        trained = [i for i in ((a or {}).get("variables") or place) if i in place]
        if not before or len(before) != len(after) or not trained:
            continue
        largest = max(range(len(before)), key=lambda k: abs(before[k]))
        scale = after[largest] / before[largest] if before[largest] else 0.0
        if not math.isfinite(scale) or scale <= 0:
            continue
        times = max(scale, 1 / scale)
        if round(times) < 2 or abs(times - round(times)) > 1e-4 * times:
            continue  # no number of replicas, of parts of a batch, no scale of a loss
        equal = all(rungs[n].outputs[place[i]].status == EQUAL for n in (4, 5, 7) for i in trained)
        moved = any(first[f"gradient/{i}"].any() for i in trained if f"gradient/{i}" in first)
        again = [Rung(number) for number in range(1, 10)]
        _losses(again, [(name, a, b)], allowed, rounding, {name: scale})
        if equal and moved and all(again[n].outputs[0].status == EQUAL for n in (3, 6)):
            text = (
                f"{scale:.6g} times the reference's at every step; all gradients and weights are "
                "equal: where the loss is scaled is a convention"
            )
            for n in (3, 6):
                rungs[n].outputs[at] = again[n].outputs[0]
                rungs[n].outputs[at].detail = text


def diverged(reference: Side, target: Side, broken: Rung) -> int | None:
    """The step (from 1) from which on the loss is no number on either side, when that is all that
    broke a rung; None otherwise."""
    if broken.number not in (4, 7):
        return None
    pairs = matching.pair_series(dict(reference.training), dict(target.training))
    steps = {name: numeric.no_number(numeric.curve(a), numeric.curve(b)) for name, a, b in pairs}
    found = [o for o in broken.outputs if o.status == DIFFERS]
    for output in found:
        step = steps.get(output.name)
        if step is None or output.first_bad != step + 1:
            return None
    return min(o.first_bad or 1 for o in found)


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
    idle = []  # of steps that are built and not taken: a copy's, say
    never = [_never_trained(training) for training in (one, other)]
    sides = ((lacking, before, never[0], "target"), (more, after, never[1], "reference"))
    for indices, variables, left, where in sides:
        for i in indices:
            v = variables[i]
            text = f"{v['shape']} has no counterpart in the {where}"
            if i in left:
                text = f"{text}, and no step that trains it is taken"
                idle.append(Output(matching.title(v), NOT_COMPARED, detail=text, told=True))
                continue
            found.append(Output(matching.title(v), DIFFERS, detail=text))
    for i, j in pairs:
        a, b = first.get(f"initial/{i}"), second.get(f"initial/{j}")
        if a is None or b is None:
            text = "its first value is not known"
            found.append(Output(matching.title(before[i]), DIFFERS, detail=text))
        elif not numeric.identical(a, b):
            text = "the reference's first value could not be given to the target"
            found.append(Output(matching.title(before[i]), DIFFERS, detail=text))
    for entry in other.get("first_values", ()):
        text = _assigned(entry["reference_assigned"], entry["target_assigned"])
        found.append(Output(entry["name"], DIFFERS, detail=text))
    if pairs and not found:
        found.append(Output("variables", EQUAL, detail=f"{len(pairs)} pairs"))
    if not found:
        return [Output("variables", DIFFERS, detail="no variable was trained")]
    return found + idle[:_MOST_UNUSED] + _unused(one, other)


def _never_trained(training: Mapping[str, Any]) -> set[int]:
    """The variables of steps that are built, of which none is taken, by their indices."""
    taken = [series for series in training["series"] if any(series["losses"])]
    if not taken or not all(series.get("variables") for series in taken):
        return set()
    return {*range(len(training["variables"]))} - {i for one in taken for i in one["variables"]}


def _assigned(reference: bool, target: bool) -> str:
    """How a variable came to begin the training with another value than the reference's."""
    if not target:
        return "the reference assigns to it before the first step; the target does not"
    if not reference:
        return "the target assigns to it before the first step; the reference does not"
    return "what is assigned to it before the first step is another value than the reference's"


def _unused(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Output]:
    """Variables that one side alone makes, and that nothing uses: they change no result."""
    found = []
    both = [training.get("unused", ()) for training in (one, other)]
    counts = [Counter(tuple(v["shape"]) for v in side) for side in both]
    for side, name, less in zip(both, ("reference", "target"), (counts[1], counts[0])):
        left = Counter(less)
        for v in side:
            shape = tuple(v["shape"])
            if left[shape]:
                left[shape] -= 1
                continue
            text = f"{v['name']} {v['shape']} is made in the {name} alone, and nothing uses it"
            found.append(Output(v["name"], NOT_COMPARED, detail=text, told=True))
    return found[:_MOST_UNUSED]


def _curves(series: Any) -> Iterator[tuple[str, list[float], list[float]]]:
    for name, a, b in series:
        yield name, curve(a), curve(b)


def _examples(series: Sequence[Any]) -> list[Output]:
    found = []
    for i, (_, a, b) in enumerate(series):
        label = matching.of_examples(i)
        before, after = _counts(a), _counts(b)
        if not curve(a) and not curve(b):
            found.append(Output(label, DIFFERS, detail="no step was run on either side"))
        elif a is not None and a.get("by_norm"):
            text = "the step is given gradients: it has no batch"
            found.append(Output(label, NOT_COMPARED, detail=text))
        elif not before or not after or None in before or None in after:
            sides = [s for s, c in (("reference", before), ("target", after)) if not c or None in c]
            text = f"not observed in the {' and the '.join(sides)}"
            found.append(Output(label, NOT_COMPARED, detail=text))
        else:
            # Which of several batches is counted is the probe's choice.
            either = set(a.get("lengths", ())) | set(b.get("lengths", ()))
            pairs = enumerate(zip(before, after))
            bad = next((k for k, (m, n) in pairs if m != n and not {m, n} <= either), None)
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
