"""What really stands in the way of an Estimator that was restated and stays all the same."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.core import findings as f
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, Source

Layers = dict[Path, list[tuple[Source, list[Edit]]]]  # the texts of a file, and their edits


@record(frozen=True)
class Obstacle:
    """A refusal in its file as it was: what is told of an Estimator as it stands, or restated."""

    path: Path
    line: int
    column: int
    reason: str
    advice: str
    cell: int | None = None  # of a notebook; the line is then the cell's

    @property
    def told(self) -> str:
        """The refusal as a program's reason has it."""
        where = f"{self.line}" if self.cell is None else f"cell {self.cell}:{self.line}"
        return f"{self.path}:{where}: {self.text}"

    @property
    def text(self) -> str:
        return f"the Estimator stays: {self.reason}"


def obstacle(refused: Diagnostic, layers: Layers) -> Obstacle | None:
    """Where a refusal stands in the file as it was; None for a place that restating wrote.

    Code that restating moved is known by its text, where that stands in the file once.
    """
    module, node = refused.module, refused.node
    source = module.source
    offset, code = source.span(node)[0], source.code(node)
    moved = False
    for original, edits in reversed(layers.get(module.path, [])):
        offset, stood = before(offset, edits)
        moved |= not stood
        source = original
    if moved:
        if source.text.count(code) != 1:
            return None
        offset = source.text.index(code)
    cell, line, column = place(source, offset)
    return Obstacle(module.path, line, column, refused.reason, refused.advice, cell)


def place(source: Source, offset: int) -> tuple[int | None, int, int]:
    """1-based line and column of an index; in a notebook its cell, and the line in that."""
    line, column = source.place(offset)
    if isinstance(source, Notebook):
        return (*source.place_in_cell(line), column)
    return None, line, column


def before(offset: int, edits: list[Edit]) -> tuple[int, bool]:
    """Where a place of a changed text was before, and whether it was there.

    New text was where it was put.
    """
    shift = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        begin = edit.start + shift
        if offset < begin:
            break
        if offset < begin + len(edit.new):
            return edit.start, False
        shift += len(edit.new) - (edit.end - edit.start)
    return offset - shift, True


def retell(result: f.RunResult, named: list[tuple[Obstacle, Obstacle]]) -> f.RunResult:
    """The result with obstacles (the second ones) in the place of what restating overcomes."""
    files = {file.path: file for file in result.files}
    for first, real in named:
        if first.path not in files or real.path not in files:
            continue
        found = [
            finding
            for finding in files[first.path].findings
            if (finding.cell, finding.line, finding.message) == (first.cell, first.line, first.text)
        ]
        for finding in found:
            files[first.path].findings.remove(finding)
            told = replaced(
                finding, path=real.path, line=real.line, column=real.column, cell=real.cell,
                message=real.text, advice=real.advice,
            )  # fmt: skip
            files[real.path].findings.append(told)
            files[real.path].findings.sort(
                key=lambda one: (one.cell or 0, one.line, one.column, one.code)
            )
        old, new = first.told, real.told
        for index, program in enumerate(result.programs):
            if old in program.reasons:
                reasons = tuple(new if reason == old else reason for reason in program.reasons)
                result.programs[index] = replaced(program, reasons=reasons)
    return result
