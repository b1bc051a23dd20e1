"""Labels where a loss has its predictions: ``mean_squared_error(output, labels)``.

TF1 makes both floats before it compares them, so a loss that is the same either way is written
with each in its own place.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.losses import LOSSES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

_SYMMETRIC = ("squared_error", "absolute_error", "huber")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such losses of a model_fn."""
    if flow.function is None:
        return {}
    module, found = flow.function.module, []
    for call in (part for part in walk(flow.function.node) if isinstance(part, ast.Call)):
        row = LOSSES.by_name.get(name_of(module, call))
        if row is None or row.kind not in _SYMMETRIC:
            continue
        given = by_parameter(call, row.signature)
        first, second = given.get(row.labels), given.get(row.outputs)
        if first is not None and isinstance(second, ast.Name) and second.id == "labels":
            code, span = module.source.code, module.source.span
            found += [Edit(*span(first), code(second)), Edit(*span(second), code(first))]
    return {module: found} if found else {}
