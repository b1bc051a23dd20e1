"""The reference run a second time: what differs between its two runs is no one's mistake.

Times and rates that a program prints are noise; a program whose losses differ cannot be
compared with anything. It is run again only when the sides differ, once for each program:
the answer is remembered beside the results (``storage.folder()``) until the program, its
arguments or its runtime change. Where it is none of these, and small, what rounding alone does
to the program is measured, and remembered, in the same way (``compare/rounding.py``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from migrate_mgpu import __version__
from migrate_mgpu.parity import storage
from migrate_mgpu.parity.compare import ladder, outcome, printed, rounding
from migrate_mgpu.parity.compare.rounding import Rounding
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.runs import programs, sides
from migrate_mgpu.parity.runs.devices import ON_CPUS, Place
from migrate_mgpu.parity.runs.programs import Options
from migrate_mgpu.parity.runs.sides import Side
from migrate_mgpu.runtimes import Runtime

# Of which the larger differences count. More are made where they do not explain what differs, and
# each moves what the other does not: a few runs miss what is chance.
ROUNDING_RUNS = (2, 4, 8)


@dataclass(frozen=True)
class SecondRun:
    """What differs between two runs of one program.

    Attributes:
      noise: printed numbers (line, place).
      rung: the first rung on which the two runs differ, with the default tolerances; None
        when they agree.
      text: what differs there.
    """

    noise: printed.Noise = field(default_factory=frozenset)
    rung: int | None = None
    text: str = ""

    def as_data(self) -> dict[str, Any]:
        return {"noise": sorted(self.noise), "rung": self.rung, "text": self.text}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> SecondRun:
        noise = frozenset((line, place) for line, place in data["noise"])
        return cls(noise, data["rung"], data["text"])


def run(
    side: Side, runtime: Runtime, program: Path, devices: int, options: Options, folder: Path
) -> SecondRun:
    """Run the reference again, with the initial values that it had, or remember.

    Args:
      side: its first run, which left ``initial.npz`` in ``folder``.
    """
    stored = storage.folder() / "second-runs" / f"{_key(side, program, devices, options)}.json"
    if stored.is_file():
        return SecondRun.from_data(json.loads(stored.read_text(encoding="utf-8")))
    initial = folder / "initial.npz"
    role = "target" if initial.exists() else "reference"
    second = programs.run_one(
        runtime, program, devices, options, folder / "second-run", role, initial, _place(side)
    )
    found = between(side, second)
    if second.failure is None:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps(found.as_data()) + "\n", encoding="utf-8")
    return found


def measure_rounding(
    side: Side, runtime: Runtime, program: Path, devices: int, options: Options, folder: Path
) -> Iterator[Rounding]:
    """Run the reference with first values that are rounded otherwise, or remember what that
    changed; nothing where it cannot be measured, and more than once where more runs may show more.

    Args:
      side: its first run, which left ``initial.npz`` in ``folder``.
    """
    key = _key(side, program, devices, options)
    initial = folder / "initial.npz"
    runs: list[Side] = []
    for count in ROUNDING_RUNS:
        stored = storage.folder() / "second-runs" / f"{key}.rounded-{count}.npz"
        found = Rounding.load(stored) if stored.is_file() else None
        if found is None and initial.is_file():
            for number in range(len(runs) + 1, count + 1):
                again = replace(options, rounded=number)
                where = folder / f"rounding-{number}", "target", initial, _place(side)
                runs.append(programs.run_one(runtime, program, devices, again, *where))
            found = rounding.between(side, runs)
            if found is not None:
                found.save(stored)
        if found is None:
            for crash in [run.crash for run in runs if run.failure][:1]:
                text = f"what rounding does was not measured: a run {crash}"
                side.training["notes"].append(text)
            return
        yield found


def of_bridge(
    side: Side, runtime: Runtime, program: Path, devices: int, options: Options, folder: Path
) -> Side:
    """The old program's run on the new one's TensorFlow, with the initial values that it had.

    Args:
      side: its own run, which left ``initial.npz`` in ``folder``.
      program: the old program, in a form in which that TensorFlow runs it.
    """
    initial = folder / "initial.npz"
    role = "target" if initial.exists() else "reference"
    where = folder / "bridge", role, initial, _place(side)
    return programs.run_one(runtime, program, devices, options, *where)


def _place(side: Side) -> Place:
    told = (side.trace or {}).get("place") or {}
    return Place.from_data(told) if told else ON_CPUS


def between(first: Side, second: Side) -> SecondRun:
    """What differs between two runs that have both ended."""
    if second.failure:
        return SecondRun(rung=1, text=f"the second one {second.crash}")
    noise = printed.noise(first.stdout, second.stdout) or frozenset()
    rungs = ladder.compare(first, second, Tolerances(), noise=noise)
    broken = outcome.headline(rungs)
    # A program that trains no step fails by that, the same in both runs.
    steps = [count for side in (first, second) for count in sides.summary(side)["steps"]]
    if broken is None or not any(steps):
        return SecondRun(noise)
    output = next(o for o in broken.outputs if o.status == outcome.DIFFERS)
    return SecondRun(noise, broken.number, f"{broken.name}: {output.name}: {output.detail}")


def _key(side: Side, program: Path, devices: int, options: Options) -> str:
    """Changes with everything that the answer depends on."""
    trace = side.trace or {}
    # What differs is what this version's rungs say.
    what: list[Any] = [__version__, options.argv, options.steps, options.dropout, devices]
    what += [options.workers] if options.workers > 1 else []
    what += [side.runtime, trace.get("versions"), trace.get("place"), program.name]
    what.append(printed.skeleton(side.stdout))  # the noise is of these lines
    digest = hashlib.sha256(json.dumps(what).encode())
    root = options.root_of(program)
    for source in sorted({program.resolve(), *root.rglob("*.py")}):  # it may be a notebook
        digest.update(str(source.relative_to(root)).encode() + source.read_bytes())
    return digest.hexdigest()[:32]
