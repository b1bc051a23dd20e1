"""What makes embedding columns of one table: a function of the program's own in TF2.

TF2's ``tf.feature_column.shared_embeddings`` makes none in eager code. Plain embedding columns say
instead which table is theirs, to the class that asks them (``SHARED_COLUMN_TENSORS``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.definitions import defined_above
from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.feature_columns import SHARED_COLUMNS
from migrate_mgpu.models.ir import SharedColumns
from migrate_mgpu.source.source import Edit


def share_columns(result: EditSet, shared: Iterable[SharedColumns]) -> None:
    """Adds the edits of these calls, and the function that they ask, once in each module."""
    by_module: dict[Module, list[ast.Call]] = {}
    for one in shared:
        by_module.setdefault(one.module, []).append(one.call)
    for module, calls in by_module.items():
        names, style = module.names, style_at(module, calls[0])
        name = names.fresh(names.module_scope, SHARED_COLUMNS.name)
        first = min(calls, key=lambda call: call.lineno)
        above = [first, *names.ancestors(first)][-2]
        assert isinstance(above, ast.stmt)
        text = style.code(SHARED_COLUMNS.text, name=name).rstrip("\n")
        result.edit(module, defined_above(module, above, [text]))
        for call in calls:
            result.edit(module, Edit(*module.source.span(call.func), name))
            result.moved.update(ast.walk(call.func))
