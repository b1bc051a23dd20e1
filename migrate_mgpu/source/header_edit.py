"""The headers of blocks: where their parts stand, and parameters that go, as a libcst tree."""

from __future__ import annotations

import ast
import io
import tokenize

from migrate_mgpu.core.records import record
from migrate_mgpu.source.members import without
from migrate_mgpu.source.source import LINE_END, Edit, Source


@record(frozen=True)
class Header:
    """Where the header of a function, a class or a block stands in the text.

    ``name`` is the span of a function's or class's name, ``end`` is behind the colon;
    ``commented``: there are comments before that.
    """

    name: tuple[int, int]
    end: int
    commented: bool


def read_header(source: Source, statement: ast.stmt) -> Header:
    """The header of a statement that has a block."""
    start, stop = source.span(statement)
    text = source.text[start:stop]
    lines = [start]
    name: tuple[int, int] | None = None
    depth, lambdas, before, commented = 0, 0, "", False
    lines += [start + line_end.end() for line_end in LINE_END.finditer(text)]
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        place = lines[token.start[0] - 1] + token.start[1]
        commented |= token.type == tokenize.COMMENT
        if name is None and before in ("def", "class"):
            name = place, place + len(token.string)
        before = token.string
        lambdas += before == "lambda" and not depth
        if token.type != tokenize.OP:  # a bracket in an f-string is a token of another type
            continue
        depth += (before in ("(", "[", "{")) - (before in (")", "]", "}"))
        if before == ":" and not depth:
            if not lambdas:
                return Header(name or (start, start), place + 1, commented)
            lambdas -= 1
    raise ValueError("a statement without a block has no header")


def without_parameter(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, *names: str
) -> Edit:
    """The edit that takes parameters out of a function."""
    import libcst as cst

    start, end = (
        source.offset(function.lineno, function.col_offset),
        source.span(function.body[0])[0],
    )
    header = source.text[start:end].rstrip()
    line_end = LINE_END.search(header)
    newline = line_end.group() if line_end else "\n"
    body = f"{newline} pass"
    module = cst.parse_module(header + body)
    node = cst.ensure_type(module.body[0], cst.FunctionDef)
    parameters = node.params
    space = node.whitespace_before_params
    changes: dict[str, object] = {}
    for group in ("posonly_params", "params", "kwonly_params"):
        members = getattr(parameters, group)
        gone = {i for i, member in enumerate(members) if member.name.value in names}
        kept, space = without(members, gone, space)
        changes[group] = kept
        if gone and not kept and group == "posonly_params":
            changes["posonly_ind"] = cst.MaybeSentinel.DEFAULT
        if gone and not kept and isinstance(parameters.star_arg, cst.ParamStar):
            if group == "kwonly_params":  # the star would stand before nothing
                *before, last = parameters.params or (None,)
                ends = [last.with_changes(comma=cst.MaybeSentinel.DEFAULT)] if last else []
                changes |= {"star_arg": cst.MaybeSentinel.DEFAULT, "params": [*before, *ends]}
    parameters = parameters.with_changes(**changes)
    node = node.with_changes(params=parameters, whitespace_before_params=space)
    if not cst.Module([]).code_for_node(parameters):
        node = node.with_changes(whitespace_before_params=cst.SimpleWhitespace(""))
    new = module.with_changes(body=[node]).code.removesuffix(body)
    return smallest_edit(start, header, new)


def with_parameters(source: Source, function: ast.FunctionDef, *names: str) -> Edit:
    """The edit that gives a function more parameters, where all that it has are plain ones."""
    new = ", ".join(names)
    if function.args.args:
        end = source.span(function.args.args[-1])[1]
        return Edit(end, end, f", {new}")
    opened = source.text.index("(", read_header(source, function).name[1]) + 1
    return Edit(opened, opened, new)


def smallest_edit(start: int, old: str, new: str) -> Edit:
    """The edit between two texts that leaves what they begin and end with alone."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])
