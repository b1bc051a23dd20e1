"""Blocks whose lines begin with spaces and tabs, indented as the rest of their file."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.source.blocks import lines_in_strings
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import is_comment

MIXED = " \t"  # how wide a tab behind spaces is depends on who reads it


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for the outermost such blocks; none where there is none."""
    if MIXED not in module.source.text:
        return []
    return _in(module, module.tree)


def _in(module: Module, node: ast.AST) -> list[Edit]:
    source = module.source
    found: list[Edit] = []
    for body in _bodies(node):
        indent = source.indent_of(body[0])
        if MIXED not in indent or isinstance(node, ast.Module):
            found += [edit for statement in body for edit in _in(module, statement)]
            continue
        new = source.indent_of(node) + source.indent_unit
        inside = lines_in_strings(source, node)
        first = body[0].lineno
        while is_comment(source.line_text(first - 1)):
            first -= 1
        for number in range(first, (body[-1].end_lineno or body[-1].lineno) + 1):
            start = source.line_starts[number - 1]
            if number not in inside and source.line_text(number).startswith(indent):
                found.append(Edit(start, start + len(indent), new))
    return found


def _bodies(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a statement, those of `else` and of handlers too."""
    fields = (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
    found = [one for one in fields if isinstance(one, list) and one]
    for name in ("handlers", "cases"):
        for part in getattr(node, name, []):
            found += _bodies(part)
    return found
