"""What a person would clean up behind moved code: orphaned variables, one scope after another."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.source import BlockEdit, Edit, Source
from migrate_mgpu.source.statements import Layout


def orphans(
    settings: Iterable[Setting],
    moves: EditSet,
    imported: AbstractSet[Module],
) -> list[tuple[Module, ast.stmt]]:
    """Assignments of variables that only fed options and are not mentioned any more.

    ``moves`` is what became of the options.

    Only plain values are meant (`off = RewriterConfig.OFF`): a call may do more than
    give a value. One with a comment stays, as every comment does, and one of a module
    that others import (``imported``).
    """
    found: dict[ast.stmt, Module] = {}
    for setting in settings:
        module = setting.module
        names = module.names
        for node in walk(setting.value):
            if not isinstance(node, ast.Name):
                continue
            home = names.defining_scope(node.id, names.scope_of_name[node])
            if home is None or home.is_class or (home.is_module and module in imported):
                continue
            bindings = home.bindings[node.id]
            statement = names.statement(bindings[0].node)
            if len(bindings) != 1 or not _is_plain(bindings[0].value):
                continue
            rest = [m for m in names.mentions(node.id, home) if m is not bindings[0].node]
            layout = Layout(module.source, statement)
            if (
                all(is_inside(module, mention, moves.gone) for mention in rest)
                and not any(is_inside(module, mention, moves.moved) for mention in rest)
                and layout.owns_lines
                and not layout.trailing_comment
                and len(names.block(statement)) > 1
            ):
                found[statement] = module
    return [(module, statement) for statement, module in found.items()]


def _is_plain(value: ast.expr | None) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, (ast.Constant, ast.Name))


def one_scope(source: Source, edits: list[Edit]) -> list[Edit]:
    """The edits, where models that follow line on line are made in one ``scope()``."""
    found: list[Edit] = []
    open_header = ""
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        header = edit.header if isinstance(edit, BlockEdit) else ""
        between = source.text[found[-1].end : edit.start] if found else ""
        follows = not between.strip() and between.count("\n") == 1
        if header and header == open_header and follows:
            stands = len(between.rpartition("\n")[2])  # of the body's indentation
            lead = header.rpartition("\n")[2][stands:]
            edit = Edit(edit.start, edit.end, lead + edit.new[len(header) :])
        open_header = header
        found.append(edit)
    return found
