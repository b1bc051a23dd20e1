"""What a rewriter is, and the registry that finds them all.

A rewriter is a module in a folder of ``migrate_mgpu.rewriters`` with one object,
``REWRITER``, of a kind: a class derived from ``Rewriter`` in the room that calls it, which
names the folder. Dropping a file in registers it: its code and name then work in
``--select``, ``--ignore``, ``rules`` and ``explain``, its ``CASES`` are its tests and its
documentation.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from migrate_mgpu.core.records import record


@record(frozen=True)
class Rule:
    """One rule's identity: ``code`` (MGPU103), ``name`` (memory-growth), one-line ``summary``."""

    code: str
    name: str
    summary: str


@record(frozen=True)
class Case:
    """An example that is a test: ``before`` becomes ``after``, or stays for a reason.

    ``refused`` is a part of the finding's text. ``name`` titles it in the docs.
    """

    name: str
    before: str
    after: str | None = None
    refused: str | None = None


@record(frozen=True, eq=False)
class Rewriter:
    """What every rewriter says of itself; a kind adds what its room calls.

    ``folder`` of a kind is where the modules of its rewriters are: a run imports those
    folders alone whose kinds it asks for.
    """

    folder = ""

    rule: Rule
    cases: tuple[Case, ...]


Kind = TypeVar("Kind", bound=Rewriter)


class NoRewriter(Exception):
    """A module among the rewriters that nothing would ever call."""


def of(kind: type[Kind]) -> tuple[Kind, ...]:
    """Every rewriter of a kind, by code."""
    return tuple(one for one, _ in _loaded(kind.folder) if isinstance(one, kind))


_ONE: dict[type[Rewriter], Rewriter] = {}


def only(kind: type[Kind]) -> Kind:
    """The rewriter of a kind that has one."""
    found = _ONE.get(kind)
    if not isinstance(found, kind):
        (found,) = of(kind)
        _ONE[kind] = found
    return found


def documented() -> tuple[tuple[Rewriter, str], ...]:
    """Every rewriter with its module's docstring, by code."""
    root = _root()
    folders = sorted({file.parent.relative_to(root).as_posix() for file in root.rglob("*.py")})
    found = [one for folder in folders for one in _loaded("" if folder == "." else folder)]
    return tuple(sorted(found, key=lambda one: one[0].rule.code))


def _root() -> Path:
    (folder,) = importlib.import_module("migrate_mgpu.rewriters").__path__
    return Path(folder)


@cache
def _loaded(folder: str) -> tuple[tuple[Rewriter, str], ...]:
    """The rewriters of a folder with their docstrings, by code."""
    # pkgutil would find the modules as well, and import half of the standard library for it.
    names = sorted(path.stem for path in (_root() / folder).glob("*.py"))
    package = f"migrate_mgpu.rewriters.{folder}".rstrip(".")
    found = [
        (rewriter_of(module, folder), module.__doc__ or "")
        for name in names
        if name != "__init__"
        for module in [importlib.import_module(f"{package}.{name}")]
    ]
    return tuple(sorted(found, key=lambda one: one[0].rule.code))


def rewriter_of(module: ModuleType, folder: str) -> Rewriter:
    """The rewriter that a module of a folder is.

    Raises:
        NoRewriter: it has none, or one of a kind that is looked for in another folder.
    """
    found = vars(module).get("REWRITER")
    if not isinstance(found, Rewriter):
        raise NoRewriter(f"{module.__name__} has no REWRITER")
    kind = type(found)
    if not folder or kind.folder != folder:
        where = f"belongs into {kind.folder}/" if kind.folder else "is of no kind"
        raise NoRewriter(f"{module.__name__}: {kind.__name__} {where}")
    return found
