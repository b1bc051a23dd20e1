"""Collections that a script fills and reads itself, as lists of what it put there.

    tf.add_to_collection('losses', decay)
    tf.add_to_collection('losses', error)
    loss = tf.add_n(tf.get_collection('losses'))

becomes `loss = tf.add_n([decay, error])`, where all of it stands in the script's own line.
`collection_lists.py` does the same for functions, which take and return their lists.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.layers.collection_lists import by_collection
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ADD = "add_to_collection"
_GIVEN = ("name", "value")


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the collections of a script; none where one is used in another way.

    ``modules`` are all of its program.
    """
    found: list[Edit] = []
    for calls in by_collection(modules).values():
        filled = any(name_of(home, call) == _ADD for home, call in calls)
        if filled and all(home is module and _is_in_line(module, call) for home, call in calls):
            found += _written(module, [call for _, call in calls])
    return found


def _is_in_line(module: Module, call: ast.Call) -> bool:
    """Whether a call runs once, in the script's own line."""
    statement = module.names.statement(call)
    if not module.names.scope_at(statement).is_module:
        return False
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        return False
    around = [*module.names.ancestors(call)]
    inside = around[: around.index(statement)]
    outside = around[around.index(statement) + 1 :]
    return all(
        isinstance(one, (ast.Call, ast.BinOp, ast.keyword, ast.List, ast.Tuple)) for one in inside
    ) and all(isinstance(one, (ast.With, ast.Module)) or is_main_guard(one) for one in outside)


def _written(module: Module, calls: Sequence[ast.Call]) -> list[Edit]:
    names, source = module.names, module.source
    held: list[str] = []
    found: list[Edit] = []
    for call in sorted(calls, key=position):
        given = by_parameter(call, _GIVEN)
        statement = names.statement(call)
        if name_of(module, call) != _ADD:
            if [*given] != ["name"]:
                return []  # those of a scope
            found.append(Edit(*source.span(call), f"[{', '.join(held)}]"))
            continue
        value, layout = given.get("value"), Layout(source, statement)
        if value is None or len(given) != 2 or not layout.owns_lines:
            return []
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            return []
        if isinstance(value, ast.Name) and names.only_binding(value) is not None:
            held.append(value.id)
            alone = names.block(statement) == [statement]
            found.append(layout.replace(["pass"] if alone else []))
            continue
        key = constant(given["name"])
        assert isinstance(key, str)
        taken = [f"{key}_{number}" for number in range(1, len(calls) + 1)]
        fresh = names.fresh(names.module_scope, *(one for one in taken if one not in held))
        held.append(fresh)
        found.append(layout.replace(f"{fresh} = {source.code(value)}".split("\n")))
    return found
