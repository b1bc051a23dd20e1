"""A program without the functions that nothing calls, where its modules are read as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.findings import FileResult, Finding, RunResult
from migrate_mgpu.core.records import record
from migrate_mgpu.models.normalize.functions import unread_functions
from migrate_mgpu.run.relocation import Rewritten, moved_back, relocated, rewritten
from migrate_mgpu.source.notebook import Notebook


@record(frozen=True, eq=False)
class Reduced:
    """``home`` without some of its functions."""

    home: Module
    new: Rewritten

    @property
    def data(self) -> bytes:
        """The file as it is planned."""
        return self.new.data

    @property
    def origins(self) -> tuple[Path, ...]:
        """The files that are read as a part of another one."""
        return ()

    def relocated(self, result: RunResult) -> bool:
        """Puts what a plan says of the file where it was before."""
        layers = {self.home.path: [(self.home.source, self.new.edits)]}
        relocated(result, layers, {self.home.path: self.data})
        return True

    def moved(self, finding: Finding) -> Finding:
        """What is said of the text, of the line where it was before."""
        if finding.path != self.home.path:
            return finding
        file = FileResult(finding.path, findings=[finding])
        moved_back(file, [(self.home.source, self.new.edits)], self.data)
        return file.findings[0]


def reduced(modules: Sequence[Module], graph: CallGraph, free: Set[Path]) -> list[Reduced]:
    """The files of a program that have such functions, without them.

    ``modules`` may call them, ``free`` are the files that may change.
    """
    own = {one for one in modules if one.path in free and not isinstance(one.source, Notebook)}
    new = rewritten(unread_functions.normalize(modules, graph, own))
    return [Reduced(module, one) for module, one in new.items()]


def reduced_texts(found: Sequence[Reduced], data: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """The files of a program without such functions."""
    return {**data, **{one.home.path: one.data for one in found}}
