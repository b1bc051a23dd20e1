"""Edits of one file's text: statements replaced by calls, with their comments and line ends."""

from __future__ import annotations

import ast
import io
import re
from typing import NamedTuple, Union

from migrate_mgpu.source.source import LINE_END, Edit, Source


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

        A blank line follows where a paragraph or a block begins.
        """
        source = self.source
        number = source.place(self.line_start)[0]
        while number > 1 and self._is_comment(source.line_text(number - 1)):
            number -= 1
        above = source.line_text(number - 1).rstrip() if number > 1 else ""
        if not above or above.endswith(":"):
            lines = [*lines, ""]
        place = source.line_starts[number - 1]
        return Edit(place, place, self.lines(lines))

    def _is_comment(self, line: str) -> bool:
        """Whether the line above is a comment: not the end of a string, nor a notebook's cell."""
        comment = line.startswith(f"{self.indent}#") and not line.startswith("# %%")
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


def remove_parameter(header: str, name: str) -> str:
    """A function's text up to its body, without one of its parameters."""
    bare = header.rstrip()
    space = header[len(bare) :]
    return (_spliced_parameters(bare, name) or _without_parameter(bare, name)).rstrip() + space


def remove_argument(
    code: str, keyword: str | None, position: int | None, shifts: bool = False
) -> str:
    """A call's text without one of its arguments, by name or by place.

    What stands around it, comments apart, keeps its form. A positional argument
    with other positional ones behind it becomes ``None``, unless they are meant
    to move up (``shifts``).
    """
    spliced = _spliced_call(code, keyword, position, shifts)
    return _without_argument(code, keyword, position, shifts) if spliced is None else spliced


# -- lists that are nothing but members, commas and white space ------------------
# Nearly all are, and importing libcst costs more than a whole run without it.


def _spliced_call(code: str, keyword: str | None, position: int | None, shifts: bool) -> str | None:
    """As ``remove_argument``; None where only libcst knows what belongs to what."""
    if not code.isascii():
        return None
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    at = _Offsets(code)
    nodes: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=at.start)
    if keyword is not None:
        wanted = next(k for k in call.keywords if k.arg == keyword)
        index = nodes.index(wanted)
    else:
        assert position is not None
        index = nodes.index(call.args[position])
    spans = [(at.start(node), at.end(node)) for node in nodes]
    if not _is_plain_list(code, at.end(call.func), spans):
        return None
    behind = nodes[index + 1 :]
    if keyword is None and not shifts:
        if any(isinstance(n, ast.expr) and not isinstance(n, ast.Starred) for n in behind):
            start, end = spans[index]
            return f"{code[:start]}None{code[end:]}"
    return _without_member(code, at.end(call.func), spans, index)


def _spliced_parameters(bare: str, name: str) -> str | None:
    """As ``remove_parameter``; None where only libcst knows what belongs to what."""
    if not bare.isascii():
        return None
    function = ast.parse(bare + "\n    pass").body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    arguments = function.args
    if (
        arguments.posonlyargs
        or arguments.kwonlyargs
        or arguments.vararg
        or arguments.kwarg
        or function.decorator_list
    ):
        return None
    at = _Offsets(bare)
    ends: list[ast.expr | ast.arg] = [*arguments.args]
    for number, default in enumerate(reversed(arguments.defaults), 1):
        ends[-number] = default
    spans = [(at.start(arg), at.end(end)) for arg, end in zip(arguments.args, ends)]
    head = re.match(r"(?:async[ \t]+)?def[ \t]+\w+", bare)
    if head is None or not _is_plain_list(bare, head.end(), spans):
        return None
    index = next(i for i, argument in enumerate(arguments.args) if argument.arg == name)
    return _without_member(bare, head.end(), spans, index)


_Member = Union[ast.expr, ast.keyword, ast.arg]


