"""The old program's trace, kept beside it: it stands in where its runtime is not."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from migrate_mgpu.parity import second_run
from migrate_mgpu.parity.runs import programs, sides
from migrate_mgpu.parity.runs.programs import Options
from migrate_mgpu.parity.runs.sides import Side
from migrate_mgpu.parity.second_run import SecondRun
from migrate_mgpu.runtimes import Runtime

STAMP = "record.json"  # what the trace was recorded from
SECOND_RUN = "second_run.json"  # what differs between two runs


def folder(before: Path, devices: int) -> Path:
    # Absolute: the programs run elsewhere.
    return before.absolute().parent / "recorded" / before.stem / f"devices-{devices}"


def exists(before: Path, devices: int) -> bool:
    return (folder(before, devices) / STAMP).is_file()


def key(before: Path, options: Options) -> str:
    """Changes with everything that a trace depends on."""
    what = json.dumps([options.argv, options.steps, options.dropout]).encode()
    return hashlib.sha256(before.read_bytes() + what).hexdigest()


class NotRecorded(Exception):
    """No recorded trace can stand in; the message says why."""


def problem(before: Path, devices: int, options: Options) -> str | None:
    """Why a recorded trace cannot stand in for the reference, or None."""
    stamp = folder(before, devices) / STAMP
    if not exists(before, devices):
        return f"there is no recorded trace of {before.name} on {devices} devices"
    known = json.loads(stamp.read_text(encoding="utf-8"))
    if known["key"] != key(before, options):
        return f"{stamp} is of another {before.name} or of other options"
    return None


def runtime_of(before: Path, devices: Sequence[int]) -> str | None:
    """The runtime that recorded traces are of; None where there are none."""
    for n in devices:
        stamp = folder(before, n) / STAMP
        if stamp.is_file():
            return str(json.loads(stamp.read_text(encoding="utf-8"))["runtime"])
    return None


def collect(before: Path, devices: int, options: Options) -> Side:
    """The recorded trace, as the reference's side.

    Raises:
      NotRecorded: there is none of this program with these options.
    """
    wrong = problem(before, devices, options)
    if wrong is not None:
        raise NotRecorded(wrong)
    place = folder(before, devices)
    known = json.loads((place / STAMP).read_text(encoding="utf-8"))
    side = sides.collect(place, "reference", before.name, known["runtime"])
    side.recorded = True
    return side


def second_run_of(before: Path, devices: int) -> SecondRun | None:
    """What differs between two runs of the recorded program; None when no one knows."""
    stored = folder(before, devices) / SECOND_RUN
    if not stored.is_file():
        return None
    return SecondRun.from_data(json.loads(stored.read_text(encoding="utf-8")))


def keep(runtime: Runtime, before: Path, devices: Sequence[int], options: Options) -> None:
    """Record the reference beside its program, for machines without its runtime.

    Raises:
      NotRecorded: the program crashed.
    """
    for n in devices:
        place = folder(before, n)
        side = programs.run_one(runtime, before, n, options, place)
        if side.crash:
            raise NotRecorded(f"{before} {side.crash}")
        with tempfile.TemporaryDirectory() as name:
            initial = place / "initial.npz"
            role = "target" if initial.exists() else "reference"
            second = programs.run_one(runtime, before, n, options, Path(name), role, initial)
            seen = second_run.between(side, second).as_data()
        (place / SECOND_RUN).write_text(json.dumps(seen) + "\n", encoding="utf-8")
        for left in ("reference.options.json", "reference.stderr"):  # paths of this machine
            (place / left).unlink()
        stamp = {"key": key(before, options), "runtime": runtime.name}
        (place / STAMP).write_text(json.dumps(stamp) + "\n", encoding="utf-8")
