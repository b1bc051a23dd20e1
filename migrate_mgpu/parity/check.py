"""One comparison: run both programs on each number of devices, and judge."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate_mgpu.parity import again, curves, ladder, printed, sides
from migrate_mgpu.parity.again import Again
from migrate_mgpu.parity.diagnose import Diagnosis, diagnose
from migrate_mgpu.parity.ladder import Rung
from migrate_mgpu.parity.sides import Options, Side
from migrate_mgpu.parity.tolerances import Tolerances
from migrate_mgpu.runtimes import Runtime

FORMAT = 1
EQUIVALENT, NOT_EQUIVALENT, NOT_COMPARED = "equivalent", "not equivalent", "not compared"
NOT_COMPARABLE = "not comparable"  # the reference differs from itself
STAMP = "record.json"  # of a recorded reference: what it was recorded from
AGAIN = "again.json"  # of a recorded reference: what differs between two of its runs
# The reference's programs of a folder, recorded where there is a TensorFlow 1.15.
RECORD = "parity-{devices}"


@dataclass(frozen=True)
class Request:
    """What to compare.

    Attributes:
      reference: its runtime, or None when a recorded trace stands in for it.
      before: the reference's program; after: the target's.
    """

    reference: Runtime | None
    target: Runtime
    before: Path
    after: Path
    devices: tuple[int, ...] = (1, 2)
    options: Options = field(default_factory=Options)
    tolerances: Tolerances = field(default_factory=Tolerances)


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
        broken = ladder.headline(self.rungs) if ended else None
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


def run(request: Request, place: Path) -> list[Judged]:
    """Run and judge; traces are left in ``place/devices-N``."""
    judged = []
    for devices in request.devices:
        folder = place / f"devices-{devices}"
        if request.reference is None:
            reference, target = _with_record(request, devices, folder)
        else:
            reference, target = sides.run_pair(
                (request.reference, request.before),
                (request.target, request.after),
                devices,
                request.options,
                folder,
            )
        found = judge(devices, reference, target, request.tolerances)
        # The device configuration does not differ by chance.
        broken = ladder.headline(found.rungs)
        if found.verdict == NOT_EQUIVALENT and broken is not None and broken.number > 1:
            seen = _second_run(request, reference, devices, folder)
            if seen is not None and not target.failure:
                found = _with_second_run(found, request, seen)
        judged.append(found)
    return judged


def _second_run(request: Request, reference: Side, devices: int, folder: Path) -> Again | None:
    """What differs between two runs of the reference; None when no one knows."""
    if request.reference is not None:
        return again.run(
            reference, request.reference, request.before, devices, request.options, folder
        )
    stored = record_folder(request.before, devices) / AGAIN
    if not stored.is_file():
        return None
    return Again.from_data(json.loads(stored.read_text(encoding="utf-8")))


def judge(
    devices: int,
    reference: Side,
    target: Side,
    tolerances: Tolerances,
    noise: printed.Noise | None = None,
) -> Judged:
    """The verdict on two sides, and the likely causes of what differs."""
    rungs = ladder.compare(reference, target, tolerances, noise=noise)
    verdict, reason = _verdict(rungs, reference, target)
    found = Judged(devices, verdict, reason, rungs, reference, target)
    found.curves = curves.of(reference, target, tolerances)
    if verdict == NOT_EQUIVALENT:
        found.diagnosis = diagnose(rungs, reference, target)
    return found


def _verdict(rungs: list[Rung], reference: Side, target: Side) -> tuple[str, str]:
    if reference.crash:
        also = f"; the target {target.crash}" if target.crash else ""
        return NOT_COMPARED, f"the reference {reference.crash}{also}"
    if target.crash:
        return NOT_EQUIVALENT, f"the target {target.crash}"
    broken = ladder.headline(rungs)
    if broken is not None:
        first = next(o for o in broken.outputs if o.status == ladder.DIFFERS)
        reason = f"rung {broken.number}, {broken.name}: {first.name}: {first.detail}"
        return NOT_EQUIVALENT, reason
    unseen = ladder.unseen(reference, target)
    if unseen:
        return NOT_COMPARED, unseen
    if all(rung.status == ladder.NOT_COMPARED for rung in rungs):
        return NOT_COMPARED, "there was nothing to compare"
    return EQUIVALENT, ""


def _with_second_run(found: Judged, request: Request, seen: Again) -> Judged:
    """The judgement, now that it is known what differs between two runs of the reference."""
    broken = ladder.headline(found.rungs)
    assert broken is not None
    if seen.rung is not None and seen.rung <= broken.number:
        found.verdict = NOT_COMPARABLE
        found.reason = f"two runs of the reference differ: rung {seen.rung}, {seen.text}"
        random = found.reference.training.get("pins", {}).get("random_operations")
        if random:
            found.reason += f"; random operations in a step: {', '.join(random)}"
        found.diagnosis = []
        return found
    if not seen.noise:
        return found
    both = found.reference, found.target
    judged = judge(found.devices, *both, request.tolerances, seen.noise)
    text = f"{len(seen.noise)} printed numbers or lines differ between two runs of the reference"
    judged.reference.training["notes"].append(f"{text}: not compared")
    return judged


# Recorded references ------------------------------------------------------------------------


def record_folder(before: Path, devices: int) -> Path:
    # Absolute: the programs run elsewhere.
    return before.absolute().parent / "recorded" / before.stem / f"devices-{devices}"


def key(before: Path, options: Options) -> str:
    """Changes with everything that a record depends on."""
    what = json.dumps([options.argv, options.steps, options.dropout]).encode()
    return hashlib.sha256(before.read_bytes() + what).hexdigest()


class NoRecord(Exception):
    """No recorded reference can stand in; the message says why."""


def record_problem(before: Path, devices: int, options: Options) -> str | None:
    """Why a recorded trace cannot stand in for the reference, or None."""
    stamp = record_folder(before, devices) / STAMP
    if not stamp.is_file():
        return f"there is no recorded trace of {before.name} on {devices} devices"
    known = json.loads(stamp.read_text(encoding="utf-8"))
    if known["key"] != key(before, options):
        return f"{stamp} is of another {before.name} or of other options"
    return None


def recorded_with(before: Path, devices: Sequence[int]) -> str | None:
    """The runtime that recorded traces are of; None where there are none."""
    for n in devices:
        stamp = record_folder(before, n) / STAMP
        if stamp.is_file():
            return str(json.loads(stamp.read_text(encoding="utf-8"))["runtime"])
    return None


def _with_record(request: Request, devices: int, folder: Path) -> tuple[Side, Side]:
    problem = record_problem(request.before, devices, request.options)
    if problem is not None:
        raise NoRecord(problem)
    place = record_folder(request.before, devices)
    known = json.loads((place / STAMP).read_text(encoding="utf-8"))
    reference = sides.collect(place, "reference", request.before.name, known["runtime"])
    reference.recorded = True
    target = sides.run_one(
        request.target,
        request.after,
        devices,
        request.options,
        folder,
        "target",
        place / "initial.npz",
    )
    return reference, target


def record(runtime: Runtime, before: Path, devices: Sequence[int], options: Options) -> None:
    """Record the reference beside its program, for machines without its runtime.

    Raises:
      NoRecord: the program crashed.
    """
    for n in devices:
        place = record_folder(before, n)
        side = sides.run_one(runtime, before, n, options, place)
        if side.crash:
            raise NoRecord(f"{before} {side.crash}")
        with tempfile.TemporaryDirectory() as name:
            initial = place / "initial.npz"
            role = "target" if initial.exists() else "reference"
            second = sides.run_one(runtime, before, n, options, Path(name), role, initial)
            seen = again.between(side, second).as_data()
        (place / AGAIN).write_text(json.dumps(seen) + "\n", encoding="utf-8")
        for left in ("reference.options.json", "reference.stderr"):  # paths of this machine
            (place / left).unlink()
        stamp = {"key": key(before, options), "runtime": runtime.name}
        (place / STAMP).write_text(json.dumps(stamp) + "\n", encoding="utf-8")
