"""One comparison: run both programs on each number of devices, and judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate_mgpu.parity import ladder, printed, sides
from migrate_mgpu.parity.ladder import Rung
from migrate_mgpu.parity.sides import Options, Side
from migrate_mgpu.parity.tolerances import Tolerances
from migrate_mgpu.runtimes import Runtime

FORMAT = 1
EQUIVALENT, NOT_EQUIVALENT, NOT_COMPARED = "equivalent", "not equivalent", "not compared"
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

    def as_data(self) -> dict[str, Any]:
        broken = ladder.headline(self.rungs)
        return {
            "devices": self.devices,
            "verdict": self.verdict,
            "reason": self.reason,
            "headline": broken.number if broken else None,
            "rungs": [rung.as_data() for rung in self.rungs],
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
        if _only_printed(found) and request.reference is not None:
            found = _without_noise(found, request, folder)
        judged.append(found)
    return judged


def judge(
    devices: int,
    reference: Side,
    target: Side,
    tolerances: Tolerances,
    noise: printed.Noise | None = None,
) -> Judged:
    """The verdict on two sides."""
    rungs = ladder.compare(reference, target, tolerances, noise=noise)
    if reference.failure:
        reason = f"the reference did not come to its end: {reference.failure}"
        return Judged(devices, NOT_COMPARED, reason, rungs, reference, target)
    if target.failure:
        reason = f"the target did not come to its end: {target.failure}"
        return Judged(devices, NOT_EQUIVALENT, reason, rungs, reference, target)
    broken = ladder.headline(rungs)
    if broken is not None:
        first = next(o for o in broken.outputs if o.status == ladder.DIFFERS)
        reason = f"rung {broken.number}, {broken.name}: {first.name}: {first.detail}"
        return Judged(devices, NOT_EQUIVALENT, reason, rungs, reference, target)
    if all(rung.status == ladder.NOT_COMPARED for rung in rungs[1:]) and (
        rungs[0].status == ladder.NOT_COMPARED
    ):
        return Judged(
            devices, NOT_COMPARED, "there was nothing to compare", rungs, reference, target
        )
    return Judged(devices, EQUIVALENT, "", rungs, reference, target)


def _only_printed(found: Judged) -> bool:
    """Only printed lines differ: perhaps by times and paths."""
    broken = ladder.headline(found.rungs)
    if found.reference.failure or found.target.failure or broken is None or broken.number != 9:
        return False
    return [o.name for o in broken.outputs if o.status == ladder.DIFFERS] == ["printed"]


def _without_noise(found: Judged, request: Request, folder: Path) -> Judged:
    """Judge again, without the numbers that differ between two runs of the reference."""
    assert request.reference is not None
    again = sides.run_one(
        request.reference, request.before, found.devices, request.options, folder / "again"
    )
    noise = printed.noise(found.reference.stdout, again.stdout)
    if not noise or again.failure:
        return found
    judged = judge(found.devices, found.reference, found.target, request.tolerances, noise)
    judged.reference.trace["training"]["notes"].append(  # type: ignore[index]
        f"{len(noise)} printed numbers differ between two runs of the reference: not compared"
    )
    return judged


# Recorded references ------------------------------------------------------------------------


def record_folder(before: Path, devices: int) -> Path:
    return before.parent / "recorded" / before.stem / f"devices-{devices}"


def key(before: Path, options: Options) -> str:
    """Changes with everything that a record depends on."""
    what = json.dumps([options.argv, options.steps, options.dropout]).encode()
    return hashlib.sha256(before.read_bytes() + what).hexdigest()


class NoRecord(Exception):
    """No recorded reference can stand in; the message says why."""


def _with_record(request: Request, devices: int, folder: Path) -> tuple[Side, Side]:
    place = record_folder(request.before, devices)
    stamp = place / "record.json"
    if not stamp.is_file():
        raise NoRecord(f"there is no recorded trace of {request.before.name} on {devices} devices")
    known = json.loads(stamp.read_text(encoding="utf-8"))
    if known["key"] != key(request.before, request.options):
        raise NoRecord(f"{stamp} is of another {request.before.name} or of other options")
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
      NoRecord: the program did not come to its end.
    """
    for n in devices:
        place = record_folder(before, n)
        side = sides.run_one(runtime, before, n, options, place)
        if side.failure:
            raise NoRecord(f"{before}: {side.failure}")
        for name in ("reference.options.json", "reference.stderr"):  # paths of this machine
            (place / name).unlink()
        stamp = {"key": key(before, options), "runtime": runtime.name}
        (place / "record.json").write_text(json.dumps(stamp) + "\n", encoding="utf-8")
