"""TF1's global step that is asked for again: it is the variable that a name has already.

    step = tf.train.get_or_create_global_step()
    ...
    counted = tf.train.get_global_step()
    train_op = optimizer.minimize(loss, global_step=counted)

becomes `global_step=step`: a graph has one such variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.models.normalize.functions.reused_names import asks_for_names, is_written
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_GETS = ("train.get_global_step", "contrib.framework.get_global_step")
_GRAPHS = ("Graph", "reset_default_graph")  # each graph has a step of its own


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such call; none where there is none."""
    known = calls_of_names(module)
    if any(known.get(name) for name in _GRAPHS):
        return []
    calls = [call for name in COUNTERS for call in known.get(name, ())]
    calls = [call for call in sorted(calls, key=position) if not call.args and not call.keywords]
    for call in calls[1:]:
        name = next(_earlier(module, call, calls), None)
        edits = _replaced(module, call, name) if name is not None else []
        if edits:
            return edits
    return []


def _earlier(module: Module, call: ast.Call, calls: list[ast.Call]) -> Iterator[ast.Name]:
    """The names that the step has where a call asks for it: given before, whatever happens."""
    names = module.names
    around = {call, *names.ancestors(call)}
    for made in calls:
        statement = names.statement(made)
        if position(made) >= position(call) or name_of(module, made) in _GETS:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or statement.value is not made:
            continue
        if not isinstance(target, ast.Name) or len(statement.targets) > 1:
            continue
        block = names.block(statement)
        below = block[block.index(statement) + 1 :]
        same = names.scope_at(made) is names.scope_at(call)
        if same and names.only_binding(target) is not None and around.intersection(below):
            yield target


def _replaced(module: Module, call: ast.Call, name: ast.Name) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return [Edit(*source.span(call), name.id)]
    if not isinstance(target, ast.Name) or len(statement.targets) > 1:
        return []
    home = names.scope_of_name[target]
    mentions = [one for one in names.mentions(target.id, home) if one is not target]
    alone = names.only_binding(target) is not None and len(names.block(statement)) > 1
    if not alone or asks_for_names(module, home) or not Layout(source, statement).owns_lines:
        return []
    if not all(isinstance(one.ctx, ast.Load) and is_written(module, one) for one in mentions):
        return []
    if any(name.id in names.scope_of_name[one].bindings for one in mentions
           if names.scope_of_name[one] is not home):  # fmt: skip
        return []
    edits = [Edit(*source.span(one), name.id) for one in mentions]
    return [without_paragraph(source, statement), *edits]
