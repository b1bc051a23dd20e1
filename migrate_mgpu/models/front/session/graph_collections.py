"""What TF1 runs before something else: its collections, and operations in blocks."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of

_COLLECTION = "update_ops"


def is_update_ops(module: Module, node: ast.AST) -> bool:
    """`tf.get_collection(tf.GraphKeys.UPDATE_OPS)`, or a name that has nothing else."""
    if isinstance(node, ast.Name) and node in module.names.scope_of_name:
        bindings = module.names.bindings_of(node)
        values = [binding.value for binding in bindings]
        return bool(values) and all(
            isinstance(value, ast.Call) and is_update_ops(module, value) for value in values
        )
    if not isinstance(node, ast.Call) or name_of(module, node) != "get_collection":
        return False
    if len(node.args) != 1 or node.keywords:
        return False
    key = node.args[0]
    return name_of(module, key) == "GraphKeys.UPDATE_OPS" or constant(key) == _COLLECTION


def is_dependency(module: Module, statement: ast.stmt) -> bool:
    """`with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):`"""
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return False
    call = statement.items[0].context_expr
    return (
        isinstance(call, ast.Call)
        and name_of(module, call) == "control_dependencies"
        and len(call.args) == 1
        and is_update_ops(module, call.args[0])
    )


def is_ordering(module: Module, statement: ast.stmt) -> bool:
    """`with tf.control_dependencies([apply, averages]): train = tf.no_op()`, in names alone."""
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return False
    item = statement.items[0]
    call = item.context_expr
    if not isinstance(call, ast.Call) or name_of(module, call) != "control_dependencies":
        return False
    if len(call.args) != 1 or call.keywords or item.optional_vars is not None:
        return False
    given = call.args[0]
    if not isinstance(given, (ast.List, ast.Tuple)):
        return False
    body = statement.body[0] if len(statement.body) == 1 else None
    made = body.value if isinstance(body, ast.Assign) else None
    return (
        all(isinstance(one, ast.Name) for one in given.elts)
        and isinstance(made, ast.Call)
        and (
            name_of(module, made) == "no_op"
            or (isinstance(made.func, ast.Attribute) and made.func.attr == "apply")
        )
    )
