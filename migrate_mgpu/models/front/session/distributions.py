"""Objects of TF1's probability distributions, and what is computed of them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.distributions import CLASSES, METHODS
from migrate_mgpu.api.tables import name_of


def method_of(module: Module, call: ast.Call, graph: CallGraph) -> str:
    """What a call computes of a distribution: `d.sample(1)`, `d.log_prob(x)`; else nothing."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in METHODS or call.keywords:
        return ""
    few = len(call.args) <= METHODS[func.attr]
    return func.attr if few and _is_distribution(module, func.value, graph, 0) else ""


def _is_distribution(module: Module, node: ast.expr | None, graph: CallGraph, depth: int) -> bool:
    """Whether an expression makes a distribution, is one's name, or a call that returns one."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in module.names.bindings_of(node)]
        return bool(values) and all(_is_distribution(module, v, graph, depth) for v in values)
    if not isinstance(node, ast.Call) or depth > 3:
        return False
    if name_of(module, node) in CLASSES:
        return True
    target = graph.target(module, node.func)
    if target is None or target.module is not module or target.owner is not None:
        return False
    returned = [part.value for part in walk(target.node) if isinstance(part, ast.Return)]
    return bool(returned) and all(_is_distribution(module, v, graph, depth + 1) for v in returned)
