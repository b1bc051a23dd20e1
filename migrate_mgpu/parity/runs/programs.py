"""Run both programs of a comparison, each in a copy of its folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate_mgpu.parity.runs import devices as places
from migrate_mgpu.parity.runs import hardware, launch
from migrate_mgpu.parity.runs.devices import Place
from migrate_mgpu.parity.runs.sides import Side, collect
from migrate_mgpu.parity.runs.supervise import Limits, Process, run_all
from migrate_mgpu.runtimes import Runtime

_NOT_COPIED = shutil.ignore_patterns(
    ".git", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache", ".ruff_cache"
)
LINKED_ABOVE = 20 * 2**20  # larger files are linked into the copy, not copied


@dataclass(frozen=True)
class Options:
    """How both programs are run."""

    argv: tuple[str, ...] = ()
    steps: int | None = None
    dropout: str = "mask"
    run_on: str = "auto"  # devices.CHOICES
    limits: Limits = field(default_factory=Limits)
    # A program in one of these folders is copied with all of that, and begins in it;
    # another one with the folder that it lies in.
    roots: tuple[Path, ...] = ()

    def root_of(self, program: Path) -> Path:
        for root in self.roots:
            if root.resolve() in program.resolve().parents:
                return root.resolve()
        return program.resolve().parent


def run_pair(
    reference: tuple[Runtime, Path],
    target: tuple[Runtime, Path],
    devices: int,
    options: Options,
    folder: Path,
) -> tuple[Side, Side]:
    """Run both at once; the target waits for the reference's initial variables. On real
    GPUs one after the other: each takes their memory.

    Traces, arrays and outputs are left in ``folder`` as ``reference.*`` and ``target.*``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    initial = folder / "initial.npz"
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-parity-") as name:
        work = Path(name)

        def ended(_: Process) -> None:
            initial.with_name("initial.npz.none").touch()  # the target must not wait for ever

        place = places.choose(devices, (reference[0], target[0]), options.run_on)
        first = _process("reference", *reference, devices, options, folder, work, initial, place)
        first.on_end = ended
        second = _process("target", *target, devices, options, folder, work, initial, place)
        if place.kind == places.CPUS:
            run_all([first, second])
        else:
            run_all([first])
            run_all([second])
    return (
        collect(folder, "reference", reference[1].name, reference[0].name, first),
        collect(folder, "target", target[1].name, target[0].name, second),
    )


def run_one(
    runtime: Runtime,
    program: Path,
    devices: int,
    options: Options,
    folder: Path,
    name: str = "reference",
    initial: Path | None = None,
    place: Place = places.ON_CPUS,
) -> Side:
    """Run one program, as the reference to record its initial values, as the target with
    those that lie at ``initial``."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-parity-") as work:
        values = initial or folder / "initial.npz"
        process = _process(
            name, runtime, program, devices, options, folder, Path(work), values, place
        )
        run_all([process])
    return collect(folder, name, program.name, runtime.name, process)


def _process(
    side: str,
    runtime: Runtime,
    program: Path,
    devices: int,
    options: Options,
    folder: Path,
    work: Path,
    initial: Path,
    place: Place,
) -> Process:
    root = options.root_of(program)
    copy = (work / side).resolve() / root.name
    copy_folder(root, copy)
    (copy / ".tmp").mkdir()
    out = folder / f"{side}.json"
    watch = folder / f"{side}.options.json"
    chosen: dict[str, Any] = {
        "steps": options.steps,
        "dropout": options.dropout,
        "isolate": str(copy),
        "hardware": hardware.describe(),
        "place": place.as_data(devices),
    }
    chosen["initial" if side == "target" else "publish"] = str(initial)
    watch.write_text(json.dumps(chosen), encoding="utf-8")
    command = [str(runtime.python), str(launch.PROBE / "probe.py"), "--out", str(out)]
    command += ["--watch", str(watch), *place.probe_options(devices)]
    command += [str(copy / program.resolve().relative_to(root))]
    command += [text.replace("{devices}", str(devices)) for text in options.argv]
    return Process(
        command,
        copy,
        launch.environment(
            {
                "TMPDIR": str(copy / ".tmp"),
                "PYTHONDONTWRITEBYTECODE": "1",
                **place.environment(),
            }
        ),
        folder / f"{side}.stdout",
        folder / f"{side}.stderr",
        options.limits,
    )


def copy_folder(source: Path, target: Path) -> None:
    """Copy a program's folder, without what is no part of a program."""

    def copy_or_link(one: str, other: str) -> str:
        if Path(one).stat().st_size > LINKED_ABOVE:
            Path(other).symlink_to(one)
            return other
        return str(shutil.copy2(one, other))

    shutil.copytree(
        source,
        target,
        ignore=_NOT_COPIED,
        copy_function=copy_or_link,
        ignore_dangling_symlinks=True,
    )
