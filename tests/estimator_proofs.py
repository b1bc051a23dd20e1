"""The proof of Estimator and copied-model fixtures: each with its migrated form, on 1, 2 and 4
devices.

    python tests/estimator_proofs.py [fixtures/estimator/dense_classifier ...]

    python tests/estimator_proofs.py --write [...]

The first runs `before.py` on TensorFlow 1.15.5 and `after.py` on 2.15 and the newest through
the parity harness, and writes what came of it to ``proof.json`` beside them, about a minute for
each; the second writes what the tool makes of them to ``after.py``. ``test_estimators.py``
checks that every ``after.py`` is the tool's and every proof of the files as they are. A
program's ``parity.toml`` says how to run it:

    argv = ["--num_gpus", "{devices}"]
    devices = [1, 2, 4]
    targets = ["tf2.15", "tf2-latest"]
    trains = true                  # false: it only predicts and evaluates
    workers = 1                    # with more, the tool's output may have been adapted by hand
    reason = "..."                 # of a program that stays: a part of the finding's text;
                                   # its after.py, if there is one, is what it should become
    state = "bridge"               # of a program whose Estimator TF 2.15 runs
    targets = ["tf2.15"]

    [also]                         # other programs that share its modules, and what they become
    "evaluate.py" = "bridge"

    computes = ["evaluate.py"]     # those of them that train nothing: what they print is compared

    [rtol]                         # larger relative differences, by the output's name
    "evaluate loss" = 1e-2
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate_mgpu.parity.compare.tolerances import Tolerances
from migrate_mgpu.parity.pair import Pair, compare
from migrate_mgpu.parity.runs.programs import Options
from migrate_mgpu.run.migrate import migrate

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).parents[1] / "fixtures" / "estimator"
COPIES = FIXTURES.with_name("copies")  # of `multi_gpu_model`
SESSIONS = FIXTURES.with_name("session")
TOWERS = FIXTURES.with_name("towers")
WORKERS = FIXTURES.with_name("workers")  # that train together
REFERENCE = "tf1.15"
TARGETS = ("tf2.15", "tf2-latest")
LIBRARIES = Path(__file__).parent / "support" / "libraries"
PROOF = "proof.json"
MAIN = "main.py"  # of a program of several modules


@dataclass(frozen=True)
class Program:
    """A fixture: an Estimator program and what it is migrated to."""

    folder: Path
    argv: tuple[str, ...] = ()
    devices: tuple[int, ...] = (1, 2, 4)
    reason: str = ""
    state: str = "native"
    targets: tuple[str, ...] = TARGETS
    rtol: Mapping[str, float] = field(default_factory=dict)
    workers: int = 1
    trains: bool = True
    also: Mapping[str, str] = field(default_factory=dict)
    computes: tuple[str, ...] = ()
    libraries: bool = False  # it imports what stands in for a library that the runtimes have not

    @property
    def native_sessions(self) -> bool:
        """Whether it is a session's program, which becomes native; others show the bridge."""
        return self.folder.parent in (SESSIONS, TOWERS, WORKERS)

    @property
    def before(self) -> Path:
        return self._side("before")

    @property
    def after(self) -> Path:
        return self._side("after")

    def _side(self, name: str) -> Path:
        folder = self.folder / "before"
        return self.folder / name / MAIN if folder.is_dir() else self.folder / f"{name}.py"

    @property
    def proofs(self) -> dict[str, tuple[str, str]]:
        """Of each entry point on each target: what it is called, which entry and target it is."""
        found = {target: (self.before.name, target) for target in self.targets}
        for name in self.also:
            found.update({f"{name} on {target}": (name, target) for target in self.targets})
        return found

    @property
    def stays(self) -> bool:
        """Whether the tool refuses it."""
        return bool(self.reason)

    @property
    def digest(self) -> str:
        """Of everything that the proof is about."""
        files = sorted(f for f in self.folder.rglob("*") if f.suffix in (".py", ".toml"))
        text = b"".join(file.name.encode() + file.read_bytes() for file in files)
        return hashlib.sha256(text).hexdigest()


