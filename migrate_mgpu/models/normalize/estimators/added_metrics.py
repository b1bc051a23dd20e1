"""`tf.estimator.add_metrics(estimator, metric_fn)` around the Estimator's constructor.

``estimator = DNNRegressor(...)`` / ``estimator = add_metrics(estimator, rmse)``: the Estimator is
made where it gets the metrics, if nothing has it, nor changes what it is given, in between.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import adds_metrics
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments, without_paragraph


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the Estimator cannot be made there."""
    module, names, statement = flow.module, flow.module.names, flow.statement
    source = module.source
    if not isinstance(statement, ast.Assign) or statement.value is not flow.call:
        return {}
    if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
        return {}
    target = statement.targets[0]
    home = names.defining_scope(target.id, names.scope_of_name[target])
    block = names.block(statement)
    behind = block[block.index(statement) + 1 :]
    for place in behind:
        mentions = [
            part for part in walk(place) if isinstance(part, ast.Name) and part.id == target.id
        ]
        value = statement_value(place)
        if isinstance(value, ast.Call) and adds_metrics(module, value):
            loads = [part for part in mentions if isinstance(part.ctx, ast.Load)]
            taken = len(loads) == 1 and names.taker(loads[0]) is value
            first, last = Layout(source, statement), Layout(source, place)
            if not taken or not first.owns_lines or not last.owns_lines or home is None:
                return {}
            if isinstance(place, ast.Assign) and not _is_last(flow, place, target):
                return {}
            if first.indent != last.indent or comments(source.code(statement)):
                return {}
            made = Edit(*source.span(loads[0]), source.code(flow.call))
            return {module: [without_paragraph(source, statement), made]}
        if mentions or not _is_harmless(flow, place):
            return {}
    return {}


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_last(flow: EstimatorFlow, place: ast.Assign, target: ast.Name) -> bool:
    """Whether no variable has the Estimator without its metrics any more."""
    names = flow.module.names
    if len(place.targets) == 1 and _names(place.targets[0], target.id):
        return True
    home = names.defining_scope(target.id, names.scope_of_name[target])
    mentions = names.mentions(target.id, home) if home is not None else []
    return len([m for m in mentions if isinstance(m.ctx, ast.Load)]) == 1


def _is_harmless(flow: EstimatorFlow, statement: ast.stmt) -> bool:
    """Whether a statement in between changes nothing that the Estimator is given."""
    if isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if not isinstance(statement, ast.Assign):
        return False
    given = {part.id for part in ast.walk(flow.call) if isinstance(part, ast.Name)}
    named = all(isinstance(one, ast.Name) and one.id not in given for one in statement.targets)
    return named and not any(isinstance(part, ast.Call) for part in ast.walk(statement))
