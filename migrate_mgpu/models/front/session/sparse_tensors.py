"""Which parts of a graph are seen to be dense: sparse tensors are other objects in TF2."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import KEEPS_SPARSE, MAKES_SPARSE, SPARSE_DECODERS
from migrate_mgpu.api.tables import name_of

_DEEP = 30
_PARTS = ("values", "indices", "dense_shape")


def is_dense(graph: CallGraph, module: Module, node: ast.expr, deep: int = 0) -> bool:
    """Whether a part of the graph is seen not to be a sparse tensor, nor to hold one."""
    if deep > _DEEP:
        return False
    if isinstance(node, ast.Name):
        bindings = module.names.bindings_of(node)
        values = [one.value for one in bindings]
        if not values or not all(isinstance(one, ast.expr) for one in values):
            return False
        return all(is_dense(graph, module, one, deep + 1) for one in values if one is not None)
    if isinstance(node, ast.BinOp):
        return all(is_dense(graph, module, one, deep + 1) for one in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        return is_dense(graph, module, node.value, deep + 1)
    if isinstance(node, ast.Attribute):
        return node.attr in _PARTS
    if isinstance(node, ast.Call):
        return _is_dense_call(graph, module, node, deep)
    return isinstance(node, ast.Constant)


def _is_dense_call(graph: CallGraph, module: Module, call: ast.Call, deep: int) -> bool:
    name = name_of(module, call)
    if name in KEEPS_SPARSE:
        return bool(call.args) and is_dense(graph, module, call.args[0], deep + 1)
    if name:
        return name not in MAKES_SPARSE
    target = graph.target(module, call.func)
    if target is None or not isinstance(target.node, ast.FunctionDef):
        return False
    returned = [one.value for one in walk(target.node) if isinstance(one, ast.Return)]
    known = [one for one in returned if one is not None]
    return bool(known) and all(is_dense(graph, target.module, one, deep + 1) for one in known)


def is_sparse(module: Module, node: ast.expr) -> bool:
    """Whether a part of the graph is seen to be a sparse tensor."""
    if isinstance(node, ast.Name):
        value = module.names.only_value(node)
        return value is not None and is_sparse(module, value)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and _are_decoded(module, node.value)
    name = name_of(module, node) if isinstance(node, ast.Call) else ""
    if name in KEEPS_SPARSE and isinstance(node, ast.Call):
        return bool(node.args) and is_sparse(module, node.args[0])
    return name in MAKES_SPARSE and name not in SPARSE_DECODERS


def _are_decoded(module: Module, name: ast.Name) -> bool:
    """Whether a name is the list of `decoded, log_probability = tf.nn.ctc_greedy_decoder(...)`."""
    binding = module.names.only_binding(name)
    statement = module.names.statement(binding.node) if binding is not None else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return False
    first = bool(target.elts) and binding is not None and target.elts[0] is binding.node
    return first and name_of(module, statement.value) in SPARSE_DECODERS
