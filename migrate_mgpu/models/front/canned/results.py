"""Which results of an evaluation a program looks at."""

from __future__ import annotations

import ast
import re

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import EVALUATE


def wanted_results(flow: EstimatorFlow, graph: CallGraph) -> set[str] | None:
    """The keys that a program reads; None where it shows, or hands on, the whole result."""
    values = ValueFlow(graph)
    found: set[str] = set()
    for call in flow.driving.calls:
        for mention in values.uses(call.module, call.node) if call.kind == EVALUATE else ():
            keys = keys_of(mention)
            if keys is None:
                return None
            found |= keys
    return found


def keys_of(mention: Value) -> set[str] | None:
    """The keys that a mention of a result reads; None where it is shown, or handed on, whole."""
    node = mention.node
    assert node is not None
    parents = mention.module.names.parents
    parent = parents[node]
    if isinstance(parent, ast.Expr):
        return set()
    if isinstance(parent, ast.Subscript) and parent.value is node:
        key = constant(parent.slice)
        return {key} if isinstance(key, str) else None
    if isinstance(parent, ast.Attribute) and parent.attr == "get":
        call = parents[parent]
        key = constant(call.args[0]) if isinstance(call, ast.Call) and call.args else None
        return {key} if isinstance(key, str) else None
    if isinstance(parent, ast.keyword) and parent.arg is None:  # '{loss}'.format(**result)
        call = parents[parent]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            pattern = constant(call.func.value)
            if call.func.attr == "format" and isinstance(pattern, str):
                return set(re.findall(r"\{([\w/]+)", pattern))
    if isinstance(parent, ast.BinOp) and parent.right is node:  # '%(loss)f' % result
        pattern = constant(parent.left)
        if isinstance(pattern, str) and "%(" in pattern:
            return set(re.findall(r"%\(([^)]+)\)", pattern))
    return None
