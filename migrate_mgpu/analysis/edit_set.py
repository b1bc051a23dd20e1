"""One change of the run's modules: its edits, and what other stages must know of it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import Rewriter
from migrate_mgpu.source.source import Edit


class Note(NamedTuple):
    """What the owner of a program should know; ``affects`` as findings have it."""

    module: Module
    node: ast.AST
    text: str
    affects: str = ""


@record(eq=False, kw_only=True)
class EditSet:
    """Edits by module, and the names that new code imports there.

    ``gone`` are nodes that are not there any more, ``moved`` those whose text was written
    anew, in TF2's words already: nothing else may edit them. ``notes`` are what its owner
    should know, ``sites`` the places that changed, with the kind
    of their rewriter.
    """

    edits: dict[Module, list[Edit]] = field(default_factory=dict)
    imports: dict[Module, set[str]] = field(default_factory=dict)
    gone: set[ast.AST] = field(default_factory=set)
    moved: set[ast.AST] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    sites: list[tuple[Module, ast.AST, type[Rewriter]]] = field(default_factory=list)

    def edit(self, module: Module, *edits: Edit) -> None:
        """Adds edits; two parts of a program may ask for the same one."""
        own = self.edits.setdefault(module, [])
        for edit in edits:
            if not any(edit.start == one.start and edit == one for one in own):
                own.append(edit)

    def needs(self, module: Module, *names: str) -> None:
        """New code mentions modules, which are imported unless they are already."""
        if names:
            self.imports.setdefault(module, set()).update(names)

    def note(self, module: Module, node: ast.AST, text: str, affects: str = "") -> None:
        one = Note(module, node, text, affects)
        if one not in self.notes:
            self.notes.append(one)

    def merge(self, other: EditSet) -> None:
        """Takes over all of another change."""
        for module, edits in other.edits.items():
            self.edit(module, *edits)
        for module, names in other.imports.items():
            self.needs(module, *names)
        self.gone |= other.gone
        self.moved |= other.moved
        for note in other.notes:
            self.note(*note)
        self.sites += (site for site in other.sites if site not in self.sites)
