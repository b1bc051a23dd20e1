"""Jupyter notebooks: the code cells of one are a program, and only changed cells are written.

The cells' code is put together to one Python text, in which lines that are not
Python (magics, shell commands, whole ``%%`` cells) are masked by text of the
same length, so that every position is right in both. Edits of that text go back
into the JSON at the places of their cells; everything else (outputs, metadata,
indentation, key order, line ends) stays byte for byte.
"""

from __future__ import annotations

import bisect
import json
import re
from pathlib import Path

from migrate_mgpu.engine.records import record
from migrate_mgpu.engine.source import Edit, Source, SourceError, splice

SUFFIX = ".ipynb"
# Stands between cells; being a comment of its own line, it belongs to no statement.
_SEPARATOR = "# %%\n"
_MAGIC = re.compile(r"^[ \t]*(?:[%!]|\?)")
_ASSIGNED = re.compile(r"^([ \t]*[\w., ]+=[ \t]*)([!%].*)$")
_HELP = re.compile(r"^[ \t]*[\w.]+\?{1,2}[ \t]*$")


@record(frozen=True)
class _Cell:
    """One code cell: where its code stands in the joined text, and its value in the JSON."""

    number: int  # 1-based, among all cells
    start: int
    end: int  # behind the line end that closes its code
    value: tuple[int, int]  # span of the "source" value in the JSON
    is_list: bool
    closed: bool  # whether the code itself ends with a line end


@record(frozen=True)
class Notebook(Source):
    """A notebook's code as one text; ``written`` is the JSON that it came from."""

    written: str = ""
    raw: str = ""  # the joined code, not masked
    cells: tuple[_Cell, ...] = ()

    @property
    def file_text(self) -> str:
        return self.written

    def apply(self, edits: list[Edit]) -> str:
        by_cell: dict[int, list[Edit]] = {}
        starts = [cell.start for cell in self.cells]
        for edit in edits:
            index = max(bisect.bisect_right(starts, edit.start) - 1, 0)
            # What is put behind a cell's last line is put before the separator.
            cell = self.cells[index]
            if edit.start > cell.end or edit.end > cell.end + len(_SEPARATOR):
                raise ValueError("an edit between two cells")
            moved = Edit(edit.start - cell.start, min(edit.end, cell.end) - cell.start, edit.new)
            by_cell.setdefault(index, []).append(moved)
        written: list[Edit] = []
        for index, inner in by_cell.items():
            cell = self.cells[index]
            code = splice(self.raw[cell.start : cell.end], inner)
            if not cell.closed and code.endswith("\n"):
                code = code[:-1]
            start, end = cell.value
            written.append(Edit(start, end, _value(self.written[start:end], code, cell.is_list)))
        return splice(self.written, written)

    def place_in_cell(self, line: int) -> tuple[int, int]:
        """Cell number and line in it, both 1-based, of a line of the joined text."""
        offset = self.line_starts[line - 1]
        index = max(bisect.bisect_right([cell.start for cell in self.cells], offset) - 1, 0)
        cell = self.cells[index]
        return cell.number, line - self.place(cell.start)[0] + 1


def decode(path: Path, data: bytes) -> Notebook:
    """Reads a notebook.

    Raises:
        SourceError: not JSON, not a notebook of format 4, or not in Python.
    """
    try:
        written = data.decode("utf-8")
        content = json.loads(written)
    except UnicodeDecodeError as error:
        raise SourceError(f"is not valid utf-8: {error.reason}") from None
    except ValueError as error:
        raise SourceError(f"is not valid JSON: {error}", getattr(error, "lineno", 1)) from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise SourceError("is not a notebook of format 4 (open and save it in Jupyter first)")
    language = content.get("metadata", {}).get("kernelspec", {}).get("language", "python")
    if language and not str(language).lower().startswith("python"):
        raise SourceError(f"is a notebook in {language}")
    pieces: list[str] = []
    masked: list[str] = []
    cells: list[_Cell] = []
    position = 0
    for number, (cell, value) in enumerate(zip(content["cells"], _sources(written)), 1):
        if cell.get("cell_type") != "code" or value is None:
            continue
        source = cell["source"]
        code = source if isinstance(source, str) else "".join(source)
        closed = code.endswith("\n")
        code = code if closed or not code else code + "\n"
        cells.append(
            _Cell(number, position, position + len(code), value, isinstance(source, list), closed)
        )
        pieces += (code, _SEPARATOR)
        masked += (_masked(code), _SEPARATOR)
        position += len(code) + len(_SEPARATOR)
    return Notebook(path, "".join(masked), written=written, raw="".join(pieces), cells=tuple(cells))


def _masked(code: str) -> str:
    """The code with what is not Python replaced by comments or `pass` of the same length."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", code)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("%%"):
        return "".join(_comment(line) for line in lines)
    found: list[str] = []
    continued = False
    for line in lines:
        if continued or _MAGIC.match(line) or _HELP.match(line):
            found.append(_comment(line, stands_alone=not continued))
            continued = line.rstrip("\n").endswith("\\")
            continue
        assigned = _ASSIGNED.match(line.rstrip("\n"))
        if assigned:
            rest = len(assigned.group(2)) - 1
            line = assigned.group(1) + "0" + ("#" * rest) + "\n"
        found.append(line)
    return "".join(found)


def _comment(line: str, stands_alone: bool = False) -> str:
    bare = line.rstrip("\n")
    body = bare.lstrip()
    if not body:
        return line
    indent = bare[: len(bare) - len(body)]
    # An indented magic may be all that a block holds.
    mask = "pass#" + body[5:] if indent and stands_alone and len(body) >= 5 else "#" + body[1:]
    return indent + mask + line[len(bare) :]


def _sources(text: str) -> list[tuple[int, int] | None]:
    """The span of each cell's "source" value in the JSON text."""
    decoder = json.JSONDecoder()
    spans: list[tuple[int, int] | None] = []
    for key, start, _ in _members(text, _skip(text, 0), decoder):
        if key != "cells":
            continue
        position = _skip(text, start + 1)
        while text[position] != "]":
            span = None
            end = position
            for name, value_start, value_end in _members(text, position, decoder):
                end = value_end
                if name == "source":
                    span = (value_start, value_end)
            spans.append(span)
            position = _skip(text, _skip(text, end) + 1)
            if text[position] == ",":
                position = _skip(text, position + 1)
    return spans


def _members(text: str, position: int, decoder: json.JSONDecoder) -> list[tuple[str, int, int]]:
    """Key, start and end of the value, of each member of the object at a position."""
    found: list[tuple[str, int, int]] = []
    position = _skip(text, position + 1)
    while text[position] != "}":
        key, position = decoder.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = decoder.raw_decode(text, start)
        found.append((key, start, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return found


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _value(old: str, code: str, is_list: bool) -> str:
    """A "source" value in the style of the one that it replaces."""
    ascii_only = old.isascii() and ("\\u" in old or code.isascii())
    if not is_list:
        return json.dumps(code, ensure_ascii=ascii_only)
    lines = re.findall(r"[^\n]*\n|[^\n]+", code)
    opening = re.match(r"\[(\s*)", old)
    closing = re.search(r"(\s*)\]$", old)
    before = opening.group(1) if opening else ""
    after = closing.group(1) if closing else ""
    between = "," + (before or " ")
    return (
        "["
        + before
        + between.join(json.dumps(x, ensure_ascii=ascii_only) for x in lines)
        + (after + "]")
    )