def load(folder: Path) -> Program:
    """The fixture in a folder."""
    path = folder / "parity.toml"
    options: dict[str, Any] = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    for name in ("argv", "devices", "targets", "computes"):
        if name in options:
            options[name] = tuple(options[name])
    if folder.parent == SESSIONS:
        options.setdefault("devices", (1,))
    return Program(folder, **options)


def programs(*families: Path) -> list[Program]:
    """Every fixture, or those of some families."""
    found = {
        path.parent
        for family in families or (FIXTURES, COPIES, SESSIONS, TOWERS, WORKERS)
        for path in family.glob("*/before*")
    }
    return [load(folder) for folder in sorted(found)]


def prove(
    program: Program, target: str, devices: Sequence[int], entry: str = ""
) -> list[dict[str, Any]]:
    """What the harness says for each number of devices; ``entry``: of another entry point."""
    pair = Pair(
        program.before.with_name(entry or program.before.name),
        program.after.with_name(entry or program.after.name),
        tuple(devices),
        options=Options(argv=program.argv, workers=program.workers),
        tolerances=Tolerances(named_rtol=program.rtol),
        reference=REFERENCE,
        target=target,
    )
    with _libraries(program):
        results: list[dict[str, Any]] = compare(pair)["results"]
    return results


@contextmanager
def _libraries(program: Program) -> Iterator[None]:
    """What stands in for libraries can be imported; the tool sees nothing of it."""
    before = os.environ.get("PYTHONPATH")
    if program.libraries:
        os.environ["PYTHONPATH"] = str(LIBRARIES)
    try:
        yield
    finally:
        if program.libraries:
            os.environ.pop("PYTHONPATH")
            if before is not None:
                os.environ["PYTHONPATH"] = before


def summary(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result in short: its verdict, and the largest difference of each output of a rung."""
    largest: dict[str, float] = {}
    for rung in result["rungs"]:
        for output in rung["outputs"]:
            value = output["largest_relative"]
            if isinstance(value, float):
                largest[rung["name"]] = max(value, largest.get(rung["name"], 0.0))
    return {
        "devices": result["devices"],
        "verdict": result["verdict"],
        "reason": result["reason"],
        "steps": result["reference"]["steps"],
        "largest_relative": {name: float(f"{value:.2g}") for name, value in largest.items()},
    }


def modules(main: Path) -> dict[Path, bytes]:
    """The files of a program."""
    files = sorted(main.parent.glob("*.py")) if main.name == MAIN else [main]
    return {file: file.read_bytes() for file in files}


def migrated(program: Program) -> dict[Path, str]:
    """What the tool makes of a program, by the files that it would be written to."""
    before = modules(program.before)
    given = [(str(f), data) for f, data in before.items()]
    result = migrate(given, bridge=True, write=False, native_sessions=program.native_sessions)
    texts = {file: data.decode() for file, data in before.items()}
    for file in result.files:
        if file.error is not None:
            raise ValueError(f"{file.path}: {file.error}")
        if file.after is not None:
            texts[file.path] = file.after
    folder = program.after.parent
    single = program.after.name != MAIN
    return {program.after if single else folder / f.name: t for f, t in texts.items()}


def write(program: Program) -> None:
    """Writes what the tool makes of a program."""
    for file, text in migrated(program).items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--write"]:
        for program in [load(Path(a).resolve()) for a in arguments[1:]] or programs():
            if not program.stays and program.folder.parent != WORKERS:
                write(program)
        return 0
    wanted = [load(Path(a).resolve()) for a in arguments] or programs()
    wrong = 0
    for program in wanted:
        if program.stays:
            continue
        found: dict[str, Any] = {"digest": program.digest, "targets": {}}
        for name, (entry, target) in program.proofs.items():
            other = entry if entry in program.also else ""
            results = [summary(one) for one in prove(program, target, program.devices, other)]
            found["targets"][name] = results
            for one in results:
                wrong += one["verdict"] != "equivalent"
                loss = one["largest_relative"].get("loss curve", "")
                print(
                    f"{program.folder.name} {name} {one['devices']}: "
                    f"{one['verdict']} {one['reason']} {loss}",
                    flush=True,
                )
        text = json.dumps(found, indent=1, sort_keys=True)
        (program.folder / PROOF).write_text(text + "\n", "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
