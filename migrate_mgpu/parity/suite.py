"""``migrate-mgpu parity --all FOLDER``: every pair of a folder, one summary.

A pair is a folder with ``before.py`` and ``after.py``, or with folders ``before/`` and
``after/`` that each have a ``main.py``. ``parity.toml`` beside them says how to run it, and may
name other programs. Without a new program the old one is migrated in a copy. Where no folder is
a pair, each program in FOLDER is migrated in a copy and compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from migrate_mgpu.parity import pair
from migrate_mgpu.parity.compare import outcome
from migrate_mgpu.parity.pair import Migrate, NotCompared, Pair
from migrate_mgpu.parity.reports import words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAIN = "main.py"  # of a program that has a folder of its own
SETTINGS = "parity.toml"
# Entries of parity.toml, each the option of the same name.
_OPTIONS = (
    *("devices", "steps", "reference", "target", "timeout", "memory", "dropout", "run_on"),
    "workers",
    *("rtol", "atol", "with"),
)
_PROGRAMS = ("before", "after", "argv")
# What this project's own tests say in the same file (tests/oracle.py).
_OF_TESTS = {"state", "reason", "states", "gpus", "gpu_memory_mib", "targets", "expect_failure"}
_OF_TESTS |= {"expected", "accept"}
_NOT_ENTERED = {"recorded", "node_modules", "__pycache__", "venv"}
# The programs of a folder that has no pairs.
Programs = Callable[[Path], Sequence[Path]]
# Makes of it what is compared; may raise NotCompared.
Build = Callable[["Found"], Pair]


@dataclass(frozen=True)
class Found:
    """A pair of a folder.

    Attributes:
      options: what its settings say, as words of the command line.
      problem: why it cannot be compared.
    """

    name: str
    before: Path
    after: Path | None = None
    argv: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    problem: str = ""


def find(folder: Path, programs: Programs | None = None) -> list[Found]:
    """The pairs of a folder, in the order of their names."""
    found = [_pair(place, folder) for place in _folders(folder)]
    if not found and programs is not None:
        for program in programs(folder):
            found.append(Found(program.relative_to(folder).as_posix(), program))
    return sorted(found, key=lambda one: one.name)


def _folders(folder: Path) -> Iterator[Path]:
    """Those that are pairs; what lies in one is its own."""
    if any((folder / name).is_file() for name in (SETTINGS, "before.py")) or (
        (folder / "before" / MAIN).is_file()
    ):
        yield folder
        return
    for place in sorted(folder.iterdir()):
        hidden = place.name.startswith(".") or place.name in _NOT_ENTERED
        if place.is_dir() and not place.is_symlink() and not hidden:
            yield from _folders(place)


def _pair(place: Path, folder: Path) -> Found:
    name = place.relative_to(folder).as_posix()
    name = place.resolve().name if name == "." else name
    entries: dict[str, Any] = {}
    try:
        if (place / SETTINGS).is_file():
            entries = tomllib.loads((place / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return Found(name, place / "before.py", problem=f"{SETTINGS}: {error}")
    whole = (place / "before" / MAIN).is_file()
    before = place / entries.get("before", f"before/{MAIN}" if whole else "before.py")
    after: Path | None = place / entries.get("after", f"after/{MAIN}" if whole else "after.py")
    problem = ""
    if not before.is_file():
        problem = f"no {before.relative_to(place)}"
    if after is not None and not after.is_file():
        problem = problem or (f"no {entries['after']}" if "after" in entries else "")
        after = None
    if entries.get("reference") is False:  # of the oracle: the old program runs nowhere
        return Found(name, before, after, problem=f"{SETTINGS}: reference = false")
    unknown = sorted(set(entries) - set(_OPTIONS) - set(_PROGRAMS) - _OF_TESTS)
    if unknown:
        problem = f"{SETTINGS}: unknown entry {', '.join(unknown)}"
    options = tuple(
        word for key in _OPTIONS if key in entries for word in _words(key, entries[key])
    )
    argv = tuple(str(word) for word in entries.get("argv", ()))
    return Found(name, before, after, argv, options, problem)


def _words(key: str, value: Any) -> list[str]:
    """An entry as the command line has it: a list by commas, a table as NAME=VALUE."""
    option = "--" + key.replace("_", "-")
    if isinstance(value, dict):
        return [f"{option}={name}={number}" for name, number in value.items()]
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return [f"{option}={text}"]


def compare(
    found: Sequence[Found],
    build: Build,
    migrate: Migrate | None,
    record: bool,
    stdout: TextIO | None,
    progress: TextIO | None = None,
) -> list[dict[str, Any]]:
    """Compare all; one that cannot be compared does not stop the others.

    Args:
      stdout: for a line on each pair when it is done; None for none.
      progress: is told which runtimes are made.
    """
    results = []
    for one in found:
        begin = time.monotonic()
        wanted = Pair(one.before, one.after, name=one.name)
        try:
            if one.problem:
                raise NotCompared(one.problem)
            wanted = build(one)
            result = pair.compare(wanted, migrate, record, progress=progress)
        except NotCompared as error:
            result = pair.failed(wanted, str(error))
        results.append(result)
        if stdout is not None:
            _write(result, time.monotonic() - begin, stdout)
    return results


_MARKS = {outcome.EQUIVALENT: "=", outcome.NOT_EQUIVALENT: "X"}


def _write(result: dict[str, Any], seconds: float, stdout: TextIO) -> None:
    verdict = words.verdict(result)
    devices = ", ".join(f"{words.devices(one)} {one['verdict']}" for one in result["results"])
    text = devices or f"not compared: {result['failure']}"
    name = words.visible(words.pair(result))
    print(
        f"{_MARKS.get(verdict, '-')} {name}: {words.visible(text)} ({seconds:.0f} s)", file=stdout
    )
    for one in result["results"]:
        if one["verdict"] == outcome.EQUIVALENT:
            continue
        print(f"    {words.devices(one)}: {words.visible(one['reason'])}", file=stdout)
        for line in words.diagnosis(one)[:1]:
            print(f"    {words.visible(line)}", file=stdout)
    if result["comparison"] is not None and verdict != outcome.EQUIVALENT:
        print(f"    more: migrate-mgpu parity show {result['comparison']}", file=stdout)
    stdout.flush()
