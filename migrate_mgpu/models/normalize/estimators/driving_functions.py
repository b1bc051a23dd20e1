"""A function of a script that trains, called once, where the script uses the model itself as well.

`run_experiment(config, hparams)` becomes the function's statements: the Estimator, which other
statements of the script make anew to evaluate it, is made and used in one scope then.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none, or the script uses no model."""
    module = flow.module
    around = [graph.enclosing(one.module, one.node) for one in flow.driving.calls]
    if None not in around:
        return {}
    for function in around:
        if function is None or function.module is not module:
            continue
        statement = _called_once(module, function, graph)
        node = function.node
        if statement is None or not isinstance(node, ast.FunctionDef):
            continue
        edit = MovedCall(module, module.tree, statement, node, again=True).edit()
        if edit is not None:
            return {module: [edit, without_function(module.source, node)]}
    return {}


def _called_once(module: Module, function: Function, graph: CallGraph) -> ast.Expr | None:
    """The statement of the script that is the one call of a function of its own."""
    references = graph.references(function)
    call = references[0].call if len(references) == 1 else None
    if function.node not in module.tree.body or call is None or references[0].module is not module:
        return None
    statement = module.names.statement(call)
    plain = isinstance(statement, ast.Expr) and statement.value is call
    return statement if plain and statement in module.tree.body else None  # type: ignore[return-value]
