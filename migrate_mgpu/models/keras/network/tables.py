"""A table of words that a network has: made once, in `__init__`, and looked up in `call`."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.lookups import table_text
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.source.style import FileStyle


def tables(
    module: Module, style: FileStyle, settings: Iterable[ast.stmt]
) -> dict[ast.AST, Replacement]:
    """What stands for each call that makes a table, in a statement that gives it a name.

    Raises:
        Refused: it is given something that TF2's tables are not known to do.
    """
    found: dict[ast.AST, Replacement] = {}
    for statement in sorted(settings, key=position):
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or not isinstance(statement, ast.Assign):
            continue
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
            continue
        text = table_text(module, call.func, style)
        if text is not None:
            # Lines of a statement of several move with it, those of one of one line do not.
            indent = module.source.indent_of(statement)
            indent += style.indent if statement.lineno == statement.end_lineno else ""
            column = len(f"{indent}self.{statement.targets[0].id} = ")
            fitted = text if text[:1] == "(" else style.fitted(text, indent, column, nested=True)
            found[call] = _written(fitted)
    return found


def _written(text: str) -> Replacement:
    def write(context: Context) -> str:
        return text

    return write
