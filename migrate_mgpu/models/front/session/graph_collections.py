"""What TF1 runs before something else: its collections, and operations in blocks."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of

_COLLECTION = "update_ops"
COLLECTION = ("key", "scope")  # what `tf.get_collection` is given


def is_update_ops(module: Module, node: ast.AST) -> bool:
    """Whether an expression is what moves averages, and nothing else."""
    return update_ops(module, node) is not None


def update_ops(module: Module, node: ast.AST) -> ast.Call | None:
    """`tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)`, also by a name, or in a `tf.group`."""
    if isinstance(node, ast.Starred):
        return update_ops(module, node.value)
    if isinstance(node, ast.Name) and node in module.names.scope_of_name:
        values = [binding.value for binding in module.names.bindings_of(node)]
        found = [update_ops(module, value) if value is not None else None for value in values]
        alike = len(found) == 1 or all(one is not None and _is_of_all(one) for one in found)
        return found[0] if found and alike else None
    if not isinstance(node, ast.Call):
        return None
    name = name_of(module, node)
    if name == "group" and len(node.args) == 1 and not node.keywords:
        return update_ops(module, node.args[0])
    if name != "get_collection" or len(node.args) + len(node.keywords) > 2:
        return None
    key = by_parameter(node, COLLECTION).get("key")
    asks = name_of(module, key) == "GraphKeys.UPDATE_OPS" or constant(key) == _COLLECTION
    return node if key is not None and asks else None


def _is_of_all(call: ast.Call) -> bool:
    """Whether a collection is asked for without a scope."""
    return len(call.args) + len(call.keywords) == 1


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


def waits_for(module: Module, statement: ast.AST) -> list[ast.expr]:
    """What is computed before a step: `with tf.control_dependencies(losses): train = ...`.

    By names alone, and around one statement that applies gradients. `UPDATE_OPS` are told apart.
    """
    if not isinstance(statement, ast.With) or len(statement.items) != 1:
        return []
    if is_dependency(module, statement):
        return []
    call, made = statement.items[0].context_expr, statement.body[0]
    if not isinstance(call, ast.Call) or name_of(module, call) != "control_dependencies":
        return []
    if len(call.args) != 1 or call.keywords or statement.items[0].optional_vars is not None:
        return []
    value = made.value if isinstance(made, ast.Assign) and len(statement.body) == 1 else None
    func = value.func if isinstance(value, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr not in ("minimize", "apply_gradients"):
        return []
    given = call.args[0]
    named = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    return named if all(isinstance(one, ast.Name) for one in named) else []


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
