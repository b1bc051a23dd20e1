"""Run both programs of a comparison, each in a copy of its folder."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from migrate_mgpu.parity.runs import devices as places
from migrate_mgpu.parity.runs import hardware, launch, workers
from migrate_mgpu.parity.runs.devices import Place
from migrate_mgpu.parity.runs.sides import Side, collect, parts
from migrate_mgpu.parity.runs.supervise import Limits, Process, run_all
from migrate_mgpu.runtimes import Runtime

_NOT_COPIED = shutil.ignore_patterns(
    ".git", "__pycache__", "node_modules", ".tox", ".nox", ".*_cache"
)
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")  # what a virtual environment has at its top
# What a project has at its top: its folder is no package, even with an __init__.py.
_PROJECT = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_WORK = "migrate-mgpu-"  # what the names of temporary folders of comparisons begin with
CONVERTED = ".converted"  # in a program's copy: the new checkpoint
CHECKPOINT = "checkpoint"  # the folder that it is taken to
LINKED_ABOVE = 20 * 2**20  # larger files are linked into the copy, not copied


@dataclass(frozen=True)
class Options:
    """How both programs are run.

    Attributes:
      workers: processes of the new program, each with the devices that are asked for.
      old_workers: those of the old one; as one process it has the devices of all.
    """

    argv: tuple[str, ...] = ()
    steps: int | None = None
    dropout: str = "mask"
    run_on: str = "auto"  # or cpu, gpu
    limits: Limits = field(default_factory=Limits)
    # A program in one of these folders is copied with all of that, and begins in it;
    # another one with the folder that it lies in.
    roots: tuple[Path, ...] = ()
    origin: Path | None = None  # what the programs' roots are copies of
    module: str | None = None  # run by `python -m`, from the folder that it begins in
    rounded: int = 0  # how first values are rounded otherwise; not at all with zero
    anew: Path | None = None  # a folder in which the program finds no latest checkpoint
    progress: TextIO | None = None  # is told how many steps both sides have done
    workers: int = 1
    old_workers: int = 1

    @property
    def old(self) -> Options:
        """The same for the old program alone."""
        return replace(self, workers=self.old_workers)

    def old_devices(self, devices: int) -> int:
        """Those of each process of the old program, where each worker has so many."""
        return devices * self.workers // self.old_workers

    def root_of(self, program: Path) -> Path:
        for root in self.roots:
            if root.resolve() in program.resolve().parents:
                return root.resolve()
        return home(program)


def home(program: Path) -> Path:
    """The folder that a program is copied with: its own, or above its outermost package."""
    folder = program.resolve().parent
    while (folder / "__init__.py").is_file():
        if any((folder / name).exists() for name in _PROJECT):
            break
        folder = folder.parent
    return folder


def search_path(program: Path, root: Path) -> list[Path]:
    """Where the modules of a program are, as if it were installed: above its package, in
    ``src/``, and where PYTHONPATH points."""
    above = home(program)
    found = [above] if above != program.resolve().parent else []
    found += [root / "src"] if (root / "src").is_dir() else []
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        # Packages of another interpreter do not run in a runtime's.
        if entry and not re.search(r"(?:site|dist)-packages", entry):
            found.append(Path(entry).resolve())
    return list(dict.fromkeys(found))


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

        def ended() -> None:
            initial.with_name("initial.npz.none").touch()  # the target must not wait for ever

        total = devices * options.workers
        place = places.choose(total, (reference[0], target[0]), options.run_on, options.workers)
        if options.workers > 1 and devices > 1 and place.kind == places.CPUS:
            raise places.NoGpus(
                f"{devices} devices for each of {options.workers} workers take real GPUs "
                f"({place.text}): without them a worker has one; give more workers"
            )
        old = options.old_devices(devices)
        first = _Group("reference", *reference, old, options.old, folder, work, initial, place)
        first.then(ended)
        second = _Group("target", *target, devices, options, folder, work, initial, place)
        steps = Steps(options.progress, devices, folder)
        if place.kind == places.CPUS:
            run_all([*first.processes, *second.processes], steps.show)
        else:
            run_all(first.processes, steps.show)
            run_all(second.processes, steps.show)
        steps.clear()
    return first.collect(), second.collect()


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
        group = _Group(name, runtime, program, devices, options, folder, Path(work), values, place)
        run_all(group.processes)
    return group.collect()


class _Group:
    """The processes of one side: one, or several workers."""

    def __init__(
        self,
        side: str,
        runtime: Runtime,
        program: Path,
        devices: int,
        options: Options,
        folder: Path,
        work: Path,
        initial: Path,
        place: Place,
    ) -> None:
        self._side, self._runtime, self._program = side, runtime, program
        self._folder, self._options = folder, options
        count = options.workers
        self._environments = workers.cluster(count) if count > 1 else [{}]
        names = workers.names(side, count)
        ends = [str(folder / f"{name}.ended") for name in names]
        self.processes = []
        for index, (name, environment) in enumerate(zip(names, self._environments)):
            asked: dict[str, Any] = {}
            if side == "target" or index == 0:  # worker 0's values are those of all
                asked["initial" if side == "target" else "publish"] = str(initial)
            own = place
            if count > 1:
                own = place.part(index, devices)
                asked["ends"] = {"own": ends[index], "all": ends}
            about = name, runtime, program, devices, options, folder, work, asked, own
            self.processes.append(_process(*about, environment))
        self.then(lambda: None)

    def then(self, action: Callable[[], None]) -> None:
        """What happens when all of them have ended."""
        workers.tie(self.processes, action)

    def collect(self) -> Side:
        """What came of them."""
        about = self._folder, self._side, self._program.name, self._runtime.name
        if len(self.processes) == 1:
            return collect(*about, self.processes[0])
        options = self._options
        name = Path(options.module or self._program.name)
        started = workers.commands(name, options.argv, self._environments)
        return workers.gather(*about, self.processes, started)


def run_until_checkpoint(
    runtime: Runtime,
    program: Path,
    devices: int,
    options: Options,
    folder: Path,
    conversion: Mapping[str, Any] | None = None,
) -> Side:
    """Run a program until its variables exist, and give them what a checkpoint has.

    ``conversion`` is what ``probe/convert.py`` is asked for; the new checkpoint is left in
    ``folder / CHECKPOINT``. Without it the program is one of TF1's, and that is the checkpoint that
    its saver writes (``probe/template.py``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    side = "reference" if conversion is None else "target"
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as name:
        place, work = places.ON_CPUS, Path(name)
        watch = {**(conversion or {}), "into": CONVERTED}
        process = _process(side, runtime, program, devices, options, folder, work, watch, place)
        run_all([process])
        # The program may write into its copy alone, and so does what ends it.
        made = Path(process.cwd) / CONVERTED
        if made.is_dir():
            shutil.move(str(made), str(folder / CHECKPOINT))
    return collect(folder, side, program.name, runtime.name, process)


def _process(
    side: str,
    runtime: Runtime,
    program: Path,
    devices: int,
    options: Options,
    folder: Path,
    work: Path,
    asked: Mapping[str, Any],
    place: Place,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """``asked`` is what the probe is asked for; ``environment`` what this process has more."""
    root = options.root_of(program)
    copy = (work / side).resolve() / root.name
    copy_folder(root, copy)
    (copy / ".tmp").mkdir()
    if options.anew is not None and root in (options.anew / "checkpoint").resolve().parents:
        (copy / options.anew.resolve().relative_to(root) / "checkpoint").unlink(missing_ok=True)
    path = []
    for one in search_path(program, root):
        # The folder that the root is a copy of, or the root: what is inside is in the copy.
        tops = [top for top in (options.origin, root) if top and top in (one, *one.parents)]
        path.append(str(copy / one.relative_to(tops[0]) if tops else one))
    out = folder / f"{side}.json"
    watch = folder / f"{side}.options.json"
    chosen: dict[str, Any] = {
        "steps": options.steps,
        "dropout": options.dropout,
        "rounded": options.rounded,
        "isolate": str(copy),
        "hardware": hardware.describe(),
        "place": place.as_data(devices),
    }
    chosen.update(asked)
    watch.write_text(json.dumps(chosen), encoding="utf-8")
    command = [str(runtime.python), str(launch.PROBE / "probe.py"), "--out", str(out)]
    command += ["--watch", str(watch), *place.probe_options(devices)]
    command += ["--module", options.module] if options.module else []
    command += [str(copy / program.resolve().relative_to(root))]
    command += [text.replace("{devices}", str(devices)) for text in options.argv]
    return Process(
        command,
        copy,
        launch.environment(
            {
                "TMPDIR": str(copy / ".tmp"),
                "PYTHONDONTWRITEBYTECODE": "1",
                **({"PYTHONPATH": os.pathsep.join(path)} if path else {}),
                **place.environment(),
                **runtime.environment,
                **(environment or {}),
            }
        ),
        folder / f"{side}.stdout",
        folder / f"{side}.stderr",
        options.limits,
    )


class Steps:
    """How many steps both sides have done, on a terminal, while they run."""

    EVERY_S = 1.0
    MOST_BYTES = 4 * 2**20  # of a trace that is read for its number of steps

    def __init__(self, stream: TextIO | None, devices: int, folder: Path) -> None:
        self._stream = stream if stream is not None and stream.isatty() else None
        self._devices, self._folder = devices, folder
        self._begin = self._shown = time.monotonic()
        self._done = {"reference": 0, "target": 0}

    def show(self) -> None:
        """Write the line anew, once a second."""
        now = time.monotonic()
        if self._stream is None or now - self._shown < self.EVERY_S:
            return
        self._shown = now
        for side in self._done:
            self._done[side] = self._steps(side)
        counts = ", ".join(f"{side} {done}" for side, done in self._done.items())
        devices = f"{self._devices} device{'s' * (self._devices != 1)}"
        line = f"running on {devices}: steps: {counts} ({now - self._begin:.0f} s)"
        self._stream.write(f"\r{line}\x1b[K")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _steps(self, side: str) -> int:
        """Those that the trace had when the probe wrote it last."""
        try:
            # Of several workers, that of the first.
            name = next(iter(parts(self._folder, side)), side)
            path = self._folder / f"{name}.json"
            if path.stat().st_size > self.MOST_BYTES:
                return self._done[side]
            training = json.loads(path.read_text(encoding="utf-8")).get("training") or {}
        except (OSError, ValueError):  # not there yet
            return self._done[side]
        series = training.get("series", ())
        return sum(min((len(one) for one in s["losses"]), default=0) for s in series)


def copied(source: Path) -> tuple[int, int]:
    """How many files of a folder are copied for a run, and their bytes."""
    files = total = 0
    for place, folders, names in os.walk(source):
        left_out = _left_out(place, [*folders, *names])
        folders[:] = [name for name in folders if name not in left_out]
        for name in names:
            with contextlib.suppress(OSError):
                size = os.stat(os.path.join(place, name)).st_size
                if name not in left_out and size <= LINKED_ABOVE:
                    files, total = files + 1, total + size
    return files, total


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What is no part of a program: virtual environments, caches, git's own files."""
    found = set(_NOT_COPIED(folder, names))
    for name in names:
        if any(os.path.exists(os.path.join(folder, name, sign)) for sign in _ENVIRONMENT):
            found.add(name)
    if os.path.realpath(folder) == os.path.realpath(tempfile.gettempdir()):
        # The copies themselves, of a program that lies there: they would hold each other.
        found.update(name for name in names if name.startswith(_WORK))
    return found


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
        ignore=_left_out,
        copy_function=copy_or_link,
        ignore_dangling_symlinks=True,
    )
