"""One comparison: run both programs on each number of devices, and judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from migrate_mgpu.parity import recorded, second_run, verdict
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.compare.outcome import NOT_EQUIVALENT
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import programs
from migrate_mgpu.parity.runs.programs import Options
from migrate_mgpu.parity.runs.sides import Crash, Side
from migrate_mgpu.parity.second_run import SecondRun
from migrate_mgpu.parity.verdict import Judged
from migrate_mgpu.runtimes import Runtime


@dataclass(frozen=True)
class Request:
    """What to compare.

    Attributes:
      reference: its runtime, or None when a recorded trace stands in for it.
      before: the reference's program; after: the target's.
      adapt: the numbers of devices are nobody's choice: those that are too few for the old
        or the new program are left out, and larger ones are tried.
      bridge: makes the old program in a form in which the target's TensorFlow runs it, as TF1
        code; it gives None where there is none.
    """

    reference: Runtime | None
    target: Runtime
    before: Path
    after: Path
    devices: tuple[int, ...] = (1, 2)
    options: Options = field(default_factory=Options)
    tolerances: Tolerances = field(default_factory=Tolerances)
    adapt: bool = False
    bridge: Callable[[], Path | None] | None = None


# Tried after the numbers of devices that nobody chose.
MORE_DEVICES = (4, 8)


def run(request: Request, place: Path) -> tuple[list[Judged], list[Judged]]:
    """Run and judge; traces are left in ``place/devices-N``.

    Returns:
      The judgements, and those that are left out: the program names more devices than that.
    """
    judged: list[Judged] = []
    too_few: list[Judged] = []
    waiting = list(request.devices)
    more = [n for n in MORE_DEVICES if n > max(waiting)]
    while waiting:
        devices = waiting.pop(0)
        folder = place / f"devices-{devices}"
        if request.reference is None:
            reference, target = _with_recorded(request, devices, folder)
        else:
            options = request.options
            both = (request.reference, request.before), (request.target, request.after)
            reference, target = programs.run_pair(*both, devices, options, folder)
            if reference.crash and options.old_workers > 1:
                request = replace(request, options=replace(options, old_workers=1))
                alone = f"its workers do not run: {reference.crash}: it ran as one process"
                reference, target = programs.run_pair(*both, devices, request.options, folder)
                reference.training["notes"].append(alone)
        if request.options.workers > request.options.old_workers and reference.trace:
            total = request.options.old_devices(devices)
            reference.training["notes"].append(
                f"one process with {total} devices, which has the batch of all workers"
            )
        found = verdict.judge(devices, reference, target, request.tolerances)
        # The device configuration does not differ by chance.
        broken = outcome.headline(found.rungs)
        if found.verdict == NOT_EQUIVALENT and broken is not None and broken.number > 1:
            seen = _second_run(request, reference, devices, folder)
            if seen is not None and not target.failure:
                found = verdict.with_second_run(found, request.tolerances, seen)
                if request.reference is not None and verdict.rounding_may_explain(found):
                    found = _with_rounding(request, found, seen, devices, folder)
        if request.adapt and too_few_for(found) is not None:
            too_few.append(found)
            waiting += [more.pop(0)] if more and not waiting and not judged else []
        else:
            judged.append(found)
    return (judged, too_few) if judged else (too_few, [])


def too_few_for(judged: Judged) -> Crash | None:
    """How the program ended that names more devices than there were, if one of the two does.

    TF1 builds the towers of missing GPUs on the CPU where placement is soft: a strategy needs all.
    """
    crashes = (judged.reference.crash, judged.target.crash)
    return next((one for one in crashes if one is not None and one.too_few_devices), None)


def _with_rounding(
    request: Request, found: Judged, seen: SecondRun, devices: int, folder: Path
) -> Judged:
    """The judgement, where rounding may be all that differs, or how another TensorFlow computes."""
    assert request.reference is not None
    reference, old = found.reference, request.options.old
    count = request.options.old_devices(devices)
    bridge: Side | None = None
    for measured in second_run.measure_rounding(
        reference, request.reference, request.before, count, old, folder
    ):
        found = verdict.with_rounding(found, request.tolerances, seen, measured)
        if found.verdict == NOT_EQUIVALENT and request.bridge is not None:
            if bridge is None:
                program = request.bridge()
                if program is None:
                    continue
                bridge = second_run.of_bridge(
                    reference, request.target, program, count, old, folder
                )
            found = verdict.with_bridge(found, request.tolerances, seen, measured, bridge)
        if found.verdict != NOT_EQUIVALENT:
            break
    return found


def _second_run(request: Request, reference: Side, devices: int, folder: Path) -> SecondRun | None:
    """What differs between two runs of the reference; None when no one knows."""
    devices, options = request.options.old_devices(devices), request.options.old
    if request.reference is not None:
        about = request.reference, request.before, devices, options
        return second_run.run(reference, *about, folder)
    return recorded.second_run_of(request.before, devices)


def _with_recorded(request: Request, devices: int, folder: Path) -> tuple[Side, Side]:
    total = request.options.old_devices(devices)
    reference = recorded.collect(request.before, total, request.options)
    target = programs.run_one(
        request.target,
        request.after,
        devices,
        request.options,
        folder,
        "target",
        recorded.folder(request.before, total) / "initial.npz",
    )
    return reference, target
