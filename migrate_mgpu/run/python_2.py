"""Programs of Python 2: converted first, planned as what they became, told where they were."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from migrate_mgpu.analysis.incompatibilities import (
    PYTHON_2,
    PYTHON_2_FUNCTIONS,
    PYTHON_2_MODULES,
    PYTHON_2_NAMES,
    python_2_names,
)
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.core.findings import APPLIED, FileResult, Finding, RunResult
from migrate_mgpu.core.prefilter import imported_words, names_framework, once_a_run
from migrate_mgpu.core.records import field, record, replaced
from migrate_mgpu.core.registry import only
from migrate_mgpu.core.selection import Selection
from migrate_mgpu.core.states import BRIDGE, KEPT, NATIVE
from migrate_mgpu.session_config.program_rewriter import PythonRewriter
from migrate_mgpu.source import notebook
from migrate_mgpu.source.history import before, place
from migrate_mgpu.source.source import Edit, Source, SourceError, decode, splice
from migrate_mgpu.source.suppressions import file_suppressed

_FEW = 2  # times as long as the converted programs are all others, to plan those first

Contents = Sequence[tuple[str, bytes]]
Plan = Callable[[Project], RunResult]


# Where a file may be of Python 2; whether it is, its syntax and names say.
_NAMES = "|".join(sorted(PYTHON_2_NAMES | PYTHON_2_MODULES))
_FUNCTIONS = "|".join(sorted(PYTHON_2_FUNCTIONS))
_MAY_BE = re.compile(
    rb"(?:^|[;:])[ \t]*(?:print|exec)[ \t]*(?:>>|[ \t][^\s(=])|^[ \t]*except\b[^:\n]*,[^:\n]*:"
    rb"|^[ \t]*raise[ \t][^(\n]*,|\b(?:" + _NAMES.encode() + rb")\b"
    rb"|(?<![\w.])(?:" + _FUNCTIONS.encode() + rb")\("
    rb"|^[ \t]*\w+[ \t]*=[ \t]*(?:filter|map|zip)\("
    rb"|\bdef[ \t]+\w+[ \t]*\((?:[^()\n]*,)?[ \t]*\("
    rb"|\blambda[ \t]*(?:[^:()\n]*,[ \t]*)?\([^()\n]*\)[ \t]*[:,]"
    rb"|^[ \t]+def[ \t]+next[ \t]*\([ \t]*self[ \t]*\)"
    rb"|<>|(?<![\w.-])(?:0[0-7]{2,}|\d+L)(?![\w.-])",
    re.MULTILINE,
)


@once_a_run
def _may_be(data: bytes) -> bool:
    return data.startswith(b"{") or _MAY_BE.search(data) is not None  # a notebook's lines differ


def has_python_2(contents: Contents, project: Project) -> bool:
    """Whether files of a run are of Python 2: no plan of them as they stand is of use."""
    return any(one.error.python_2 for one in project.unreadable.values()) or any(
        True for _ in _helpers(contents, project)
    )


def stays_python_2(project: Project, result: RunResult) -> bool:
    """Whether names of Python 2 keep a program of a planned run from TF2, or stay in one."""
    reasons = (reason for program in result.programs for reason in program.reasons)
    if any(reason.key == PYTHON_2 for reason in reasons):
        return True
    native = {
        path for program in result.programs if program.state == NATIVE for path in program.paths
    }
    of_native = [m for m in project.modules.values() if m.path in native]
    return any(python_2_names(m) for m in of_native)


def converted(
    contents: Contents, project: Project, rules: Selection, plan: Plan
) -> tuple[RunResult, Project]:
    """The plan of a run with its programs of Python 2 converted, and its files as they are written.

    A file is converted for a program that is migrated with it.
    """
    rule = only(PythonRewriter).rule
    run = Conversion(contents, project, rules.enabled(rule.code, rule.name))
    project = run.convert(project)
    if not run.files and not run.helpers:
        planned = plan(project), project
        return _with_reasons(planned, {path: str(error) for path, error in run.failed.items()})
    dropped: dict[Path, str] = {path: str(error) for path, error in run.failed.items()}
    alone = run.alone(project)
    if alone is not None:
        result = plan(alone)
        planned_alone = {path for program in result.programs for path in program.paths}
        if run.drop(result, dropped, run.files.keys() - planned_alone):
            project = run.project()
    while True:
        result = plan(project)
        if not run.drop(result, dropped):
            run.relocate(result, project)
            break
        project = run.project()
    return _with_reasons((result, project), dropped)


def _with_reasons(
    planned: tuple[RunResult, Project], why: dict[Path, str]
) -> tuple[RunResult, Project]:
    """With the reason at each file that stays Python 2."""
    for file in planned[0].files:
        if file.error and file.path in why:
            file.error = f"is Python 2 and is not converted: {why[file.path]}"
    return planned


def _helpers(contents: Contents, project: Project) -> Iterator[Path]:
    """Files of Python 2 that a module imports, and that have nothing to do with TensorFlow."""
    if not project.data:
        return
    words = {word for _, data in contents for word in imported_words(data)}
    known = {*project.data, *(one.path for one in project.unreadable.values())}
    for given, data in contents:
        if not given.endswith(".py") or names_framework(data):
            continue
        path = Path(given)
        if _stem(path) in words and path not in known and _may_be(data):
            try:
                source = decode(path, data)
                if python_2_names(Module(path, source, "")):
                    yield path
            except SourceError as error:
                if error.python_2:
                    yield path


def _between(contents: Contents, project: Project, helpers: Iterable[Path]) -> Iterator[Path]:
    """Files of either Python, without TensorFlow, that may lead from a module to such helpers."""
    known = {*project.data, *helpers}
    words = {
        Path(given): imported_words(data)
        for given, data in contents
        if given.endswith(".py") and Path(given) not in known
    }
    stems = {_stem(path) for path in helpers}
    while stems:
        new = [path for path, imported in words.items() if not imported.isdisjoint(stems)]
        yield from new
        stems = {_stem(path) for path in new}
        for path in new:
            del words[path]


def _stem(path: Path) -> bytes:
    """The last part of the name by which a file is imported."""
    return (path.parent.name if path.name == "__init__.py" else path.stem).encode()


def _imported(project: Project) -> set[Path]:
    """The files that other files of the run import, whether they can be parsed or not."""
    found = {one.path for module in project.modules.values() for one in module.imported}
    return found | {one.path for program in project.programs() for one in program.broken}


def _in_cell(path: Path, data: bytes, error: SourceError) -> SourceError:
    """What is wrong in a notebook, with the place in its cells."""
    if path.suffix != ".ipynb" or error.line <= 1:
        return error
    cell, line = notebook.read(path, data).place_in_cell(error.line)
    return SourceError(f"cell {cell}, line {line}, {error}", 0)


@record()
class _Converted:
    source: Source
    edits: list[Edit]
    data: bytes


@record()
class Conversion:
    given: Contents
    before: Project
    enabled: bool
    helpers: set[Path] = field(default_factory=set)  # without TensorFlow, and what leads there
    files: dict[Path, _Converted] = field(default_factory=dict)
    failed: dict[Path, SourceError] = field(default_factory=dict)
    tried: set[Path] = field(default_factory=set)

    def contents(self) -> Contents:
        """The run's files, with the text of those that are converted."""
        return [
            (path, self.files[Path(path)].data if Path(path) in self.files else data)
            for path, data in self.given
        ]

    def project(self) -> Project:
        return Project(self.contents(), self.files.keys() | self.helpers, self.before)

    def convert(self, project: Project) -> Project:
        """Converts what can be, and what is only found behind it; gives the files as they are."""
        given = {Path(path): data for path, data in self.given}
        while True:
            broken = [one.path for one in project.unreadable.values() if one.error.python_2]
            modules = project.modules.values()
            named = [m.path for m in modules if python_2_names(m)]
            helpers = set(_helpers(self.given, project))
            self.helpers |= helpers.union(_between(self.given, project, self.helpers | helpers))
            waiting = [path for path in (*broken, *named, *helpers) if path in given]
            new = [path for path in waiting if path not in self.tried]
            for path in new:
                self.tried.add(path)
                if self.enabled:
                    self.convert_file(path, given[path])
            if not new:
                while unused := self.helpers - _imported(project):
                    self.helpers -= unused
                    project = self.project()
                return project
            project = self.project()

    def convert_file(self, path: Path, data: bytes) -> None:
        read = notebook.read if path.suffix == ".ipynb" else decode
        try:
            source = read(path, data)
            if file_suppressed(source):
                raise SourceError("a comment switches its migration off")
            edits = only(PythonRewriter).convert(source)
            if not edits:
                raise SourceError("has nothing that can be converted")
            self.files[path] = _Converted(source, edits, source.encode(source.apply(edits)))
        except SourceError as error:
            self.failed[path] = _in_cell(path, data, error)

    def alone(self, project: Project) -> Project | None:
        """The programs that files were converted for, where they are few beside the others.

        One that stays if it is planned alone stays among others, too, which take longer to plan.
        A file that is a program among others only (a test of theirs) is looked at there.
        """
        paths = {
            module.path: None
            for program in project.programs()
            if any(module.path in self.files for module in program.modules)
            for module in program.modules
        }
        alone = project.again([(str(path), project.data[path]) for path in paths])
        return alone if alone.length * _FEW < project.length else None

    def drop(self, result: RunResult, dropped: dict[Path, str], kept: Iterable[Path] = ()) -> bool:
        """Leaves files as they are whose programs all stay, and says why; whether there are any.

        Those that are ``kept`` may be needed.
        """
        used = {
            path
            for program in result.programs
            if program.state in (NATIVE, BRIDGE, KEPT)
            for path in program.paths
        }
        used.update(kept)
        dropped.update(self.unused(result, used))
        count = len(self.files)
        self.files = {path: file for path, file in self.files.items() if path in used}
        return len(self.files) < count

    def unused(self, result: RunResult, used: Iterable[Path]) -> dict[Path, str]:
        """Why files are not converted: what keeps their programs from TF2."""
        found: dict[Path, str] = {}
        for path in sorted(self.files.keys() - set(used)):
            programs = [one for one in result.programs if path in one.paths]
            reasons = [self._before(why) for one in programs for why in one.reasons]
            found[path] = "no program that is migrated needs it"
            if reasons:
                why = reasons[0]
                found[path] = f"its program stays ({why.path.name}:{why.line}: {why.message})"
        return found

    def relocate(self, result: RunResult, project: Project) -> None:
        """Findings, texts and bytes of the files as they were before."""
        rule = only(PythonRewriter).rule
        there = {file.path for file in result.files}
        result.files += (FileResult(path) for path in self.files if path not in there)
        result.files.sort(key=lambda file: str(file.path))
        for file in result.files:
            one = self.files.get(file.path)
            if one is None:
                continue
            file.before = one.source.file_text
            if file.after is None and file.error is None:
                file.after = one.source.apply(one.edits)
            # A changed line is one place: what was found twice in it is told once.
            file.findings = list(dict.fromkeys(map(self._before, file.findings)))
            if file.changed:
                cell, line, column = place(one.source, min(edit.start for edit in one.edits))
                text = rule.summary
                found = Finding(file.path, line, column, rule.code, APPLIED, text, cell=cell)
                file.findings.append(found)
            file.findings.sort(key=lambda found: found.position)
        for index, program in enumerate(result.programs):
            reasons = tuple(map(self._before, program.reasons))
            result.programs[index] = replaced(program, reasons=reasons)
        project.data.update(
            (Path(path), data) for path, data in self.given if Path(path) in self.files
        )

    def _before(self, found: Finding) -> Finding:
        """A finding at the place where its file has it."""
        one = self.files.get(found.path)
        if one is None:
            return found
        new = Source(found.path, splice(one.source.text, one.edits))
        line = found.line
        if found.cell is not None:
            line = notebook.decode(found.path, one.data).line_of(found.cell, line)
        offset = new.line_starts[line - 1] + found.column - 1
        cell, line, column = place(one.source, before(offset, one.edits)[0])
        return replaced(found, line=line, column=column, cell=cell)
