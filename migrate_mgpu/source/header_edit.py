"""A function's header changed as a libcst tree: parameters that go."""

from __future__ import annotations

import ast

from migrate_mgpu.source.members import without
from migrate_mgpu.source.source import LINE_END, Edit, Source


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


def smallest_edit(start: int, old: str, new: str) -> Edit:
    """The edit between two texts that leaves what they begin and end with alone."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])
