"""What a person would clean up behind moved code: orphaned variables, one scope after another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.session_config.flows import Setting
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout

_SCOPE = re.compile(r"with [\w.]+\.scope\(\):\r?\n([ \t]+)")


def orphans(
    settings: Iterable[Setting],
    changes: EditSet,
    imported: AbstractSet[Module],
) -> list[tuple[Module, ast.stmt]]:
    """Assignments of variables that only fed options and are not mentioned any more.

    Only plain values are meant (`off = RewriterConfig.OFF`): a call may do more than
    give a value. One with a comment stays, as every comment does, and one of a module
    that others import (``imported``).
    """
    found: dict[ast.stmt, Module] = {}
    for setting in settings:
        module = setting.module
        names = module.names
        written = "\n".join(edit.new for edit in changes.edits.get(module, ()))
        for node in ast.walk(setting.value):
            if not isinstance(node, ast.Name) or re.search(rf"\b{node.id}\b", written):
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
                all(is_inside(module, mention, changes.gone) for mention in rest)
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
    head = ""
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        scope = _SCOPE.match(edit.new)
        lines = edit.new.splitlines()[1:]
        whole = scope and all(line.startswith(scope[1]) for line in lines if line.strip())
        own = scope[0] if scope and whole else ""
        between = source.text[found[-1].end : edit.start] if found else ""
        follows = not between.strip() and between.count("\n") == 1
        if scope and own and own == head and follows:
            unit = scope[1][len(between.rpartition("\n")[2]) :]
            edit = Edit(edit.start, edit.end, unit + edit.new[scope.end() :])
        head = own
        found.append(edit)
    return found
