"""Where in a text statements begin and end, with what belongs to them around."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.scope import Header, header_of
from migrate_mgpu.source.source import Source
from migrate_mgpu.source.statements import Layout, is_comment


def above(source: Source, statement: ast.stmt) -> int:
    """Where a statement begins, with the comments directly above it."""
    line = Layout(source, statement).line_start
    number = source.place(line)[0]
    while number > 1 and is_comment(source.line_text(number - 1)):
        number -= 1
    return source.line_starts[number - 1]


def header_end(source: Source, block: Header) -> int:
    """Behind the lines of a block's header."""
    line = max(getattr(p, "end_lineno", 0) or 0 for n in header_of(block) for p in walk(n))
    while not source.line_text(line).split("#")[0].rstrip().endswith(":"):
        line += 1
    return source.line_starts[line]


def joined(source: Source, start: int, stop: int, above: int, below: int) -> tuple[int, int]:
    """Where lines go away without a trace, of the blank lines around the fewer ones go too.

    At the end of a file all do.
    """
    text = source.text
    if not text[stop:].strip() and text[:start].strip():
        return len(text[:start].rstrip()) + len(source.newline), len(text)
    for _ in range(min(above, below)):
        stop = text.index("\n", stop) + 1
    return start, stop


def blank_above(source: Source, offset: int) -> int:
    """How many blank lines stand directly above a place."""
    return _blanks(list(reversed(source.text[:offset].split("\n")[:-1])))


def blank_below(source: Source, offset: int) -> int:
    """How many blank lines stand directly below a place."""
    return _blanks(source.text[offset:].split("\n"))


def _blanks(lines: list[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count