class _Offsets:
    """Indices into a text of ASCII, of its nodes."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *(match.end() for match in LINE_END.finditer(text))]

    def start(self, node: _Member) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: _Member) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset


def _is_plain_list(text: str, opening: int, spans: list[tuple[int, int]]) -> bool:
    """Whether nothing but one comma and white space stands between members.

    A comment, a parenthesis around a member or a line continued by ``\\`` does not.
    """
    gaps = [text[a[1] : b[0]] for a, b in zip(spans, spans[1:])]
    return (
        re.fullmatch(r"[ \t]*\(\s*", text[opening : spans[0][0]]) is not None
        and all(re.fullmatch(r"\s*,\s*", gap) for gap in gaps)
        and re.match(r"\s*,?\s*\)", text[spans[-1][1] :]) is not None
    )


def _without_member(text: str, opening: int, spans: list[tuple[int, int]], index: int) -> str:
    start, end = spans[index]
    if len(spans) == 1:
        opened, closed = text.index("(", opening), text.index(")", end)
        return text[: opened + 1] + text[closed:]
    if index + 1 < len(spans):
        return text[:start] + text[spans[index + 1][0] :]
    return text[: spans[index - 1][1]] + text[end:]  # the one before takes over its end


# -- all others ------------------------------------------------------------------


def _without_parameter(bare: str, name: str) -> str:
    import libcst as cst

    module = cst.parse_module(bare + "\n    pass\n")
    function = cst.ensure_type(module.body[0], cst.FunctionDef)
    parameters = function.params
    for group in ("params", "kwonly_params", "posonly_params"):
        members = list(getattr(parameters, group))
        for index, parameter in enumerate(members):
            if parameter.name.value == name:
                removed = members.pop(index)
                if members and index == len(members):
                    members[-1] = members[-1].with_changes(
                        comma=removed.comma, whitespace_after_param=removed.whitespace_after_param
                    )
                changes: dict[str, object] = {group: members}
                star = isinstance(parameters.star_arg, cst.ParamStar)
                if group == "kwonly_params" and star and not members:
                    # A bare `*` stands before nothing.
                    before = list(parameters.params)
                    if before:
                        before[-1] = before[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                    changes |= {"star_arg": cst.MaybeSentinel.DEFAULT, "params": before}
                parameters = parameters.with_changes(**changes)
    code = module.with_changes(body=[function.with_changes(params=parameters)]).code
    return code[: code.rindex("pass")]


def _without_argument(code: str, keyword: str | None, position: int | None, shifts: bool) -> str:
    import libcst as cst

    call = cst.ensure_type(cst.parse_expression(code), cst.Call)
    arguments = list(call.args)
    if keyword is not None:
        index = next(i for i, a in enumerate(arguments) if a.keyword and a.keyword.value == keyword)
    else:
        assert position is not None
        index = position
        behind = arguments[index + 1 :]
        if not shifts and any(a.keyword is None and not a.star for a in behind):
            arguments[index] = arguments[index].with_changes(value=cst.Name("None"))
            return cst.Module([]).code_for_node(call.with_changes(args=arguments))
    removed = arguments.pop(index)
    if not arguments:
        bare = cst.SimpleWhitespace("")
        call = call.with_changes(args=(), whitespace_before_args=bare)
        return cst.Module([]).code_for_node(call)
    if index == len(arguments):  # it was the last: the one before takes over its end
        arguments[-1] = arguments[-1].with_changes(
            comma=_without_comment(removed.comma, cst),
            whitespace_after_arg=_without_comment_space(removed.whitespace_after_arg, cst),
        )
    return cst.Module([]).code_for_node(call.with_changes(args=arguments))


def _without_comment(comma: object, cst: object) -> object:
    """The comma of a removed argument, without a comment that was moved elsewhere."""
    import libcst

    if isinstance(comma, libcst.Comma):
        return comma.with_changes(
            whitespace_after=_without_comment_space(comma.whitespace_after, cst)
        )
    return comma


def _without_comment_space(space: object, cst: object) -> object:
    import libcst

    if isinstance(space, libcst.ParenthesizedWhitespace):
        return space.with_changes(
            first_line=space.first_line.with_changes(
                comment=None, whitespace=libcst.SimpleWhitespace("")
            ),
            empty_lines=[line for line in space.empty_lines if line.comment is None],
        )
    return space
