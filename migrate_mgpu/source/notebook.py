"""Jupyter notebooks: the code cells of one are a program, and only changed cells are written.

The cells' code is put together to one Python text, in which lines that are not
Python (magics, shell commands, whole ``%%`` cells) are masked by text of the
same length, so that every position is right in both. Edits of that text go back
into the JSON at the places of their cells; everything else (outputs, metadata,
indentation, key order, line ends) stays byte for byte.

A cell whose first line is indented runs in Jupyter, which takes that much off its lines: in the
joined text it stands below a main guard, which a notebook always passes.

A cell that is no code at all, such as a text that was pasted into a code cell, never
runs: it is left out, with a finding, where it names nothing that other cells use.
"""

from __future__ import annotations

import ast
import bisect
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.source.source import Edit, Source, SourceError, splice

# Stands between cells; being a comment of its own line, it belongs to no statement.
_SEPARATOR = "# %%\n"
_GUARD = 'if __name__ == "__main__":\n'  # above a cell whose first line is indented
_MAGIC = re.compile(r"^[ \t]*(?:[%!]|\?)")
# What opens and closes within a line: strings, comments, brackets.
_PARTS = re.compile(r"#.*|(\"{3}|'{3})|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|[(\[{]|[)\]}]")
_FUTURE = re.compile(r"^from __future__ import [\w, ]*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^([ \t]*[\w., ]+=[ \t]*)([!%].*)$")
_HELP = re.compile(r"^[ \t]*[\w.]+\?{1,2}[ \t]*$")
# A line that could bind, change or call something, were it read in another way than Python's.
_CODE_LINE = re.compile(
    r"[=(\[]|^[ \t]*(?:import|from|def|class|for|with|while|if|try|del|global|@)\b|:\s*$"
)
_WORD = re.compile(r"[^\W\d]\w*")
_TENSORFLOW = re.compile(r"\b(?:tf|tensorflow\w*|keras)\b")


@record(frozen=True)
class _Cell:
    """One code cell: where its code stands in the joined text, and its value in the JSON."""

    number: int  # 1-based, among all cells
    start: int
    end: int  # behind the line end that closes its code
    value: tuple[int, int]  # span of the "source" value in the JSON
    place: int  # among all cells, from 0
    is_list: bool
    closed: bool  # whether the code itself ends with a line end
    guard: str = ""  # what stands above it in the joined text


@record(frozen=True)
class Notebook(Source):
    """A notebook's code as one text; ``written`` is the JSON that it came from."""

    written: str = ""
    raw: str = ""  # the joined code, not masked
    spans: tuple[tuple[int, int], ...] = ()  # of all cells in the JSON
    cells: tuple[_Cell, ...] = ()
    left_out: tuple[tuple[int, str], ...] = ()  # lines of cells that are not Python, and why not

    @property
    def file_text(self) -> str:
        return self.written

    @property
    def script(self) -> str:
        """The cells' code as a script, each below a comment that names the cell."""
        codes = ((c, self.text[c.start : c.end]) for c in self.cells)
        return "".join(
            f"# %% cell {c.number}\n{_dedented(code) if c.guard else code}" for c, code in codes
        )

    def apply(self, edits: list[Edit]) -> str:
        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            index = self._index(edit.start)
            # What is put behind a cell's last line is put before the separator.
            cell = self.cells[index]
            if edit.start > cell.end or edit.end > cell.end + len(_SEPARATOR):
                raise ValueError("an edit between two cells")
            moved = Edit(edit.start - cell.start, min(edit.end, cell.end) - cell.start, edit.new)
            by_cell.setdefault(index, []).append(moved)
        written: list[Edit] = []
        empty: set[int] = set()
        for index, inner in by_cell.items():
            cell = self.cells[index]
            code = splice(self.raw[cell.start : cell.end], inner)
            if not code.strip() and self.raw[cell.start : cell.end].strip():
                empty.add(cell.place)
                continue
            if not cell.closed and code.endswith("\n"):
                code = code[:-1]
            start, end = cell.value
            written.append(Edit(start, end, _value(self.written[start:end], code, cell.is_list)))
        return splice(self.written, [*written, *self._without(empty)])

    def _without(self, gone: set[int]) -> Iterator[Edit]:
        """Takes cells out of the notebook, each with a comma beside it."""
        first = next((n for n in range(len(self.spans)) if n not in gone), len(self.spans))
        for number in sorted(gone):
            start, end = self.spans[number]
            if number > first:
                yield Edit(self.spans[number - 1][1], end, "")
            elif number + 1 < len(self.spans):
                yield Edit(start, self.spans[number + 1][0], "")
            else:  # it is the last of all
                yield Edit(start, end, "")

    def part_at(self, offset: int) -> tuple[int, int]:
        cell = self.cells[self._index(offset)]
        return cell.start, cell.end

    def is_code(self, start: int, end: int) -> bool:
        return self.raw[start:end] == self.text[start:end]

    def _index(self, offset: int) -> int:
        starts = [cell.start for cell in self.cells]
        return max(bisect.bisect_right(starts, offset) - 1, 0)

    def place_in_cell(self, line: int) -> tuple[int, int]:
        """Cell number and line in it, both 1-based, of a line of the joined text."""
        offset = self.line_starts[line - 1]
        cell = self.cells[self._index(offset)]
        return cell.number, line - self.place(cell.start)[0] + 1

    def line_of(self, cell: int, line: int) -> int:
        """The joined text's line of a line of a cell."""
        start = next(one.start for one in self.cells if one.number == cell)
        return self.place(start)[0] + line - 1


