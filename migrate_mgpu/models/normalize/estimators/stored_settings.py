"""A setting that a model_fn stores in its `params`, and reads from there: the name that it has.

`params["classes"] = classes` goes, and `params["classes"]` below it becomes `classes`. The
Estimator gives each call a copy of `params`, so nobody else sees what is stored.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PARAMS = "params"


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such setting; none where there is none."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, node = function.module, function.node
    if all(one.arg != _PARAMS for one in (*node.args.args, *node.args.kwonlyargs)):
        return {}
    names = module.names
    mentions = names.mentions(_PARAMS, names.scopes[node])
    asked = [names.parents[one] for one in mentions]
    if not all(
        isinstance(one, ast.Subscript) and isinstance(constant(one.slice), str) for one in asked
    ):
        return {}  # what is given all of them may read the setting, or give it another value
    for statement in (one for one in walk(node) if isinstance(one, ast.Assign)):
        found = _edits(module, node, statement, [o for o in asked if isinstance(o, ast.Subscript)])
        if found:
            return {module: found}
    return {}


def _edits(
    module: Module, node: ast.FunctionDef, statement: ast.Assign, asked: list[ast.Subscript]
) -> list[Edit]:
    names, source = module.names, module.source
    target, value = statement.targets[0], statement.value
    layout = Layout(source, statement)
    if len(statement.targets) != 1 or not isinstance(target, ast.Subscript):
        return []
    if target not in asked:
        return []
    if not isinstance(value, ast.Name) or names.only_binding(value) is None:
        return []
    above = [*names.ancestors(statement)]
    if not layout.owns_lines or not _always(node, above) or names.is_parameter(value):
        return []
    block = next(one for one in above if isinstance(one, (ast.With, ast.FunctionDef)))
    if len(block.body) < 2:
        return []
    key = constant(target.slice)
    same = [one for one in asked if constant(one.slice) == key and one is not target]
    late = all(one.lineno > statement.lineno for one in same)
    if not same or not late or not all(isinstance(one.ctx, ast.Load) for one in same):
        return []
    return [layout.replace([]), *(Edit(*source.span(one), value.id) for one in same)]


def _always(node: ast.FunctionDef, above: list[ast.AST]) -> bool:
    """Whether a statement of a function is run once, each time that the function is."""
    inside = above[: above.index(node)]
    return all(isinstance(one, ast.With) for one in inside)
