"""Lines that were aligned to a bracket stay aligned to it, when what stands before it changes."""

from __future__ import annotations

from collections.abc import Sequence

from migrate_mgpu.source.blocks import grown, open_brackets
from migrate_mgpu.source.source import Edit, Source

_LONGEST = 200  # lines of a statement


def aligned(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, and those of the white space before lines below that follow a bracket."""
    within: dict[int, list[Edit]] = {}
    written: set[int] = set()  # lines that edits of several lines write
    for edit in edits:
        first, last = source.place(edit.start)[0], source.place(edit.end)[0]
        if first == last and not {"\n", "\r"} & {*edit.new}:
            within.setdefault(first, []).append(edit)
        else:
            written.update(range(first, last + 1))
    found: list[Edit] = []
    done = 0
    for line in sorted(within):
        if line > done and line not in written and _opens(source, line, within[line]):
            moved, done = _below(source, line, within, written)
            found += moved
    return [*edits, *found]


def _opens(source: Source, line: int, edits: Sequence[Edit]) -> bool:
    """Whether the next line seems to be aligned to a bracket of a line that edits move."""
    text, below = source.line_text(line), ""
    for row in range(line + 1, len(source.line_starts) + 1):
        below = source.line_text(row)
        if below.strip():
            break
    column = len(below) - len(below.lstrip())
    is_bracket = 0 < column <= len(text) and text[column - 1] in "([{"
    return is_bracket and grown(source, edits, line, column - 1) != 0


def _below(
    source: Source, line: int, within: dict[int, list[Edit]], written: set[int]
) -> tuple[list[Edit], int]:
    """What moves the lines below one, and the last of them."""
    start = source.line_starts[line - 1]
    last = min(line + _LONGEST, len(source.line_starts))
    end = source.line_starts[last] if last < len(source.line_starts) else len(source.text)
    brackets, strings = open_brackets(source.text[start:end])
    found: list[Edit] = []
    shifts = {line: 0}
    row = line + 1
    while row <= last:
        text = source.line_text(row)
        if text.strip() and row - line not in brackets and row - line not in strings:
            break  # the statement has ended
        space = text[: len(text) - len(text.lstrip())]
        shift = 0
        opened = brackets.get(row - line)
        if row not in written and row - line not in strings and opened is not None:
            above, column = opened[0] + line, opened[1] + 1
            if len(space) == column and "\t" not in space and above not in written:
                shift = shifts[above] + grown(source, within.get(above, ()), above, column - 1)
        if shift and text.strip() and len(space) + shift >= 0:
            begin = source.line_starts[row - 1]
            if not any(edit.start < begin + len(space) for edit in within.get(row, ())):
                found.append(Edit(begin, begin + len(space), " " * (len(space) + shift)))
            else:
                shift = 0
        shifts[row] = shift
        row += 1
    return found, row - 1
