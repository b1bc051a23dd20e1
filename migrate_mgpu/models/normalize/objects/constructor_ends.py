"""What an object gets as the last thing that its constructor does."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.session.scope import leaves
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def may_be_added_to(module: Module, constructor: ast.FunctionDef) -> bool:
    """Whether every object comes to the end of its constructor, which has lines of its own."""
    plain = bool(constructor.args.args) and not leaves(constructor)
    return plain and Layout(module.source, constructor.body[-1]).owns_lines


def at_the_end(module: Module, constructor: ast.FunctionDef, lines: list[str]) -> Edit:
    """The edit that adds lines behind the last one of a constructor."""
    source, end = module.source, constructor.body[-1]
    indent, newline, at = source.indent_of(end), source.newline, Layout(source, end).next_line
    text = "".join(f"{indent}{line}{newline}" for line in lines)
    if not source.text[:at].endswith("\n"):
        text = newline + text.rstrip()
    return Edit(at, at, text)
