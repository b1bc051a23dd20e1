"""Edits of one file's text: statements replaced by calls, with their comments and line ends."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable
from typing import NamedTuple

from migrate_mgpu.source.source import Edit, Source

_ENDS = re.compile(r"\s*;(?=\s*(#|$))")  # a semicolon with nothing behind it

_CELL = "# %%"  # between the cells of a notebook


class Comment(NamedTuple):
    """A comment inside a piece of code; ``line`` counts from the piece's first line (0)."""

    line: int
    text: str
    alone: bool  # nothing else stands on its line


def comments(code: str) -> list[Comment]:
    """The comments in an expression or simple statement."""
    if "#" not in code:
        return []
    import tokenize

    found: list[Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                found.append(Comment(token.start[0] - 1, token.string, alone))
    except (tokenize.TokenError, SyntaxError):
        pass  # the piece ends in the middle of a line; what was seen counts
    return found


def is_comment(line: str) -> bool:
    """Whether a line is a comment, and not the beginning of a notebook's cell.

    `# %% Training`, with words, is one of what stands below it.
    """
    return line.strip().startswith("#") and line.rstrip() != _CELL


def comments_above(source: Source, statement: ast.stmt) -> list[str]:
    """The comments right above a statement."""
    found: list[str] = []
    line = statement.lineno - 1
    while line >= 1 and is_comment(source.line_text(line)):
        found.insert(0, source.line_text(line).strip())
        line -= 1
    return found


def comments_of(source: Source, statement: ast.stmt) -> list[str]:
    """The comments above a statement, in it and behind it."""
    found = comments_above(source, statement)
    found += [comment.text for comment in comments(source.code(statement))]
    behind = Layout(source, statement).trailing_comment
    return [*found, *([behind] if behind else [])]


class Layout:
    """Where a statement stands on its lines, and how new lines around it look."""

    def __init__(self, source: Source, statement: ast.stmt) -> None:
        self.source = source
        self.statement = statement
        self.start, self.end = source.span(statement)
        first = statement.lineno
        decorators = getattr(statement, "decorator_list", [])
        if decorators:
            first = min(first, *(d.lineno for d in decorators))
        self.line_start = source.line_starts[first - 1]
        last = statement.end_lineno or first
        after = source.line_starts[last] if last < len(source.line_starts) else len(source.text)
        self.rest = source.text[self.end : after].rstrip("\r\n")
        ends = _ENDS.match(self.rest)
        if ends:  # `x = 1;`: what stands for the statement ends it itself
            self.end += ends.end()
            self.rest = self.rest[ends.end() :]
        self.line_end = self.end + len(self.rest)  # before the line end
        self.next_line = after
        self.lead = source.text[self.line_start : self.start]
        self.indent = self.lead if not self.lead.strip() else source.indent_of(statement)

    @property
    def owns_start(self) -> bool:
        """Nothing but white space stands before the statement on its line."""
        return not self.lead.strip()

    @property
    def owns_lines(self) -> bool:
        """Nothing but a comment shares the statement's lines."""
        rest = self.rest.strip()
        return self.owns_start and (not rest or rest.startswith("#"))

    @property
    def is_one_liner(self) -> bool:
        """`if x: statement`: the header of its block stands before it, and nothing behind."""
        rest = self.rest.strip()
        return self.lead.rstrip().endswith(":") and (not rest or rest.startswith("#"))

    def replace_one_liner(self, lines: list[str]) -> Edit:
        """The statement behind a header becomes one line there, or a block below it."""
        if len(lines) == 1:
            return Edit(self.start, self.end, lines[0])
        newline = self.source.newline
        start = self.line_start + len(self.lead.rstrip())
        inner = self.indent + self.source.indent_unit
        block = "".join(f"{newline}{inner}{line}" for line in lines or ["pass"])
        return Edit(start, self.line_end, block)

    @property
    def trailing_comment(self) -> str | None:
        rest = self.rest.strip()
        return rest if rest.startswith("#") else None

    def lines(self, lines: list[str]) -> str:
        """New lines at the statement's indentation, each with its line end."""
        newline = self.source.newline
        return "".join(f"{self.indent}{line}{newline}" if line else newline for line in lines)

    def insert_before(self, lines: list[str]) -> Edit:
        return Edit(self.line_start, self.line_start, self.lines(lines))

    def insert_paragraph(self, lines: list[str]) -> Edit:
        """As ``insert_before``, but above comments that belong to the statement.

        A blank line follows where a paragraph or a block begins, as many as stand above a class
        or a function.
        """
        source = self.source
        number = source.place(self.line_start)[0]
        while number > 1 and self._is_comment(source.line_text(number - 1)):
            number -= 1
        above = source.line_text(number - 1).rstrip() if number > 1 else ""
        defines = isinstance(self.statement, (ast.ClassDef, ast.FunctionDef))
        starts_cell = defines and above == _CELL
        if not above or above.endswith(":") or starts_cell:
            lines = [*lines, ""]
        twice = number > 2 and not above and not source.line_text(number - 2).strip()
        if defines and (twice or starts_cell):
            lines = [*lines, ""]
        place = source.line_starts[number - 1]
        return Edit(place, place, self.lines(lines))

    def _is_comment(self, line: str) -> bool:
        """Whether the line above is a comment: not the end of a string, nor a notebook's cell."""
        comment = line.startswith(f"{self.indent}#") and is_comment(line)
        return comment and '"""' not in line and "'''" not in line

    def insert_after(self, lines: list[str]) -> Edit:
        text = self.lines(lines)
        if self.next_line == len(self.source.text) and not self.source.text.endswith(("\n", "\r")):
            text = self.source.newline + text.rstrip("\r\n")
        return Edit(self.next_line, self.next_line, text)

    def replace(self, lines: list[str]) -> Edit:
        """The statement's lines, its trailing comment included, become new ones."""
        text = self.lines(lines)
        if self.next_line == len(self.source.text) and not self.source.text.endswith(("\n", "\r")):
            text = text.rstrip("\r\n")
        return Edit(self.line_start, self.next_line, text)


def start_with_comments(text: str, start: int) -> int:
    """The start of the comments that stand right above the line that begins at ``start``.

    `# %%`, which begins a cell, is none of them.
    """
    while start > 0:
        before = text.rfind("\n", 0, start - 1) + 1
        line = text[before:start].strip()
        if not line.startswith("#") or line.startswith("# %%"):
            return start
        start = before
    return start


def without_function(source: Source, node: ast.stmt) -> Edit:
    """A function or class goes, with the comments above it."""
    layout, text = Layout(source, node), source.text
    top, bottom = source.part_at(layout.line_start)
    start = max(start_with_comments(text, layout.line_start), top)
    rest = text[layout.next_line : bottom]
    if not rest.strip():
        above = text[top:start].rstrip()
        return Edit(top + len(above) + len(source.newline) * bool(above), bottom, "")
    return Edit(start, bottom - len(rest.lstrip("\r\n")), "")


def without_functions(source: Source, nodes: Iterable[ast.stmt]) -> list[Edit]:
    """Functions and classes go, some of which may stand behind one another."""
    found: list[Edit] = []
    edits = (without_function(source, node) for node in nodes)
    for edit in sorted(edits, key=lambda edit: edit.start):
        while found and edit.start < found[-1].end:  # the last one of a file takes lines above it
            edit = Edit(found.pop().start, edit.end, "")
            top, bottom = source.part_at(edit.start)
            above = source.text[top : edit.start].rstrip()
            if edit.end == bottom:
                edit = Edit(top + len(above) + len(source.newline) * bool(above), bottom, "")
        found.append(edit)
    return found


def without_paragraph(source: Source, statement: ast.stmt, comments: bool = False) -> Edit:
    """A statement goes with its lines, and where it stood between blank lines, with one of them.

    ``comments``: those above it go with it there.
    """
    return _without_lines(source, statement, statement, comments)


def without_paragraphs(source: Source, statements: Iterable[ast.stmt]) -> list[Edit]:
    """Statements go so, those that stand below each other together."""
    groups: list[list[ast.stmt]] = []
    for one in sorted(statements, key=lambda one: (one.lineno, one.col_offset)):
        start = Layout(source, one).line_start
        if groups and Layout(source, groups[-1][-1]).next_line == start:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [_without_lines(source, group[0], group[-1]) for group in groups]


def _without_lines(source: Source, first: ast.stmt, last: ast.stmt, comments: bool = False) -> Edit:
    begin, behind, text = (
        Layout(source, first).line_start,
        Layout(source, last).next_line,
        source.text,
    )
    top, bottom = source.part_at(begin)
    start, end = begin, text.find("\n", behind, bottom) + 1
    if comments:
        start = max(start_with_comments(text, start), top)
    above = text[top:start].rstrip(" \t")
    alone = not above or above.endswith(("\n\n", "\r\n\r\n"))
    if alone and end and not text[behind:end].strip():
        return Edit(start, end, "")
    return Edit(begin, behind, "")
