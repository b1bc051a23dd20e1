"""What came of a program that was run: one side of a comparison."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs.printing import Known
from migrate_mgpu.parity.runs.supervise import Process

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_OUTPUT = 8 * 2**20  # of what a program prints, this much is compared
WORKER = ".worker-"  # before its number, in the names of its files
LAST_LINES = 5  # of stderr, of a program that ended without a traceback


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
    printed: tuple[str, ...] = ()  # what each of several workers printed

    @property
    def workers(self) -> dict[str, Any]:
        """Of several workers: the command that starts each (``commands``), why they did not
        train one model (``apart``), and the variables whose gradients may be of one of them."""
        return (self.trace or {}).get("workers") or {}

    @property
    def printing(self) -> Known:
        """What is known of its output beside the text."""
        told = (self.trace or {}).get("printing") or {}
        built = frozenset(told.get("built", ()))
        return Known(frozenset(told.get("versions", ())), tuple(told.get("folders", ())), built)

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
        advice = _advice(exception["type"], exception["message"])
        few = _TOO_FEW.search(exception["message"]) is not None
        return Crash(failure, file, line, (*lines, failure), True, advice, few)


@dataclass(frozen=True)
class Crash:
    """How a program ended that did not finish.

    Attributes:
      message: the last line of the traceback, or how the process ended.
      file, line: the innermost of the program's own lines that was executed.
      lines: the traceback, of the program's own lines; without one the last lines of stderr.
      crashed: by an exception or a signal; otherwise it left, or was ended at a limit.
      advice: what to do where that can be told.
      too_few_devices: TensorFlow says that the program names a device that it did not have.
    """

    message: str
    file: str | None
    line: int | None
    lines: tuple[str, ...]
    crashed: bool
    advice: str = ""
    too_few_devices: bool = False

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}: " if self.file else ""
        return f"{'crashed' if self.crashed else 'did not finish'}: {place}{self.message}"


# What TensorFlow and Keras say of a device that is not there, and the probe of a strategy's.
_TOO_FEW = re.compile(
    r"devices to be available|Could not satisfy (?:explicit )?device specification"
    r"|was explicitly assigned to \S+ but available devices are"
    r"|'visible_device_list' listed an invalid GPU id|/device:\w+:\d+ unknown device"
    r"|the strategy names \S+, and --devices gives the program"
)
# Packages that are imported by another name than they are installed by.
_PACKAGES = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


# What TF2's `assert_existing_objects_matched` says, and a saver that finds a name missing.
_OTHERS_CHECKPOINT = re.compile(
    r"attributes which were not restored|Key \S+ not found in checkpoint"
)


def _advice(kind: str, message: str) -> str:
    """What to do about an exception that comes from how a program is run here."""
    missing = re.search(r"No module named '([\w.]+)'", message)
    if missing and kind in ("ModuleNotFoundError", "ImportError"):
        if missing[1].startswith("tensorflow.compat.v1.keras"):
            return (
                f"TF1's Keras is there beside tf-keras only: --with '{runtimes.LEGACY_KERAS}', "
                f"with {runtimes.TAKES_LEGACY_KERAS}=1 in the environment"
            )
        name = missing[1].partition(".")[0]
        package = _PACKAGES.get(name, name)
        return (
            f"if `{name}` is a package, add it: --with {package}; if it is a module of your "
            "project, name the project's folder: --root FOLDER (or set PYTHONPATH)"
        )
    if _TOO_FEW.search(message):
        return "the program names more devices than it had here: give as many, by --devices N"
    if _OTHERS_CHECKPOINT.search(message):
        return (
            "the checkpoint that it restores is another program's: TF1's becomes its own by "
            "`migrate-mgpu checkpoint`"
        )
    if kind in ("FileNotFoundError", "NotFoundError"):
        return (
            "programs run in a copy of their own folder; --root FOLDER copies more, and starts "
            "them there"
        )
    return ""


def _frame(file: str, line: int, function: str, source: str) -> list[str]:
    return [f'File "{file}", line {line}, in {function}', f"  {source}"]


def _said(message: str) -> str:
    """An exception's message in one line: TensorFlow's run over pages of its own code.

    What went wrong stands first, or last where a function was traced ("in user code:") or run
    ("Graph execution error:"): there above the nodes, or as the first of several errors.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
    if not lines[0].endswith(":"):
        return lines[0]
    root = next((line for line in lines if line.startswith("(0) ")), None)
    told = [line for line in lines[1:] if not line.startswith("[[")]
    return " ... ".join([lines[0], *([root] if root else told[-1:])])


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
        printed=tuple(text(f"{name}.stdout") for name in parts(folder, side)),
    )


def parts(folder: Path, side: str) -> list[str]:
    """What the files of a side's workers are called; none of one process."""
    found = folder.glob(f"{side}{WORKER}*.stdout")
    return [f"{side}{WORKER}{n}" for n in range(len(list(found)))]


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
        "workers": side.workers.get("commands", []),
    }


def _place(trace: Mapping[str, Any]) -> dict[str, Any] | None:
    place = trace.get("place")
    return {name: place[name] for name in ("gpus", "kind", "text")} if place else None


def _steps(series: Mapping[str, Sequence[Sequence[float]]]) -> int:
    return min((len(losses) for losses in series["losses"]), default=0)
