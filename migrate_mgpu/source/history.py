"""Where a place of a text stands in the text that it came from."""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.source.notebook import Notebook
from migrate_mgpu.source.source import Edit, Source

History = dict[Path, list[tuple[Source, list[Edit]]]]  # the texts of a file, and their edits


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
