"""Results for the tests of reports: made here from numbers, judged as real ones are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu.parity import storage, verdict
from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.diagnose import Diagnosis
from migrate_mgpu.parity.runs.devices import CPUS, Place
from migrate_mgpu.parity.runs.sides import Side

HARDWARE = {
    "cpu": "Some CPU @ 2.00GHz",
    "cores": 2,
    "memory_mib": 7900,
    "system": "Linux 6.1 x86_64",
    "gpus": [],
}
PLACE = Place(CPUS, "logical CPUs in the place of GPUs: this machine shows no GPU")
NAMES = ("hidden/kernel", "hidden/bias")


def falling(steps: int = 50, rate: float = 0.08, first: float = 1.6) -> list[float]:
    """A loss that falls, with the waves of its batches."""
    return [
        first * math.exp(-rate * i) + 0.2 + 0.03 * math.sin(1.7 * i) * math.exp(-0.02 * i)
        for i in range(steps)
    ]


def side(
    folder: Path,
    program: str,
    losses: Sequence[float],
    *,
    step: float = 0.1,
    stdout: str = "accuracy 0.91\n",
    names: Sequence[str] = NAMES,
    exception: dict[str, str] | None = None,
    devices: int = 1,
    old: bool = True,
    more_losses: Sequence[float] = (),
) -> Side:
    """One side; ``step`` is how far its first update went."""
    import numpy

    folder.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for i in range(len(names)):
        initial = numpy.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
        gradient = numpy.cos(initial)
        arrays[f"initial/{i}"] = initial
        arrays[f"gradient/{i}"] = gradient
        arrays[f"after_one/{i}"] = initial - step * gradient
        arrays[f"final/{i}"] = initial - step * gradient * max(1, len(losses)) / 10
    place = folder / f"{'reference' if old else 'target'}.npz"
    numpy.savez(place, **arrays)
    series = [
        {"combine": "sum", "losses": [list(one)], "examples": [[8] * len(one)]}
        for one in (losses, more_losses)
        if one
    ]
    settings = {"config": {}, "environment": {}, "shown_gpus": [0], "kind": "Session", "file": None}
    trace: dict[str, Any] = {
        "gpus": [1000],
        "sessions": [settings],
        "servers": [],
        "context": {"initialised": [], "exit": None},
        "versions": {"python": "3.7.16", "tensorflow": "1.15.5"}
        if old
        else {"python": "3.11.7", "tensorflow": "2.15.1", "keras": "2.15.0"},
        "hardware": HARDWARE,
        "place": PLACE.as_data(devices),
        "exception": exception,
        "status": None if exception else 0,
        "training": {
            "declared": True,
            "stopped": False,
            "variables": [{"name": name, "shape": [2, 3]} for name in names],
            "series": series,
            "outputs": [],
            "pins": {"seed": 20240229, "dropout": "not used"},
            "notes": [],
        },
    }
    ended = "exit 1" if exception else "exit 0"
    runtime = "tf1.15" if old else "tf2.15"
    return Side(program, runtime, trace, place, stdout, "", ended, 0, 4.2)


def judged(reference: Side, target: Side, devices: int = 1, **options: Any) -> verdict.Judged:
    return verdict.judge(devices, reference, target, Tolerances(**options))


def result(
    *found: verdict.Judged, before: str = "train_v1.py", after: str = "train_v2.py", number: int = 7
) -> dict[str, Any]:
    return {
        "format": storage.FORMAT,
        "comparison": number,
        "time": "2026-01-31T12:00:00+00:00",
        "before": before,
        "after": after,
        "migrated": False,
        "command": f"migrate-mgpu parity {before} {after} --devices 1,2",
        "results": [one.as_data() for one in found],
    }


def equal(folder: Path, devices: int = 1, noise: float = 4e-8) -> verdict.Judged:
    """Both sides agree, but for rounding in some steps."""
    before = falling()
    after = [v * (1 + noise * (i % 3)) for i, v in enumerate(before)]
    one = side(folder, "train_v1.py", before, devices=devices)
    other = side(folder, "train_v2.py", after, devices=devices, old=False)
    return judged(one, other, devices)


def wrong_rate(folder: Path, devices: int = 2) -> verdict.Judged:
    """The new program's learning rate is a tenth larger."""
    one = side(folder, "train_v1.py", falling(), devices=devices)
    losses = [falling()[0], *falling(rate=0.088)[1:]]
    other = side(
        folder,
        "train_v2.py",
        losses,
        step=0.11,
        stdout="accuracy 0.93\n",
        devices=devices,
        old=False,
    )
    found = judged(one, other, devices)
    found.diagnosis = [
        Diagnosis(
            "learning-rate",
            "another learning rate",
            "likely",
            6,
            [
                "the first update is 1.1 times the reference's, in both variables",
                "gradients before it are equal to 1e-7",
            ],
            "set the learning rate to 0.1; it is 0.11 now",
        )
    ]
    return found
