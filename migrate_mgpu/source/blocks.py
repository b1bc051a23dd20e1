"""The author's statements in new surroundings: changed in places, indented anew, comments kept."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from migrate_mgpu.source.source import Edit, Source, splice
from migrate_mgpu.source.statements import is_comment


def outermost(edits: Iterable[Edit]) -> list[Edit]:
    """Edits without those that lie inside another one: the larger replacement says it all."""
    found: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=lambda e: (e.start, -e.end)):
        if found and edit.start < found[-1].end and edit.end <= found[-1].end:
            continue
        found.append(edit)
    return found


def without_lost_indents(source: Source, edits: Iterable[Edit]) -> list[Edit]:
    """Edits without those that move lines which others take away."""
    edits = list(edits)
    ends = {e.start: e.end for e in edits if not e.new and "\n" in source.text[e.start : e.end]}
    return [
        e for e in edits
        if e.new or ends.get(e.start, e.end) <= e.end or not source.text[e.start : e.end].isspace()
    ]  # fmt: skip


def render(
    source: Source,
    node: ast.AST,
    edits: Iterable[Edit],
    column: int | None = None,
    base: str | None = None,
) -> str:
    """A node's text with edits, as it stands behind ``column`` characters of a line.

    ``base`` is the indentation that its first line's takes the place of; lines below
    move with it, and those that were aligned to a bracket stay aligned to it.
    """
    start, end = source.span(node)
    edits = [_up_to(source, one, end) for one in edits]
    inside = [e for e in edits if start <= e.start and e.end <= end]
    if len(inside) > 1:
        inside = outermost(inside)
    text = source.text[start:end]
    if "\n" in text or "\r" in text:
        spaces = _indentation(source, node, inside, column, base)
        moved = [
            Edit(source.line_starts[line - 1], source.line_starts[line - 1] + len(old), new)
            for line, (old, new) in spaces.items()
            if old != new and source.line_text(line).strip()
        ]
        old = source.indent_of(node)
        moves = {old: old if base is None else base, **dict(spaces.values())}
        inside = outermost([*(_moved(source, edit, spaces, moves) for edit in inside), *moved])
    spliced = splice(source.text, inside, start, end)
    return spliced.rstrip() if _loses_its_end(source, node, inside) else spliced


def _up_to(source: Source, edit: Edit, end: int) -> Edit:
    """An edit that takes away the last line of a node, up to the node's end."""
    behind = source.text[end : edit.end].lstrip()
    inside = edit.start < end < edit.end and not edit.new
    return Edit(edit.start, end, "") if inside and (not behind or behind[0] == "#") else edit


def _loses_its_end(source: Source, node: ast.AST, edits: Iterable[Edit]) -> bool:
    """Whether edits take away the last line of a node, and what stands behind it."""
    start, end = source.span(node)
    found = [e for e in edits if start < e.start < end <= e.end and not e.new]
    lines = (source.line_starts[source.place(e.start)[0] - 1] for e in found)
    return any(not source.text[line : e.start].strip() for line, e in zip(lines, found))


def bracketed(text: str) -> str:
    """An expression's text as all that a statement gives: in brackets where a line would end it.

    The brackets that an expression over several lines had around it are no part of it.
    """
    if "\n" not in text and "\r" not in text:
        return text
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return f"({text})"
    return text


def _indentation(
    source: Source, node: ast.AST, edits: list[Edit], column: int | None, base: str | None
) -> dict[int, tuple[str, str]]:
    """The white space before the second and later lines of a node, as it was and moved along."""
    start, end = source.span(node)
    first_line, first_column = source.place(start)
    old_base = source.indent_of(node)
    new_base = old_base if base is None else base
    shifts = {first_line: (first_column - 1 if column is None else column) - (first_column - 1)}
    brackets, strings = open_brackets(source.text[start:end])
    found: dict[int, tuple[str, str]] = {}
    last_line = source.place(end)[0]
    for line in range(first_line + 1, last_line + 1):
        if line - first_line in strings:
            shifts[line] = 0
            continue
        text = source.line_text(line)
        space = text[: len(text) - len(text.lstrip())]
        new = space
        if space.startswith(old_base):
            new = new_base + space[len(old_base) :]
        opened = brackets.get(line - first_line)
        if opened is not None:
            row, offset = opened[0] + first_line, opened[1]
            if row == first_line:
                offset += first_column - 1
            if len(space) == offset + 1 and "\t" not in space:
                moved = offset + 1 + shifts.get(row, 0) + grown(source, edits, row, offset)
                new = " " * max(moved, 0)
        shifts[line] = len(new) - len(space)
        found[line] = space, new
    return found


def _moved(
    source: Source, edit: Edit, spaces: dict[int, tuple[str, str]], moves: Mapping[str, str]
) -> Edit:
    """An edit that writes line ends, with the white space behind them moved along."""
    if "\n" not in edit.new:
        return edit
    known = dict(moves)  # of lines that begin alike, the last one counts
    last = source.place(edit.end)[0]
    if last in spaces:
        known[spaces[last][0]] = spaces[last][1]
    first, *lines = edit.new.split("\n")
    for index, line in enumerate(lines):
        space = line[: len(line) - len(line.lstrip())]
        outer = max((one for one in known if space.startswith(one)), key=len, default=None)
        if outer is not None:
            lines[index] = known[outer] + line[len(outer) :]
    return Edit(edit.start, edit.end, "\n".join([first, *lines]))


