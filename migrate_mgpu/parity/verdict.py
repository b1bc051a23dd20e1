"""The verdict on two sides, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from migrate_mgpu.parity.compare import curves, ladder, outcome, printed
from migrate_mgpu.parity.compare.outcome import (
    EQUIVALENT,
    NOT_COMPARABLE,
    NOT_COMPARED,
    NOT_EQUIVALENT,
    Rung,
)
from migrate_mgpu.parity.compare.rounding import FACTOR, LOST, Rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.diagnose import LIKELY, Diagnosis, diagnose
from migrate_mgpu.parity.runs import sides
from migrate_mgpu.parity.runs.sides import Side
from migrate_mgpu.parity.second_run import SecondRun

_SMALL = 1e-3  # of what two runtimes' rounding makes in the first steps that differ, at most


@dataclass
class Judged:
    """The comparison on one number of devices."""

    devices: int
    verdict: str
    reason: str
    rungs: list[Rung]
    reference: Side
    target: Side
    curves: list[dict[str, Any]] = field(default_factory=list)
    diagnosis: list[Diagnosis] = field(default_factory=list)

    def as_data(self) -> dict[str, Any]:
        # Of a program that crashed, the rungs show how far it came.
        ended = not (self.reference.failure or self.target.failure)
        broken = outcome.headline(self.rungs) if ended else None
        return {
            "devices": self.devices,
            "verdict": self.verdict,
            "reason": self.reason,
            "headline": broken.number if broken else None,
            "rungs": [rung.as_data() for rung in self.rungs],
            "diagnosis": [cause.as_data() for cause in self.diagnosis],
            "curves": self.curves,
            "reference": sides.summary(self.reference),
            "target": sides.summary(self.target),
        }


def judge(
    devices: int,
    reference: Side,
    target: Side,
    tolerances: Tolerances,
    noise: printed.Noise | None = None,
    rounding: Rounding | None = None,
) -> Judged:
    """The verdict on two sides, and the likely causes of what differs."""
    rungs = ladder.compare(reference, target, tolerances, noise=noise, rounding=rounding)
    verdict, reason = _verdict(rungs, reference, target)
    found = Judged(devices, verdict, reason, rungs, reference, target)
    found.curves = curves.of(reference, target, tolerances, rounding)
    if verdict == NOT_EQUIVALENT:
        found.diagnosis = diagnose(rungs, reference, target)
    return found


def _verdict(rungs: list[Rung], reference: Side, target: Side) -> tuple[str, str]:
    if reference.crash:
        also = f"; the target {target.crash}" if target.crash else ""
        return NOT_COMPARED, f"the reference {reference.crash}{also}"
    if target.crash:
        return NOT_EQUIVALENT, f"the target {target.crash}"
    for name, side in (("reference", reference), ("target", target)):
        if side.workers.get("apart"):
            wrong = NOT_COMPARED if side is reference else NOT_EQUIVALENT
            return wrong, f"the {name}: {side.workers['apart']}"
    broken = outcome.headline(rungs)
    if broken is not None:
        step = ladder.diverged(reference, target, broken)
        if step is not None:
            text = f"the loss is NaN or infinite on both sides from step {step} on"
            return NOT_COMPARABLE, text + "; all that comes before it is equal" * (step > 1)
        first = next(o for o in broken.outputs if o.status == outcome.DIFFERS)
        reason = f"rung {broken.number}, {broken.name}: {first.name}: {first.detail}"
        return NOT_EQUIVALENT, reason
    unseen = ladder.unseen(reference, target)
    if unseen:
        return NOT_COMPARED, unseen
    if all(rung.status == outcome.NOT_COMPARED for rung in rungs):
        return NOT_COMPARED, "there was nothing to compare"
    return EQUIVALENT, ""


def with_second_run(found: Judged, tolerances: Tolerances, seen: SecondRun) -> Judged:
    """The judgement, now that it is known what differs between two runs of the reference."""
    broken = outcome.headline(found.rungs)
    assert broken is not None
    if seen.rung is not None and seen.rung <= broken.number:
        found.verdict = NOT_COMPARABLE
        found.reason = f"two runs of the reference differ: rung {seen.rung}, {seen.text}"
        random = found.reference.training.get("pins", {}).get("random_operations")
        if random:
            found.reason += f"; random operations in a step: {', '.join(random)}"
        for file, line in (found.reference.trace or {}).get("unordered") or ():
            found.reason += f"; {file}, line {line}, walks through a set, in an order of each run"
        found.diagnosis = []
        return found
    if not seen.noise:
        return found
    both = found.reference, found.target
    judged = judge(found.devices, *both, tolerances, seen.noise)
    text = f"{len(seen.noise)} printed numbers or lines differ from run to run of the reference"
    judged.reference.training["notes"].append(f"{text}: not compared")
    return judged


def rounding_may_explain(found: Judged) -> bool:
    """Whether it is worth measuring what rounding does: something differs in its numbers alone, by
    little, and no other cause is known."""
    broken = outcome.headline(found.rungs)
    if found.verdict != NOT_EQUIVALENT or broken is None or broken.number < 4:
        return False
    if found.reference.failure or found.target.failure:
        return False
    if broken.number < 9 and any(cause.likelihood == LIKELY for cause in found.diagnosis):
        return False
    updated = found.rungs[4].status == found.rungs[5].status == outcome.EQUAL
    if broken.number == 4 and updated:
        return True  # the loss may be a multiple by convention: the weights decide
    both = (*found.rungs[3].outputs, *found.rungs[6].outputs)
    losses = [one for one in both if one.status != NOT_COMPARED]
    if any(output.largest_relative is None for output in losses):
        return False
    if all(rung.status == outcome.EQUAL for rung in found.rungs[3:6]) and _begin_small(found):
        return True  # a recurrent network may make anything of it in a few steps
    return all((output.largest_relative or 0.0) < 0.5 for output in losses)


def _begin_small(found: Judged) -> bool:
    """Whether loss curves part by next to nothing at first."""
    bad = {o.name: o.first_bad for o in found.rungs[6].outputs if o.first_bad is not None}
    known = {curve["name"]: (curve["reference"], curve["target"]) for curve in found.curves}
    for name, step in bad.items():
        if name not in known or step > min(map(len, known[name])):
            return False
        one, other = (float(values[step - 1]) for values in known[name])
        if not abs(one - other) < _SMALL * max(abs(one), abs(other)):
            return False
    return bool(bad)


def with_rounding(
    found: Judged, tolerances: Tolerances, seen: SecondRun, rounding: Rounding
) -> Judged:
    """The judgement, now that it is known what rounding alone does to the reference."""
    both = found.reference, found.target
    judged = judge(found.devices, *both, tolerances, seen.noise, rounding)
    for curve in judged.curves:
        numbers = [float(value) for value in curve["reference"]]
        step = rounding.lost_at(curve["name"], numbers)
        if step is not None and judged.verdict == outcome.EQUIVALENT:
            judged.verdict = NOT_COMPARABLE
            judged.reason = (
                f"rounding alone changes the reference's {curve['name']} by more than "
                f"{LOST / FACTOR:.1%} from step {step + 1} on: compare fewer steps (--steps {step})"
            )
    final = judged.rungs[7]
    if judged.verdict == outcome.EQUIVALENT and final.status == outcome.NOT_COMPARED:
        if not final.reason:
            judged.verdict = NOT_COMPARABLE
            judged.reason = f"rung 8, {final.name}: {final.outputs[0].detail}"
    if judged.verdict == outcome.EQUIVALENT:
        text = "what rounding alone changes in the reference was measured, and is allowed"
        judged.reference.training["notes"].append(text)
    return judged


def with_bridge(
    found: Judged, tolerances: Tolerances, seen: SecondRun, rounding: Rounding, bridge: Side
) -> Judged:
    """The judgement, now that the old program was run on the new one's TensorFlow, too.

    Where the two are equal there, what differs is how that TensorFlow computes (it has another
    `tanh`), which no migration changes.
    """
    if bridge.failure:
        return found
    judged = judge(found.devices, bridge, found.target, tolerances, seen.noise)
    if judged.verdict == NOT_EQUIVALENT:
        judged = with_rounding(judged, tolerances, seen, rounding)
    if judged.verdict == NOT_EQUIVALENT:
        return found
    text = (
        f"{found.reason}: on {bridge.runtime} the old program, as TF1 code, differs from itself on "
        f"{found.reference.runtime} as much, and the new one equals it: that is what is compared"
    )
    judged.reference.training["notes"].append(text)
    return judged
