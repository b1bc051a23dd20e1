"""`global batch_size` in a function that only reads it: the statement goes.

Python finds the module's variable without it. It says something only where the function gives the
variable a value, and such a function stays as it is.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements; none where there is no session."""
    if "global " not in module.source.text or not session_calls(module):
        return []
    found: list[Edit] = []
    for node in module.names.parents:
        if not isinstance(node, ast.Global) or len(module.names.block(node)) < 2:
            continue
        # Within another function a name might be that one's own.
        around = [one for one in module.names.ancestors(node) if isinstance(one, _FUNCTIONS)]
        if len(around) != 1 or not Layout(module.source, node).owns_lines:
            continue
        if not set(node.names) & _given(around[0]):
            found.append(without_paragraph(module.source, node))
    return found


def _given(function: ast.AST) -> set[str]:
    """The names that a function, or one inside of it, may give a value, or calls its own."""
    found: set[str] = set()
    for part in walk(function):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(part.name)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.alias):
            found.add((part.asname or part.name).partition(".")[0])
        elif isinstance(part, ast.ExceptHandler) and part.name is not None:
            found.add(part.name)
    return found