def grown(source: Source, edits: Iterable[Edit], line: int, column: int) -> int:
    """By how much edits before a column have lengthened a line."""
    begin = source.line_starts[line - 1]
    return sum(
        len(edit.new) - (edit.end - edit.start)
        for edit in edits
        if begin <= edit.start and edit.end <= begin + column
    )


@lru_cache(maxsize=4096)  # a statement is written for each model that it is a part of
def open_brackets(text: str) -> tuple[dict[int, tuple[int, int]], set[int]]:
    """The innermost bracket that is open at the start of each later line (0-based).

    And the lines that begin inside a string. Callers must not change the answer.
    """
    brackets: dict[int, tuple[int, int]] = {}
    strings: set[int] = set()
    stack: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
            row = token.start[0] - 1
            column = token.start[1] - (1 if row == 0 else 0)  # the bracket put before it
            if stack and stack[-1][1] >= 0 and token.type != tokenize.NL:
                brackets.setdefault(row, stack[-1])
            strings.update(range(row + 1, token.end[0]))
            if token.type == tokenize.OP and token.string in "([{":
                stack.append((row, column))
            elif token.type == tokenize.OP and token.string in ")]}" and stack:
                stack.pop()
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    return brackets, strings


def leading(source: Source, statement: ast.stmt) -> list[str]:
    """The comment and blank lines above a statement, without their indentation.

    Several blank lines are one; those at the top are kept as one, for the caller to drop.
    """
    line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    found: list[str] = []
    line -= 1
    while line >= 1:
        text = source.line_text(line).strip()
        if text and not is_comment(source.line_text(line)):
            break
        if text or not found or found[-1]:
            found.append(text)
        line -= 1
    found.reverse()
    return found if line >= 1 else [text for text in found if text]


def right_above(lines: list[str]) -> list[str]:
    """Of the lines above a statement those behind the last blank one."""
    return lines[len(lines) - lines[::-1].index("") :] if "" in lines else lines


def behind_header(source: Source, block: ast.With) -> str:
    """The comment behind the header of a block, on its last line."""
    last = block.items[-1].optional_vars or block.items[-1].context_expr
    line, column = source.place(source.span(last)[1])
    rest = source.line_text(line)[column - 1 :]
    mark = rest.find("#")
    return rest[mark:].strip() if mark >= 0 and not rest[:mark].strip(" \t)\\:") else ""


def trailing(source: Source, statement: ast.stmt) -> str:
    """The comment behind a statement on its last line, with the space before it."""
    _, end = source.span(statement)
    line, column = source.place(end)
    rest = source.line_text(line)[column - 1 :]
    return rest.rstrip() if rest.strip().startswith("#") else ""


class Block:
    """Lines being written, each statement at the block's indentation.

    Args:
      parted: statements from which a blank line parts comments that stay where they are.
    """

    def __init__(
        self, source: Source, indent: str, parted: Collection[ast.stmt] = frozenset()
    ) -> None:
        self.source = source
        self.indent = indent
        self.parted = parted
        self.lines: list[str] = []

    def beside(self) -> Block:
        """An empty one of the same code."""
        return Block(self.source, self.indent, self.parted)

    def line(self, text: str = "", deeper: int = 0) -> None:
        """One line of new code (or several, with their own line ends)."""
        if not text:
            if self.lines and self.lines[-1]:
                self.lines.append("")
            return
        self.lines.append(self.indent + self.source.indent_unit * deeper + text)

    def comments(self, statement: ast.stmt, deeper: int = 0) -> None:
        """What stands above a statement: its comments, and a blank line where one was."""
        above = leading(self.source, statement)
        if statement in self.parted and "" in above:
            above = ["", *right_above(above)]
        for text in above:
            begins = not self.lines or self.lines[-1].endswith(":")
            if text or not begins:
                self.line(text, deeper if text else 0)

    def statement(
        self, statement: ast.stmt, edits: Iterable[Edit], deeper: int = 0, above: Iterable[str] = ()
    ) -> None:
        """A statement of the author's with its comments, and new lines between the two."""
        self.comments(statement, deeper)
        for line in above:
            self.line(line, deeper)
        base = self.indent + self.source.indent_unit * deeper
        edits = list(edits)
        text = render(self.source, statement, edits, len(base), base)
        shorter = _loses_its_end(self.source, statement, edits)
        behind = "" if shorter else trailing(self.source, statement)
        self.lines.append(base + text + behind)

    def text(self) -> str:
        """The block, each line with the file's line end."""
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        newline = self.source.newline
        joined = "\n".join(line.replace("\r\n", "\n") for line in self.lines)
        return "".join(line + newline for line in joined.split("\n"))


def lines_in_strings(source: Source, block: ast.AST) -> set[int]:
    """The lines of a block that begin inside of a string."""
    return {
        line
        for part in ast.walk(block)
        if isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, (str, bytes)))
        for line in range(part.lineno + 1, (part.end_lineno or part.lineno) + 1)
        if not isinstance(part, ast.Constant)
        or not isinstance(part.value, str)
        or "\n" in part.value
        or source.line_text(line - 1).endswith("\\")
    }
