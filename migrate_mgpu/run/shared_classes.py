"""A class that builds a graph in one module, and several programs that make objects of it.

Each program is planned as if it were alone, with the class's module read as one with its own. What
it wants of the class then are facts (`SharedGraph`); each is planned again with what all of them
want. The class's module must become the same text in all, and every program native, or none is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.taken_names import Taken
from migrate_mgpu.core.findings import FileResult, Finding, ProgramResult, RunResult
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.session.scope import constructor_of, trains
from migrate_mgpu.models.front.session.shared_steps import together
from migrate_mgpu.models.ir import SharedGraph
from migrate_mgpu.run.joined_modules import candidates, joined
from migrate_mgpu.run.merged_classes import home_of
from migrate_mgpu.run.plan import Part
from migrate_mgpu.run.shared_modules import NewText
from migrate_mgpu.run.states import State


@record(frozen=True, eq=False)
class Alone:
    """What becomes of a program that is planned as if it were alone.

    ``wanted`` is what it wants of the class whose graph it builds; ``left`` is what stands in the
    way, where it is not native.
    """

    result: RunResult | None
    wanted: SharedGraph | None = None
    left: Finding | None = None


PlanAlone = Callable[[State, SharedGraph], Alone]


@record(frozen=True, eq=False)
class Sharing:
    """Programs that make objects of one class, ``owner``, of a module."""

    part: Part
    module: Module
    owner: str
    states: tuple[State, ...]

    @property
    def entries(self) -> set[Path]:
        """Where the programs begin."""
        return {state.program.entry.path for state in self.states}

    @cached_property
    def readable(self) -> tuple[State, ...]:
        """The programs whose module with the session can be read as one with another one."""
        return tuple(state for state in self.states if self._may_be_read(state))

    def _may_be_read(self, state: State) -> bool:
        assert state.session is not None
        modules, graph = state.program.modules, self.part.graph
        inside = graph.within(modules)
        home = home_of(state.session.module, inside)
        return any(
            joined(home, one, graph.project, modules) is not None
            for one in candidates(home, inside)
        )


@record(frozen=True, eq=False)
class Agreed:
    """Programs that become native together, with what becomes of all their files."""

    sharing: Sharing
    results: tuple[RunResult, ...]
    files: Mapping[Path, FileResult]

    def merged(self, rest: RunResult, first: RunResult) -> RunResult | None:
        """The whole run; ``rest`` is what becomes of the other programs, ``first`` the plan before.

        None where those change a file of these as well.
        """
        others = {file.path: file for file in rest.files}
        if any(others[path].changed for path in self.files.keys() & others.keys()):
            return None
        for path, file in self.files.items():
            known = others[path].findings if path in others else []
            found = [*file.findings, *(one for one in known if one not in file.findings)]
            found.sort(key=lambda one: one.position)
            others[path] = replaced(file, findings=found)
        entries = self.sharing.entries
        programs: dict[Path, ProgramResult] = {one.entry: one for one in rest.programs}
        for result in self.results:
            programs.update((one.entry, one) for one in result.programs if one.entry in entries)
        sites = dict(rest.sites)
        for result in self.results:
            for state, count in result.sites.items():
                sites[state] = sites.get(state, 0) + count
        # What stands in a file of several of these was counted for each; all of it is applied.
        sites["applied"] -= max(0, sum(sites.values()) - sum(first.sites.values()))
        packages = {one for result in (rest, *self.results) for one in result.packages}
        return replaced(
            first,
            files=sorted(others.values(), key=lambda file: str(file.path)),
            programs=[programs[one.entry] for one in first.programs if one.entry in programs],
            sites=sites,
            packages=sorted(packages),
        )


def sharings(parts: Sequence[Part], native: Set[Path]) -> Iterator[Sharing]:
    """The classes that several programs of sessions make objects of, of which some stay."""
    for part in parts:
        sessions = [state for state in part.states if state.session is not None]
        found: dict[Module, None] = {}
        for state in sessions:
            assert state.session is not None
            if state.program.entry.path not in native:
                inside = part.graph.within(state.program.modules)
                home = home_of(state.session.module, inside)
                if home is not state.program.entry and home is not state.session.module:
                    found[home] = None  # a base of its class makes the session
                found.update((one, None) for one in candidates(home, inside))
        done: set[Path] = set()
        for module in found:
            states = tuple(one for one in sessions if module in one.program.modules)
            owners = list(_owners(module, part.graph))
            made = Sharing(part, module, owners[0], states) if len(owners) == 1 else None
            if made is not None and len(states) > 1 and done.isdisjoint(made.entries):
                done |= made.entries
                yield made


def _owners(module: Module, graph: CallGraph) -> Iterator[str]:
    """The classes of a module that have all of a graph, and train it, or what they inherit does."""
    for one in module.tree.body:
        if isinstance(one, ast.ClassDef) and constructor_of(one) is not None:
            bases = [graph.class_of(module, base) for base in one.bases]
            every = [(module, one), *(base for base in bases if base is not None)]
            if any(trains(home, part) for home, owner in every for part in walk(owner)):
                yield one.name


def agreed(sharing: Sharing, plan: PlanAlone) -> tuple[Agreed | None, list[tuple[State, Finding]]]:
    """Programs that become native together; else what stands in the way, by programs.

    All have to. Where most cannot be read, the others are not planned for what they would say:
    each is a plan of all of its modules.
    """
    if 2 * len(sharing.readable) < len(sharing.states):
        return None, []
    graph = SharedGraph(sharing.owner)
    waiting, tried = list(sharing.readable), len(sharing.readable) + 1
    stays: list[tuple[State, Finding]] = []
    while waiting and len(waiting) < tried:  # one that only computes needs what others train
        tried, stays = len(waiting), []
        for state in list(waiting):
            alone = plan(state, graph)
            known = together([graph, alone.wanted]) if alone.wanted is not None else None
            if known is not None:
                graph = known
                waiting.remove(state)
            elif alone.left is not None:
                stays.append((state, alone.left))
    if waiting or len(sharing.readable) < len(sharing.states):
        return None, stays
    results: list[RunResult] = []
    for state in sharing.states:
        alone = plan(state, graph)
        if alone.result is None:
            return None, [(state, alone.left)] if alone.left is not None else []
        results.append(alone.result)
    files = _same(results)
    if files is None or any(_needed(sharing, file) for file in files.values()):
        return None, []
    return Agreed(sharing, tuple(results), files), []


def _same(results: Sequence[RunResult]) -> dict[Path, FileResult] | None:
    """What becomes of each file, if that is the same in all programs that have it."""
    found: dict[Path, FileResult] = {}
    for result in results:
        for file in result.files:
            known = found.setdefault(file.path, file)
            if file.error is not None or _text(known) != _text(file):
                return None
            if known is not file:
                known.findings += (one for one in file.findings if one not in known.findings)
    return found


def _text(file: FileResult) -> str | None:
    return file.after if file.changed else None


def _needed(sharing: Sharing, file: FileResult) -> bool:
    """Whether another program needs a file as it was."""
    if not file.changed or file.after is None:
        return False
    project = sharing.part.graph.project
    new: NewText | None = None
    judged = {state.program.entry.path for state in sharing.part.states}
    for program in project.programs():
        module = next((one for one in program.modules if one.path == file.path), None)
        if module is None or program.entry.path in sharing.entries:
            continue
        if program.entry.path in judged or module is program.entry:
            return True
        new = new or NewText(module, file.after)
        if new.changed_for(_taken(program, sharing), False) is not None:
            return True
    return False


def _taken(program: Program, sharing: Sharing) -> Taken:
    return Taken(program, sharing.part.graph.project)
