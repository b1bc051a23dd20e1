"""Requirement files that keep a migrated program on TF1: found and named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from migrate_mgpu.core import findings as f
from migrate_mgpu.output.report import migrated

CODE = "MGPU906"
NAME = "tf1-requirement"

_FILES = re.compile(
    r"(?:.*requirements.*\.(?:txt|in)|setup\.(?:py|cfg)|pyproject\.toml|Pipfile"
    r"|(?:conda|environment).*\.ya?ml)\Z"
)
_FOLDER = "requirements"  # of files of any name that end with .txt or .in
# `tensorflow-gpu==1.15`, `"tensorflow[x]>=1.4,<2"`, `tensorflow = "^1.15"` (Pipfile, Poetry),
# `tensorflow=1.15` (conda).
_REQUIREMENT = re.compile(
    r"""(?<![\w.-])(?P<name>tensorflow(?:[-_](?:gpu|cpu))?)(?:\[[^\]]*\])?["']?
    \s*(?:=\s*(?:\{[^}]*?version\s*=\s*)?["'])?\s*\(?
    (?P<clauses>(?:[=<>~^!]+\s*v?\d[\w.*]*\s*,?\s*)+)""",
    re.VERBOSE,
)
_CLAUSE = re.compile(r"([=<>~^!]+)\s*v?(\d+)((?:\.\d+)*)")


class Place(NamedTuple):
    """One requirement that allows only TF1. Line and column are 1-based."""

    line: int
    column: int
    text: str
    name: str


def add(result: f.RunResult, given: Sequence[str]) -> None:
    """Adds a finding for each requirement beside or above a program that the run migrated."""
    programs = [program for program in result.programs if migrated(program)]
    if not programs:
        return
    tops = {_real(Path(path)) for path in given}
    affected: dict[Path, list[f.ProgramResult]] = {}
    for folder, users in _by_folder(programs).items():
        for place in folders(folder, tops):
            affected.setdefault(place, []).extend(users)
    known = {_real(file.path): file for file in result.files}
    for folder, users in affected.items():
        for path in _files(folder):
            try:
                text = path.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            places = list(outdated(text))
            if places:
                file = known.get(path)
                if file is None:
                    file = f.FileResult(shown(path), text)
                    result.files.append(file)
                file.findings += [_finding(file.path, place, users) for place in places]
    result.files.sort(key=lambda file: str(file.path))


def _by_folder(programs: list[f.ProgramResult]) -> dict[Path, list[f.ProgramResult]]:
    found: dict[Path, list[f.ProgramResult]] = {}
    for program in programs:
        found.setdefault(_real(program.entry).parent, []).append(program)
    return found


def outdated(text: str) -> Iterator[Place]:
    """The requirements of a file that allow only TF1."""
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("#", 1)[0]
        for found in _REQUIREMENT.finditer(code):
            if _only_tf1(found["clauses"]) and "mgpu: ignore" not in line:
                start = found.start("name")
                shown = code[start : found.end()].strip().rstrip(",").strip()
                yield Place(number, start + 1, shown, found["name"])


def _only_tf1(clauses: str) -> bool:
    for operator, major, rest in _CLAUSE.findall(clauses):
        number = int(major)
        if operator in ("=", "==", "===", "~=", "^", "~", "<=") and number < 2:
            return True
        if operator == "<" and (number < 2 or (number == 2 and not rest.strip(".0"))):
            return True
    return False


def folders(folder: Path, tops: set[Path]) -> list[Path]:
    """A folder and those above, up to the repository's root.

    Without a repository, up to the folder that the run was given.
    """
    chain = [folder, *folder.parents]
    last = next((i for i, place in enumerate(chain) if (place / ".git").exists()), None)
    if last is None:
        last = max((i for i, place in enumerate(chain) if place in tops), default=0)
    return chain[: last + 1]


def _files(folder: Path) -> list[Path]:
    """The requirement files that lie in a folder, or in its folder of them."""
    members = _names(folder)
    names = [name for name in members if _FILES.match(name)]
    if _FOLDER in members:
        inner = [name for name in _names(folder / _FOLDER) if name.endswith((".txt", ".in"))]
        names += [f"{_FOLDER}/{name}" for name in inner]
    return [folder / name for name in sorted(names) if (folder / name).is_file()]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # a folder may hold thousands, too many for a Path each
    except OSError:
        return []


def _finding(path: Path, place: Place, users: list[f.ProgramResult]) -> f.Finding:
    only_2_15 = any("newest" not in user.runs_on for user in users)
    wanted = "tensorflow==2.15.*" if only_2_15 else "tensorflow>=2.15"
    advice = f"write `{wanted}`"
    if place.name != "tensorflow":
        advice += f": `{place.name}` is no longer published, `tensorflow` uses GPUs as well"
    entries = sorted({user.entry.name for user in users})
    whom = entries[0] if len(entries) == 1 else f"{len(entries)} migrated programs"
    return f.Finding(
        path, place.line, place.column, CODE, f.MANUAL,
        f"`{place.text}` keeps {whom} on TF1", advice,
    )  # fmt: skip


def _real(path: Path) -> Path:
    """As `Path.resolve`, which raises for a link that leads to itself."""
    return Path(os.path.realpath(path))


def shown(path: Path) -> Path:
    """A path as people write it: from the working directory where it is below that."""
    try:
        return path.relative_to(Path.cwd().resolve())
    except ValueError:
        return path
