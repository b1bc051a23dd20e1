"""A model_fn that gives `features` another value, which the rest of it looks at.

    if isinstance(features, dict):
        features = features['words'], features['lengths']

`features` stays what the model is given, and what is made of it gets a name of its own.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_GIVEN = "features"


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where `features` is what the model_fn was given, everywhere."""
    if flow.function is None or not isinstance(flow.function.node, ast.FunctionDef):
        return {}
    module, node = flow.function.module, flow.function.node
    names, source = module.names, module.source
    home = names.scopes[node]
    bound = home.bindings.get(_GIVEN, ())
    parameters = [one for one in bound if one.kind == "parameter"]
    if len(parameters) != 1 or len(bound) < 2 or not module.writable:
        return {}
    mentions = names.mentions(_GIVEN, home)
    changed = [one for one in mentions if isinstance(one.ctx, ast.Store)]
    body = [one for one in node.body if not _is_docstring(one)]
    if len(changed) != len(bound) - 1 or not body:
        return {}
    first = next(one for one in body if not {*mentions}.isdisjoint(walk(one)))
    layout = Layout(source, first)
    if not layout.owns_lines or any(isinstance(one.ctx, ast.Del) for one in mentions):
        return {}
    if any(isinstance(names.parents[one], ast.AugAssign) for one in changed):
        return {}
    name = names.fresh(home, "inputs", "given_features")
    edits = [Edit(*source.span(one), name) for one in mentions]
    return {module: [layout.insert_before([f"{name} = {_GIVEN}"]), *edits]}


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
