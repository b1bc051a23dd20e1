"""A variable of a model_fn that takes the name of the array that it begins with.

    weights = np.vstack([known, [[0.0] * size]])
    weights = tf.Variable(weights, dtype=tf.float32)

The array is a setting of the model, the variable is its weight: it gets a name of its own.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such name; none where the array is read between or behind."""
    if flow.function is None or not flow.function.module.writable:
        return {}
    module = flow.function.module
    for call in module.names.calls:
        if name_of(module, call) == "Variable":
            edits = _edits(module, call)
            if edits:
                return {module: edits}
    return {}


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    made = names.parents[call]
    value = call.args[0] if call.args else None
    if not isinstance(made, ast.Assign) or not isinstance(value, ast.Name):
        return []
    if not _gives(made, value.id):
        return []
    block = names.block(made)
    above = block[block.index(made) - 1] if block.index(made) else None
    if not isinstance(above, ast.Assign) or not _gives(above, value.id):
        return []
    array = above.value
    if not isinstance(array, ast.Call):
        return []
    if not (names.qualname(array.func) or "").startswith("numpy."):
        return []
    if any(isinstance(one, ast.Name) and one.id == value.id for one in walk(array)):
        return []
    scope = names.scope_at(call)
    name = names.fresh(scope, f"{value.id}_values")
    return [Edit(*source.span(one), name) for one in (above.targets[0], value)]


def _gives(statement: ast.Assign, name: str) -> bool:
    target = statement.targets[0]
    return len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id == name