def decode(path: Path, data: bytes) -> Notebook:
    """Reads a notebook.

    Raises:
        SourceError: not JSON, not a notebook of format 4, or not in Python.
    """
    found = read(path, data)
    try:
        found.tree  # noqa: B018 - parses
    except SourceError:
        # Python takes it at the top of a file only, Jupyter in each cell: Python 3 has them all.
        text = _FUTURE.sub(lambda line: _comment(line[0]), found.text)
        masked = [text[cell.start : cell.end] for cell in found.cells]
        broken = _left_out(path, found.cells, masked)
        lines = tuple(
            (found.place(found.cells[index].start)[0], why) for index, why in broken.items()
        )
        for index in broken:
            written_lines = masked[index].splitlines(keepends=True)
            masked[index] = "".join(map(_comment, written_lines))
        return replaced(found, text=_joined(found.cells, masked), left_out=lines)
    return found


def read(path: Path, data: bytes) -> Notebook:
    """Reads a notebook whose code may be of Python 2.

    Raises:
        SourceError: not JSON, not a notebook of format 4, or in another language.
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
    codes: list[str] = []
    masks: list[str] = []
    cells: list[_Cell] = []
    position = 0
    found_cells = _cells(written)
    for number, (cell, (_, value)) in enumerate(zip(content["cells"], found_cells), 1):
        if cell.get("cell_type") != "code" or value is None:
            continue
        source = cell["source"]
        code = source if isinstance(source, str) else "".join(source)
        closed = code.endswith("\n")
        code = code if closed or not code else code + "\n"
        codes.append(code)
        masks.append(_masked(code))
        guard = _GUARD if _is_indented(masks[-1]) else ""
        start = position + len(guard)
        position = start + len(code) + len(_SEPARATOR)
        is_list, end = isinstance(source, list), start + len(code)
        cells.append(_Cell(number, start, end, value, number - 1, is_list, closed, guard))
    spans = tuple(span for span, _ in found_cells)
    raw, text = _joined(cells, codes), _joined(cells, masks)
    return Notebook(path, text, written=written, raw=raw, spans=spans, cells=tuple(cells))


def _joined(cells: Sequence[_Cell], codes: list[str]) -> str:
    return "".join(cell.guard + code + _SEPARATOR for cell, code in zip(cells, codes))


def _is_indented(code: str) -> bool:
    """Whether a cell's code is Python by what Jupyter takes off its lines, and by that alone."""
    first = next((line for line in code.splitlines() if line.strip()), "")
    if not first[:1].isspace():
        return False
    try:
        plain, (guarded, *rest) = ast.parse(_dedented(code)), ast.parse(_GUARD + code).body
    except (SyntaxError, ValueError):
        return False
    assert isinstance(guarded, ast.If)
    same = ast.Module([*guarded.body, *rest], [])
    return ast.dump(plain) == ast.dump(same)  # otherwise strings would change as well


