"""Functions that do nothing but return a RunConfig: it is as if their caller made it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.estimators.parts import RunConfig
from migrate_mgpu.models.front.estimators.visibility import known_at
from migrate_mgpu.models.ir import Construction


def helper_settings(made: Construction, values: ValueFlow) -> RunConfig:
    """A RunConfig with its settings as its caller knows them; as it is where it has none."""
    config = RunConfig(made.kind, made.module, made.node, made.arguments)
    module, statement = made.module, config.statement
    function = values.graph.enclosing(module, made.node)
    if function is None or not isinstance(statement, ast.Return) or not only_returns(function):
        return config
    if statement.value is not made.node or function.owner is not None:
        return config
    calls = values.calls(function)
    if calls is None or len(calls) != 1 or calls[0].module is not module:
        return config
    call = calls[0].call
    assert call is not None
    known = {
        name: known_at(values, module, node, module, call) for name, node in made.arguments.items()
    }
    if any(node is None for node in known.values()):
        return config
    arguments = {name: node for name, node in known.items() if node is not None}
    return replaced(config, helper=function, outer=call, arguments=arguments)


def only_returns(function: Function) -> bool:
    """Whether a function is one `return`, and nothing more than a docstring before it."""
    node = function.node
    if node.decorator_list or isinstance(node, ast.AsyncFunctionDef):
        return False
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    return len(body) == 1 and isinstance(body[0], ast.Return)
