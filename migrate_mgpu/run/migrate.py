"""One run from bytes to written files."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import FileResult, RunResult
from migrate_mgpu.core.prefilter import forget, has_hit
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.models import NoEstimators
from migrate_mgpu.run.plan import KnownPart, Options, Planned, Plans, joined, shares
from migrate_mgpu.run.processes import CAN_COPY, in_processes
from migrate_mgpu.run.python_2 import converted, has_python_2, stays_python_2
from migrate_mgpu.source.source import SourceError, not_writable
from migrate_mgpu.source.source import write as write_bytes

if TYPE_CHECKING:
    from migrate_mgpu.run.relocation import Files


def migrate(
    contents: list[tuple[str, bytes]],
    bridge: bool,
    write: bool,
    rules: Selection = Selection(),  # noqa: B008 - immutable
    native_sessions: bool = True,
    processes: int = 1,
) -> RunResult:
    """Plans all files together, in so many processes, then writes each in one step.

    Modules are written before those that import them: a helper that no longer
    returns a config is fine for a caller that still passes it on (``None``),
    so a run that is cut short leaves a project that works.
    """
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are all alive until the end: a third of the time saved
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's, of the author's `"\d"` and `x is 0`
            project = Project(contents)
            gc.freeze()  # what is read now stays to the end, too
            run = _Run(Plans(Options(bridge, native_sessions, rules)), processes if CAN_COPY else 1)
            result = None if has_python_2(contents, project) else run.plan(project)
            if result is None or stays_python_2(project, result):
                result, project = converted(contents, project, rules, run.plan)
    finally:
        forget()
        gc.unfreeze()
        if collecting:
            gc.enable()
    result.scanned = len(contents) + len(_new_files(result, project))
    if write:
        write_files(result, project)
    return result


@record(frozen=True)
class _Run:
    """Plans the parts of a run, each by itself; again with other texts only what they concern."""

    plans: Plans
    processes: int
    known: dict[object, tuple[Project, RunResult]] = field(default_factory=dict)

    def plan(self, project: Project) -> RunResult:
        """The plan of a run; several processes plan its parts where there are enough of them."""
        parts = [(part.facts(), part) for part in project.parts()]
        new = [one for one in parts if one[0] not in self.known]
        new.sort(key=lambda one: -one[1].length)
        if self.processes > 1:  # what planning imports is there in each process then
            self._keep(new[-1:], self._planned(new[-1:]))
            del new[-1:]
        shared = shares(new, self.processes)
        for share, results in zip(shared, in_processes(self._planned, shared)):
            self._keep(share, results)
        return joined(project, [self.known[facts][1] for facts, _ in parts])

    def _keep(self, share: Sequence[KnownPart], results: Sequence[RunResult]) -> None:
        for (facts, part), result in zip(share, results):
            self.known[facts] = part, result  # facts are of the part's texts, which have to stay

    def _planned(self, share: Sequence[KnownPart]) -> list[RunResult]:
        found: list[RunResult] = []
        for _, part in share:
            found.append(_Part(part, self.plans).planned())
            self.plans.forget()
            part.forget()
        return found


@record(frozen=True)
class _Part:
    """Plans programs that share modules, with other texts of these as well."""

    part: Project
    plans: Plans

    def planned(self) -> RunResult:
        """The plan, with the names of TensorFlow 1.0 in programs that are older."""
        part = self.part
        files = [(module.path, part.data[module.path]) for module in part.modules.values()]
        if not any(has_hit(data) for _, data in files):  # no program is judged in it
            return self._normalized(files, part)
        from migrate_mgpu.run.earlier_names import with_later_names

        def again(some: Files) -> RunResult:
            return self._normalized(some, part if some is files else part.again(some))

        return with_later_names(files, part, self.plans.options.rules, again)

    def _normalized(self, files: Files, part: Project) -> RunResult:
        """The plan of a part, with its Estimators normalized where that helps, and modules of
        their own where others need them as they are."""

        def again(files: Files) -> Planned:
            return self._with_graph_objects(files, part.again(files))

        planned = self._with_graph_objects(files, part)
        plain = all(isinstance(one.conversions, NoEstimators) for one in planned.parts)
        if plain and not self._stays_with_modules(planned):
            return planned.result
        from migrate_mgpu.run.normalization import normalized
        from migrate_mgpu.run.own_modules import with_own_modules

        if plain:
            return with_own_modules(
                files, planned.result, planned, lambda files: again(files).result
            )

        def convert(files: Files) -> Planned:
            return self.plans.plan(part.again(files))  # names for graphs convert no Estimator

        def with_shared(files: Files) -> RunResult:
            return normalized(files, again(files), again, convert)

        result = normalized(files, planned, again, convert)
        return with_own_modules(files, result, planned, with_shared)

    def _stays_with_modules(self, planned: Planned) -> bool:
        """Whether a session program stays that may need modules of its own."""
        states = [state for one in planned.parts for state in one.states if state.session]
        if not states:
            return False
        from migrate_mgpu.run.kept_towers import has_towers, stays_with_modules

        return any(has_towers(one) or stays_with_modules(one) for one in states)

    def _with_graph_objects(self, files: Files, part: Project) -> Planned:
        """The plan of a part, with graphs that objects have named where that helps."""
        planned = self.plans.plan(part)
        states = (state for one in planned.parts for state in one.states)
        if not any(state.session is not None and state.session.refused for state in states):
            return planned
        from migrate_mgpu.run.named_graphs import with_named_graphs

        return with_named_graphs(
            files, planned, lambda some, shared: self.plans.plan(part.again(some), shared)
        )


def write_files(result: RunResult, project: Project) -> None:
    """Writes what changed; a file that cannot be written keeps its neighbours as they are.

    Files that import each other must fit together: when one of them fails, those
    that import it or are imported by it, and are not written yet, are left alone.
    """
    by_path = {file.path: file for file in result.files}
    changed = [by_path[path] for path in result.order if path in by_path and by_path[path].changed]
    failed: set[Path] = set()
    for file in _new_files(result, project):
        _create(file, changed, failed)
    for file in changed:
        if not file.changed:
            continue
        if reason := not_writable(file.path):
            _fail(file, f"cannot be written: {reason}", failed)
    for file in changed:
        if not file.changed:
            continue
        module = project.modules[os.path.realpath(file.path)]
        neighbours = _neighbours(module, project) if failed else []
        broken = [other for other in neighbours if other.path in failed]
        if broken:
            names = ", ".join(str(other.path) for other in broken)
            _fail(file, f"not written, because {names} could not be", failed)
            continue
        assert file.after is not None
        try:
            new = module.source.encode(file.after)
            write_bytes(file.path, project.data[file.path], new)
        except SourceError as error:
            _fail(file, str(error), failed)
        except OSError as error:
            _fail(file, f"cannot be written: {error.strerror or error}", failed)


def _new_files(result: RunResult, project: Project) -> list[FileResult]:
    """Files that were not there, and have a text now."""
    return [
        file
        for file in result.files
        if file.changed and not file.before and os.path.realpath(file.path) not in project.modules
    ]


def _create(new: FileResult, changed: list[FileResult], failed: set[Path]) -> None:
    """Writes a file that was not there; without it those beside or below it that need it stay."""
    assert new.after is not None
    try:
        with open(new.path, "x", encoding="utf-8") as stream:
            stream.write(new.after)
    except OSError as error:
        _fail(new, f"cannot be written: {error.strerror or error}", failed)
        for file in changed:
            below = new.path.parent in file.path.parents
            needs = below and new.path.stem in (file.after or "")
            if needs:
                _fail(file, f"not written, because {new.path} could not be", failed)


def _neighbours(module: Module, project: Project) -> list[Module]:
    importers = [other for other in project.modules.values() if module in other.imported]
    return [*module.imported, *importers]


def _fail(file: FileResult, message: str, failed: set[Path]) -> None:
    file.error, file.error_line, file.after = message, 0, None
    failed.add(file.path)
