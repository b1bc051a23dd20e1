"""The kinds of rewriters for the modules of a whole program, bridged or native."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.edit_set import EditSet, Note
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import Rewriter
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit, Source


@record(frozen=True, eq=False)
class BridgeRewriter(Rewriter):
    """A program keeps its graphs and sessions: its modules go on to speak of TF1.

    ``apply`` gives a module's edits, by whether a program starts in it, whether what ``leads``
    all of its programs is another module, and what the configs that moved leave out.
    """

    folder = "programs"

    apply: Callable[[Module, bool, bool, AbstractSet[ast.AST]], list[Edit]]
    leads: Callable[[Module, bool], bool]


@record(eq=False)
class NewNames:
    """Names that TF2 lost, of one module of a bridge, written as what does the same.

    ``nodes`` are the mentions and imports for which there is something; ``names`` those of
    TensorFlow's v1 API that are used instead, ``packages`` what must be installed. ``files`` are
    the texts of new ones, in the module's folder or above it. ``eager``: it works without v1
    behaviour as well, and a native program of a session may have it. ``native`` are those of
    which that is true, where it is not of all.
    """

    edits: list[Edit] = field(default_factory=list)
    nodes: set[ast.AST] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    files: dict[Path, str] = field(default_factory=dict)
    eager: bool = False
    native: NewNames | None = None


@record(frozen=True, eq=False)
class NamesRewriter(Rewriter):
    """What TF2 lost and something else has, in the modules of bridges and of native sessions.

    ``plan`` takes a module and those that import it.
    """

    folder = "programs"

    plan: Callable[[Module, Sequence[Module]], NewNames]


@record(frozen=True, eq=False)
class PythonRewriter(Rewriter):
    """A file that its language keeps from TF2, before anything else is asked of it.

    ``convert`` gives its edits, or raises a ``SourceError`` that says why there are none.
    """

    folder = "programs"

    convert: Callable[[Source], list[Edit]]


@record(eq=False)
class Renamed:
    """The names of a module that are written otherwise, each with a place, and the edits."""

    edits: list[Edit] = field(default_factory=list)
    names: dict[str, ast.AST] = field(default_factory=dict)


@record(frozen=True, eq=False)
class EarlierRewriter(Rewriter):
    """A module that speaks of an earlier TensorFlow than 1.15, as 1.15 has it.

    Everything else is asked of the module that this makes.
    """

    folder = "programs"

    rename: Callable[[Module], Renamed]


def free_name(folder: Path, text: str, *names: str) -> str:
    """The first name by which a folder has no module, or that of this text."""
    for name in names:
        place = folder / f"{name}.py"
        if not place.exists() or place.read_text("utf-8", "replace") == text:
            if not (folder / name).is_dir():
                return name
    return names[-1]


def _nothing(module: Module) -> Iterable[Note]:
    return ()


def _no_edits(module: Module) -> Iterable[CallEdit]:
    return ()


def _unchanged(module: Module) -> EditSet:
    return EditSet()


def _fits(module: Module) -> Iterable[Diagnostic]:
    return ()


@record(frozen=True, eq=False)
class NativeRewriter(Rewriter):
    """A program runs without sessions: calls that do something else there are rewritten.

    ``apply`` gives the edits of a module's calls; ``write`` all others, with a note for each
    call that it ``moved``. ``refuses`` says what keeps the program as it is; ``remarks`` what a
    call does otherwise where a session went away, unless it is one of those.
    """

    folder = "programs"

    apply: Callable[[Module], Iterable[CallEdit]] = _no_edits
    write: Callable[[Module], EditSet] = _unchanged
    refuses: Callable[[Module], Iterable[Diagnostic]] = _fits
    remarks: Callable[[Module], Iterable[Note]] = _nothing