def _dedented(code: str) -> str:
    """Without the white space of the first line, where a line begins with it."""
    lines = code.splitlines(keepends=True)
    first = next((line for line in lines if line.strip()), "")
    space = first[: len(first) - len(first.lstrip())]
    return "".join(line.removeprefix(space) for line in lines)


def _left_out(path: Path, cells: tuple[_Cell, ...], masked: list[str]) -> dict[int, str]:
    """The cells that are not Python, and why not.

    Raises:
        SourceError: one of them is Python 2, or may have to do with the other cells.
    """
    broken: dict[int, SourceError] = {}
    used: set[str] = set()
    for index, code in enumerate(masked):
        try:
            used |= _names(Source(path, cells[index].guard + code).tree)
        except SourceError as error:
            broken[index] = error
    for index, problem in broken.items():
        where = f"cell {cells[index].number}, line {problem.line},"
        if problem.python_2:
            raise SourceError(f"{where} {problem}", 0, python_2=True)
        lines = [line for line in masked[index].splitlines() if _CODE_LINE.search(line)]
        words = {word for line in lines for word in _WORD.findall(line)}
        common = sorted(words & used)
        tensorflow = _TENSORFLOW.search(masked[index])
        if common or tensorflow:
            word = tensorflow[0] if tensorflow else common[0]
            advice = "fix it, or make it a Markdown cell"
            raise SourceError(f"{where} {problem}, and names `{word}`: {advice}", 0)
    return {index: str(problem) for index, problem in broken.items()}


def _names(tree: ast.Module) -> set[str]:
    """What a cell calls things."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.update((node.asname or node.name).split("."))
    return found


def _masked(code: str) -> str:
    """The code with what is not Python replaced by comments or `pass` of the same length."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", code)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("%%"):
        return "".join(_comment(line) for line in lines)
    found: list[str] = []
    continued = False
    depth, quotes, goes_on = 0, "", False  # no magic begins within a statement
    for line in lines:
        if continued or (not goes_on and (_MAGIC.match(line) or _HELP.match(line))):
            found.append(_comment(line, stands_alone=not continued))
            continued = line.rstrip("\n").endswith("\\")
            continue
        was_open = goes_on
        depth, quotes = _open_behind(line, depth, quotes)
        goes_on = bool(depth or quotes) or line.rstrip("\n").endswith("\\")
        if was_open:
            found.append(line)
            continue
        assigned = _ASSIGNED.match(line.rstrip("\n"))
        if assigned:
            rest = len(assigned.group(2)) - 1
            line = assigned.group(1) + "0" + ("#" * rest) + "\n"
        found.append(line)
    return "".join(found)


def _open_behind(line: str, depth: int, quotes: str) -> tuple[int, str]:
    """How many brackets and which long string are open behind a line, from those before it."""
    position = 0
    while position < len(line):
        if quotes:
            end = re.search(rf"(?<!\\)(?:\\\\)*{quotes}", line[position:])
            if end is None:
                return depth, quotes
            position, quotes = position + end.end(), ""
            continue
        part = _PARTS.search(line, position)
        if part is None:
            break
        position, quotes = part.end(), part[1] or ""
        depth += (part[0] in ("(", "[", "{")) - (part[0] in (")", "]", "}"))
    return max(depth, 0), quotes


def _comment(line: str, stands_alone: bool = False) -> str:
    bare = line.rstrip("\n")
    body = bare.lstrip()
    if not body:
        return line
    indent = bare[: len(bare) - len(body)]
    # An indented magic may be all that a block holds.
    mask = "pass#" + body[5:] if indent and stands_alone and len(body) >= 5 else "#" + body[1:]
    return indent + mask + line[len(bare) :]


def _cells(text: str) -> list[tuple[tuple[int, int], tuple[int, int] | None]]:
    """The span of each cell in the JSON text, and that of its "source" value."""
    decoder = json.JSONDecoder()
    spans: list[tuple[tuple[int, int], tuple[int, int] | None]] = []
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
            behind = _skip(text, end) + 1
            spans.append(((position, behind), span))
            position = _skip(text, behind)
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
