"""Estimators that share a folder: each goes on with the model of the one before it.

In TF2 a model takes over what is in its folder once, where it is made. That is the same
where one Estimator is done with before the next is made.
"""

from __future__ import annotations

import ast
from itertools import combinations

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import Expression

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def shared_folders(flows: list[EstimatorFlow], graph: CallGraph) -> None:
    """Marks Estimators of one file that share a folder and are used by turns."""
    folders: dict[tuple[int, str], list[tuple[EstimatorFlow, Module, ast.expr]]] = {}
    for flow in flows:
        given = flow.arguments.get("model_dir")
        places = [Expression(flow.module, given)] if given else flow.config.values("model_dir")
        for module, node in ((place.module, place.node) for place in places):
            key = id(flow.module), module.source.code(node)
            folders.setdefault(key, []).append((flow, module, node))
    for sharing in folders.values():
        for mine, other in combinations(sharing, 2):
            first, second = mine[0], other[0]
            if second in first.alternatives:
                continue
            if first is not second and not _one_after_the_other(first, second, graph):
                reason = "two Estimators share this model_dir: one continues with the other's model"
                advice = "create the second after the first is finished, or use one for both"
                for one, module, node in (mine, other):
                    one.problem(module, node, reason, advice)


def _one_after_the_other(first: EstimatorFlow, second: EstimatorFlow, graph: CallGraph) -> bool:
    module = first.module
    nodes = _at_home(first, graph), _at_home(second, graph)
    for flow, own in ((first, nodes[0]), (second, nodes[1])):
        scope = module.names.scope_at(flow.call)
        if any(m is not module or module.names.scope_at(n) is not scope for m, n in own):
            return False
    scopes = [module.names.scope_at(flow.call).node for flow in (first, second)]
    if scopes[0] is not scopes[1]:
        owners = [Function(module, node) for node in scopes if isinstance(node, _FUNCTIONS)]
        return len(owners) == 2 and not (
            _calls(owners[0], owners[1], graph) or _calls(owners[1], owners[0], graph)
        )
    around = [_loops(module, flow.call, {n for _, n in own}) for flow, own in
              zip((first, second), nodes)]  # fmt: skip
    for loops, others in ((around[0], nodes[1]), (around[1], nodes[0])):
        if any(loop in module.names.ancestors(node) for loop in loops for _, node in others):
            return False
    (start, end), (begin, stop) = (_span(module, {n for _, n in own}) for own in nodes)
    return end < begin or stop < start


def _at_home(flow: EstimatorFlow, graph: CallGraph) -> list[tuple[Module, ast.AST]]:
    """What is done with an Estimator, where functions that it is given do it at their calls."""
    module, scope = flow.module, flow.module.names.scope_at(flow.call)
    found = _nodes(flow)
    strange = [
        one for one in found if one[0] is not module or module.names.scope_at(one[1]) is not scope
    ]
    if not strange:
        return found
    around = [
        p for m, node in strange for p in (m.names.ancestors(node)) if isinstance(p, _FUNCTIONS)
    ]
    given = [
        (value.module, value.node)
        for value in ValueFlow(graph).places(module, flow.made)
        if value.node is not None
        and value.module is module
        and module.names.scope_at(value.node) is scope
    ]
    calls = [module.names.taker(node) for _, node in given if isinstance(node, ast.Name)]
    called = {
        target.node
        for call in calls
        if call is not None and (target := graph.target(module, call.func)) is not None
    }
    if (
        not all(any(p in called for p in m.names.ancestors(node)) for m, node in strange)
        or not around
    ):
        return found
    return [one for one in found if one not in strange] + list(given)


def _nodes(flow: EstimatorFlow) -> list[tuple[Module, ast.AST]]:
    """Where a flow's Estimator is made, and all that is done with it."""
    driving = flow.driving
    calls = [(call.module, call.node) for call in (*driving.calls, *driving.exports)]
    queries = [(query.module, query.node) for query in driving.queries]
    return [(flow.module, flow.call), *calls, *queries]


def _span(module: Module, nodes: set[ast.AST]) -> tuple[int, int]:
    """The first and the last line of what is done with an Estimator."""
    statements = [module.names.statement(node) for node in nodes]
    last = max(statement.end_lineno or statement.lineno for statement in statements)
    return min(statement.lineno for statement in statements), last


def _loops(module: Module, made: ast.Call, nodes: set[ast.AST]) -> set[ast.AST]:
    """Loops around a use that do not make the Estimator anew each time."""
    kinds = (ast.For, ast.While, ast.AsyncFor)
    around: set[ast.AST] = {
        p for node in nodes for p in module.names.ancestors(node) if isinstance(p, kinds)
    }
    return around - set(module.names.ancestors(made))


def _calls(function: Function, other: Function, graph: CallGraph) -> bool:
    """Whether a function may run another one, by calls that names tell, on any way."""
    seen: set[ast.AST] = set()
    todo = [function]
    while todo:
        current = todo.pop()
        if current.node in seen:
            continue
        seen.add(current.node)
        for node in ast.walk(current.node):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                target = graph.target(current.module, node)
                if target is not None:
                    todo.append(target)
    return other.node in seen
