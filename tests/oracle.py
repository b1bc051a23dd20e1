"""The oracle: a TF1 program on real TensorFlow 1.15.5, and its migrated form beside it.

    python tests/oracle.py [fixtures/config/allow_growth ...] [--record]

A case is a folder with ``before.py`` (TF1) and ``after.py`` (migrated), or, for a program
of several modules, with folders ``before/`` and ``after/`` that each hold a ``main.py``.
``before.py`` runs on 1.15.5, ``after.py`` on TensorFlow 2.15 and on the newest, all on a
machine with four fake GPUs; the effective device configurations and the printed results
must be equal.

``--record`` writes what ``before.py`` did to ``reference.json``, which stands in where
there is no Python 3.7. ``parity.toml`` in the case's folder says what the tool makes of the
program (``tests/test_fixtures.py`` asserts it) and how to run it:

    state = "bridge"               # or "native", "bridge, config kept", "refused" (no after.py)
    reason = "contrib"             # a part of a finding that says why, where there is one
    argv = ["--steps", "2"]
    gpus = 2                       # fake GPUs
    gpu_memory_mib = [16384, 8192] # their total memory
    targets = ["tf2-latest"]
    expect_failure = "InvalidArgumentError"  # both sides must end with this exception
    reference = false              # before.py cannot run on 1.15; [expected] is its configuration
    [states]                       # of the other programs of a folder
    "evaluate.py" = "refused"
    [expected]                     # settings that are not at their defaults
    memory_growth = true
    [accept]                       # settings that may differ, with the reason
    memory_growth = "a limit and growth exclude each other in TF2"

Exit status: 0 equal, 1 not equal, 2 usage, 8 not compared.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from migrate_mgpu import runtimes
from migrate_mgpu.parity.compare import configuration, printed
from migrate_mgpu.parity.compare.configuration import Difference
from migrate_mgpu.parity.runs import launch
from migrate_mgpu.runtimes import Runtime

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.support import servers

REFERENCE = "tf1.15"
TARGETS = ("tf2.15", "tf2-latest")
RECORD = "reference.json"
MAIN = "main.py"  # of a program of several modules
FIXTURES = Path(__file__).parents[1] / "fixtures"
APART = (
    "estimator",
    "copies",
    "session",
    "towers",
    "workers",
)  # families that `estimator_proofs.py` proves


class NotCompared(Exception):
    """There is nothing to compare with; the message says why."""


@dataclass(frozen=True)
class Case:
    """A program, what it is migrated to, and how to run and compare the two."""

    before: Path
    after: Path
    state: str = "bridge"
    reason: str = ""
    states: Mapping[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    gpus: int = 4
    gpu_memory_mib: tuple[int, ...] = (16384, 8192, 16384, 8192)
    targets: tuple[str, ...] = TARGETS
    accept: Mapping[str, str] = field(default_factory=dict)
    expect_failure: str | None = None
    reference: bool = True
    expected: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_folder(self) -> bool:
        return self.before.name == MAIN

    @property
    def record(self) -> Path:
        return (self.before.parent.parent if self.is_folder else self.before.parent) / RECORD


def load(folder: Path) -> Case:
    """The case in a folder.

    Raises:
      NotCompared: no such case, or an unknown entry in its ``parity.toml``.
    """
    before, after = folder / "before.py", folder / "after.py"
    if (folder / "before").is_dir():
        before, after = folder / "before" / MAIN, folder / "after" / MAIN
    if not before.is_file():
        raise NotCompared(f"{folder}: no before.py")
    options: dict[str, Any] = {}
    if (folder / "parity.toml").is_file():
        options = tomllib.loads((folder / "parity.toml").read_text(encoding="utf-8"))
    for name in ("argv", "gpu_memory_mib", "targets"):
        if name in options:
            options[name] = tuple(options[name])
    try:
        return Case(before, after, **options)
    except TypeError as error:
        raise NotCompared(f"{folder / 'parity.toml'}: {error}") from error


def folders() -> list[Path]:
    """The folders of all fixtures."""
    found = (path.parent for path in FIXTURES.glob("*/*/parity.toml"))
    return sorted(folder for folder in found if folder.parent.name not in APART)


def run_all(runtime: Runtime, cases: Sequence[Case], which: str) -> list[launch.Run]:
    """Run ``before`` or ``after`` of all cases, each in its own copy of its folder."""
    with contextlib.ExitStack() as stack:
        jobs = []
        for case in cases:
            folder = stack.enter_context(_copy(getattr(case, which).parent))
            program = folder / getattr(case, which).name
            jobs.append(
                launch.Job(program, case.argv, folder, case.gpus, case.gpu_memory_mib[: case.gpus])
            )
        runs = servers.run_many(runtime, jobs)
        return [
            replace(run, stdout=run.stdout.replace(str(job.cwd), "<folder>"))
            for run, job in zip(runs, jobs)
        ]


@contextlib.contextmanager
def _copy(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="oracle-") as name:
        copy = Path(name).resolve() / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        yield copy


def references(cases: Sequence[Case]) -> list[launch.Run | None]:
    """What each ``before.py`` does: run where TensorFlow 1.15 is, recorded elsewhere.

    None for a case that says what is expected instead (``reference = false``).

    Raises:
      NotCompared: no runtime, and a record that is missing or of another ``before.py``.
    """
    try:
        runtime = runtimes.ensure(REFERENCE)
    except runtimes.RuntimeUnavailable as error:
        return [recorded(case, str(error)) if case.reference else None for case in cases]
    runs = iter(run_all(runtime, [case for case in cases if case.reference], "before"))
    return [next(runs) if case.reference else None for case in cases]


def recorded(case: Case, because: str = "") -> launch.Run:
    """The recorded run of ``before.py``."""
    if not case.record.is_file():
        raise NotCompared(f"{case.record} is missing. {because}")
    data = json.loads(case.record.read_text(encoding="utf-8"))
    if data["key"] != _key(case):
        raise NotCompared(f"{case.record} is not of this before.py; record it anew. {because}")
    return launch.Run(data["trace"], data["stdout"], "", data["status"], 0.0)


def record(case: Case, run: launch.Run) -> None:
    """Write what ``before.py`` did, without the paths of this machine."""
    trace = json.loads(json.dumps(run.trace))
    trace["program"] = Path(trace["program"]).name
    context = trace["context"]
    entries = [*trace["sessions"], *trace["servers"], *context["initialised"], context["exit"]]
    for entry in entries:
        if entry and entry.get("file"):
            entry["file"] = Path(entry["file"]).name
    if trace["exception"]:
        del trace["exception"]["traceback"]
    data = {"key": _key(case), "status": run.status, "stdout": run.stdout, "trace": trace}
    case.record.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _key(case: Case) -> str:
    """Changes with everything that the record depends on."""
    what = json.dumps([case.argv, case.gpus, case.gpu_memory_mib[: case.gpus]]).encode()
    files = sorted(case.before.parent.rglob("*.py")) if case.is_folder else [case.before]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + what).hexdigest()


def compare_runs(case: Case, before: launch.Run | None, after: launch.Run) -> list[Difference]:
    """All differences of two runs, the accepted ones marked."""
    if before is None:
        return configuration.accepted(_compare_expected(case, after), case.accept)
    found = _compare_exits(case, before, after)
    if before.trace and after.trace:
        found += configuration.compare(before.trace, after.trace)
    else:
        found.append(Difference("configuration", bool(before.trace), bool(after.trace), "traces"))
    found += printed.compare(before.stdout, after.stdout)
    return configuration.accepted(found, case.accept)


def _compare_exits(case: Case, before: launch.Run, after: launch.Run) -> list[Difference]:
    """A crash is a difference, on whichever side, unless it is the expected one on both."""
    wanted = case.expect_failure or "0"
    sides = [_exit(before), _exit(after)]
    ends = [run.exception or str(run.status) for run in (before, after)]
    return [] if ends == [wanted, wanted] else [Difference("exit", *sides, f"expected {wanted}")]


def _compare_expected(case: Case, after: launch.Run) -> list[Difference]:
    """What differs from the configuration that ``parity.toml`` expects."""
    wanted = {**configuration.DEFAULTS, "visible_gpus": list(range(case.gpus)), **case.expected}
    limits = wanted["gpu_memory_limit_mib"]
    wanted["gpu_memory_limit_mib"] = {int(gpu): limit for gpu, limit in limits.items()}
    found = [] if after.status == 0 else [Difference("exit", "0", _exit(after))]
    used = configuration.effective(after.trace) if after.trace else []
    if not used:
        found.append(Difference("configuration", "one", "none was recorded"))
    for one in used:
        differences = configuration.compare_settings(wanted, one.settings)
        found += [replace(difference, where=one.where) for difference in differences]
    return found


def _exit(run: launch.Run) -> str:
    if run.status is None:
        return f"timed out after {run.seconds:.0f} s"
    exception = (run.trace or {}).get("exception")
    if exception:
        return f"{exception['type']}: {exception['message'][:200]}"
    return str(run.status)


def check_all(
    cases: Sequence[Case], before: Sequence[launch.Run | None] | None = None
) -> list[dict[str, list[Difference]]]:
    """For each case, its differences by target runtime (an empty list: equal).

    ``before`` is what ``references`` gave, when it is known already.
    """
    results: list[dict[str, list[Difference]]] = [{} for _ in cases]
    before = references(cases) if before is None else before
    for target in sorted({target for case in cases for target in case.targets}):
        chosen = [i for i, case in enumerate(cases) if target in case.targets]
        after = run_all(runtimes.ensure(target), [cases[i] for i in chosen], "after")
        for i, run in zip(chosen, after):
            results[i][target] = compare_runs(cases[i], before[i], run)
    return results


def check(before: Path, after: Path, **options: Any) -> dict[str, list[Difference]]:
    """Compare one pair of programs; ``options`` are those of ``Case``."""
    return check_all([Case(before, after, **options)])[0]


def verdict(name: str, results: Mapping[str, Sequence[Difference]]) -> str:
    """The results of one case as text, a line for each target and each difference."""
    text = []
    for target, differences in results.items():
        open_ = [d for d in differences if d.accepted is None]
        word = "NOT EQUAL" if open_ else "equal, as accepted" if differences else "equal"
        text.append(f"{name:<40} {target:<12} {word}")
        text += [f"    {difference}" for difference in differences]
    return "\n".join(text)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "cases", nargs="*", type=Path, help="folders with a before.py; all fixtures if left out"
    )
    parser.add_argument("--record", action="store_true", help=f"write {RECORD}")
    options = parser.parse_args(argv)
    try:
        chosen = options.cases or [f for f in folders() if load(f).state != "refused"]
        cases = [load(folder) for folder in chosen]
        for case in cases:
            if not case.after.is_file():
                raise NotCompared(f"{case.before}: there is no {case.after.name} to compare with")
        if options.record:
            recordable = [case for case in cases if case.reference]
            runs = run_all(runtimes.ensure(REFERENCE), recordable, "before")
            for case, run in zip(recordable, runs):
                if run.trace is None:
                    raise NotCompared(f"{case.before} recorded nothing:\n{run.stderr[-2000:]}")
                record(case, run)
        results = check_all(cases)
    except (NotCompared, runtimes.RuntimeUnavailable) as error:
        print(error, file=sys.stderr)
        return 8
    for folder, result in zip(chosen, results):
        print(verdict(str(folder), result))
    equal = all(d.accepted for result in results for found in result.values() for d in found)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
