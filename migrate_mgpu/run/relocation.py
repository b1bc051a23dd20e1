"""Runs of which some files were planned with another text: their results, as the files were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import source_of
from migrate_mgpu.core.findings import FileResult, Finding, RunResult
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.source.alignment import aligned
from migrate_mgpu.source.history import History, before, place
from migrate_mgpu.source.notebook import Notebook, decode
from migrate_mgpu.source.source import Edit, Source, SourceError, splice

Files = Sequence[tuple[Path, bytes]]


def relocated(result: RunResult, layers: History, contents: Mapping[Path, bytes]) -> RunResult:
    """The result, of the files as they were; all of some files is what passes wrote."""
    there = {file.path: file for file in result.files}
    result.files += (FileResult(path) for path in layers if path not in there)
    result.files.sort(key=lambda file: str(file.path))
    for file in result.files:
        if file.path in layers:
            moved_back(file, layers[file.path], contents[file.path])
    return result


def moved_back(
    file: FileResult, layers: Sequence[tuple[Source, list[Edit]]], content: bytes
) -> None:
    """What is said of a text, and becomes of it, of the file as it was before some edits."""
    first, (last, edits) = layers[0][0], layers[-1]
    file.before = first.file_text
    changed: Source = Source(file.path, splice(last.text, edits))
    if isinstance(last, Notebook):
        changed = decode(file.path, content)
    if file.after is None and file.error is None:
        file.after = changed.file_text
    for index, found in enumerate(file.findings):
        line = found.line
        if found.cell is not None and isinstance(changed, Notebook):
            line = changed.line_of(found.cell, line)
        offset = changed.line_starts[line - 1] + found.column - 1
        for _, made in reversed(layers):
            offset, _ = before(offset, made)
        cell, line, column = place(first, offset)
        file.findings[index] = replaced(found, line=line, column=column, cell=cell)
    file.findings = list(dict.fromkeys(file.findings))  # two places of it were one


@record(frozen=True, eq=False)
class Rewritten:
    """A file's text with edits, which is parsed already: whoever plans it finds its tree."""

    edits: list[Edit]
    source: Source
    data: bytes


def rewritten(edits: Mapping[Module, list[Edit]]) -> dict[Module, Rewritten]:
    """Files with edits, the lines below aligned as they were.

    None, unless all can be made: in files that may change, to text that Python understands.
    """
    found: dict[Module, Rewritten] = {}
    for module, own in edits.items():
        if not module.writable:
            return {}
        try:
            own = aligned(module.source, own)
            data = module.source.encode(module.source.apply(own))
            source = source_of(module.path, data)
            source.tree  # noqa: B018 - parses now
        except (SourceError, ValueError):  # two edits overlap, or leave their notebook's cell
            return {}
        found[module] = Rewritten(own, source, data)
    return found


def renamed(result: RunResult, named: list[tuple[Finding, Finding]]) -> RunResult:
    """The result with the second finding of each pair in the place of the first.

    A later pair may take the place of what an earlier one brought.
    """
    files = {file.path: file for file in result.files}
    becomes: dict[Finding, Finding] = {}
    for first, real in reversed(named):
        if first.path in files:
            becomes[first] = becomes.get(real, real)
    if not becomes:
        return result
    moved = [(file, one) for file in result.files for one in file.findings if one in becomes]
    for file, first in moved:
        file.findings.remove(first)
        real = becomes[first]
        at = files.get(real.path, file)  # of a file without any there is none
        at.findings.append(real)
    for file in result.files if moved else ():
        file.findings.sort(key=lambda one: one.position)
    for index, program in enumerate(result.programs):
        if not becomes.keys().isdisjoint(program.reasons):
            reasons = tuple(becomes.get(one, one) for one in program.reasons)
            result.programs[index] = replaced(program, reasons=reasons)
    return result
