"""Run both programs of a comparison, each in a copy of its folder."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate_mgpu.parity.runs import devices as places
from migrate_mgpu.parity.runs import hardware, launch
from migrate_mgpu.parity.runs.devices import Place
from migrate_mgpu.parity.runs.supervise import Limits, Process, run_all
from migrate_mgpu.runtimes import Runtime

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_NOT_COPIED = shutil.ignore_patterns(
    ".git", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache", ".ruff_cache"
)
MOST_OUTPUT = 8 * 2**20  # of what a program prints, this much is compared
LAST_LINES = 5  # of stderr, of a program that ended without a traceback
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


@dataclass
class Side:
    """What came of one program.

    Attributes:
      trace: the probe's, or None when it saw nothing; arrays lie in ``arrays``.
      ended: how the process ended, see ``supervise``.
    """

    program: str
    runtime: str
    trace: dict[str, Any] | None
    arrays: Path | None
    stdout: str
    stderr: str
    ended: str
    status: int | None
    seconds: float
    recorded: bool = False

    @property
    def training(self) -> Mapping[str, Any]:
        return (self.trace or {}).get("training") or {}

    def load_arrays(self) -> dict[str, Array]:
        """The recorded arrays by their keys, see docs/parity.md."""
        if self.arrays is None:
            return {}
        import numpy

        with numpy.load(self.arrays) as stored:
            return {name: stored[name] for name in stored.files}

    @property
    def failure(self) -> str | None:
        """Why the program did not finish, in a line; None when it did."""
        trace = self.trace or {}
        if self.training.get("stopped"):
            return None
        exception = trace.get("exception")
        if exception:
            return f"{exception['type']}: {_said(exception['message'])[:300]}"
        if self.ended != "exit 0":
            return self.ended
        if self.trace is None or trace.get("status") is None:
            return f"{self.ended} before the end of the program (os._exit?)"
        return None

    @property
    def crash(self) -> Crash | None:
        """Where and why the program did not finish; None when it did."""
        failure = self.failure
        if failure is None:
            return None
        exception = (self.trace or {}).get("exception")
        if not exception:
            said = [line.rstrip() for line in self.stderr.splitlines() if line.strip()]
            raised = self.ended.startswith("signal")
            return Crash(failure, None, None, tuple(said[-LAST_LINES:]), raised)
        frames = exception.get("frames", [])
        lines = [text for frame in frames for text in _frame(*frame)]
        file, line = frames[-1][:2] if frames else (None, None)
        return Crash(failure, file, line, (*lines, failure), True)


@dataclass(frozen=True)
class Crash:
    """How a program ended that did not finish.

    Attributes:
      message: the last line of the traceback, or how the process ended.
      file, line: the innermost of the program's own lines that was executed.
      lines: the traceback, of the program's own lines; without one the last lines of stderr.
      crashed: by an exception or a signal; otherwise it left, or was ended at a limit.
    """

    message: str
    file: str | None
    line: int | None
    lines: tuple[str, ...]
    crashed: bool

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}: " if self.file else ""
        return f"{'crashed' if self.crashed else 'did not finish'}: {place}{self.message}"


def _frame(file: str, line: int, function: str, source: str) -> list[str]:
    return [f'File "{file}", line {line}, in {function}', f"  {source}"]


def _said(message: str) -> str:
    """An exception's message in one line: TensorFlow's run over pages of its own code.

    What went wrong stands first, or last where a function was traced ("in user code:").
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
    return f"{lines[0]} ... {lines[-1]}" if lines[0].endswith(":") and lines[1:] else lines[0]


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


def collect(
    folder: Path, side: str, program: str, runtime: str, process: Process | None = None
) -> Side:
    """A side from what it left in the folder; without the process, from an earlier run."""

    def text(name: str) -> str:
        path = folder / name
        if not path.exists():
            return ""
        with path.open("rb") as stream:
            return stream.read(MOST_OUTPUT).decode("utf-8", errors="replace")

    raw = folder / f"{side}.json"
    trace = json.loads(raw.read_text(encoding="utf-8")) if raw.exists() else None
    arrays = folder / f"{side}.json.npz"
    ended = process.ended if process and process.ended else "exit 0"
    return Side(
        program,
        runtime,
        trace,
        arrays if arrays.exists() else None,
        text(f"{side}.stdout"),
        text(f"{side}.stderr"),
        ended,
        process.status if process else 0,
        process.seconds if process else 0.0,
    )


def summary(side: Side) -> dict[str, Any]:
    """What a result says about a side."""
    trace = side.trace or {}
    training = side.training
    return {
        "program": side.program,
        "runtime": side.runtime,
        "versions": trace.get("versions", {}),
        "hardware": trace.get("hardware"),
        "devices": _place(trace),
        "ended": side.failure or side.ended,
        "crash": asdict(side.crash) if side.crash else None,
        "seconds": round(side.seconds, 3),
        "recorded": side.recorded,
        "steps": [_steps(series) for series in training.get("series", [])],
        "pins": training.get("pins", {}),
        "notes": training.get("notes", []),
    }


def _place(trace: Mapping[str, Any]) -> dict[str, Any] | None:
    place = trace.get("place")
    return {name: place[name] for name in ("gpus", "kind", "text")} if place else None


def _steps(series: Mapping[str, Sequence[Sequence[float]]]) -> int:
    return min((len(losses) for losses in series["losses"]), default=0)
