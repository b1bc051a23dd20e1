"""Variables without a name of the author's: whether all towers have the same ones.

TF1 counts such names: `dense`, `dense_1`. The count begins anew in each `tf.variable_scope`
with a name, and ends with one that a tower opens.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.name_scopes import scope_kind

_WITHOUT = ("Flatten", "Dropout", "MaxPooling", "AveragePooling")  # they have no variables
Target = Callable[[Module, ast.Call], "Function | None"]


def reuses(module: Module, loop: ast.For) -> bool:
    """Whether towers behind the first may make no variables: `reuse_variables()` in the loop."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "reuse_variables"
        and isinstance(node.func.value, ast.Call)
        and name_of(module, node.func.value) == "get_variable_scope"
        for node in walk(loop)
    )


def counted(module: Module, node: ast.AST, home: ast.AST, target: Target) -> ast.AST | None:
    """What makes variables by names that go on counting, in ``node``, a part of ``home``.

    ``target`` tells which function a call reaches.
    """
    return _counted(module, node, home, target, frozenset())


def _counted(
    module: Module, node: ast.AST, home: ast.AST, target: Target, seen: frozenset[ast.AST]
) -> ast.AST | None:
    for call in walk(node):
        if not isinstance(call, ast.Call) or _begins_anew(module, call, home):
            continue
        row = LAYERS.by_name.get(name_of(module, call))
        if row is not None and row.inputs and not row.keras.startswith(_WITHOUT):
            if not any(k.arg in ("name", "scope") and not is_none(k.value) for k in call.keywords):
                return call
        first = _name_of(call)
        if scope_kind(module, call) == "variable_scope" and (first is None or is_none(first)):
            return call
        function = target(module, call)
        if function is not None and function.node not in seen:
            other, inner = function.module, function.node
            found = _counted(other, inner, inner, target, seen | {inner})
            if found is not None:
                return call
    return None


def _begins_anew(module: Module, node: ast.AST, home: ast.AST) -> bool:
    """Whether a scope around a node, within ``home``, begins the count anew."""
    for parent in module.names.ancestors(node):
        if parent is home:
            return False
        if isinstance(parent, ast.With) and not _holds(parent, node):
            for item in parent.items:
                call = item.context_expr
                if scope_kind(module, call) != "variable_scope" or not isinstance(call, ast.Call):
                    continue
                first = _name_of(call)
                if isinstance(constant(first), str) or (
                    isinstance(first, ast.Call) and name_of(module, first) == "get_variable_scope"
                ):
                    return True
    return False


def _name_of(call: ast.Call) -> ast.expr | None:
    """The name that a scope is given, also by its keyword."""
    named = (one.value for one in call.keywords if one.arg == "name_or_scope")
    return call.args[0] if call.args else next(named, None)


def _holds(block: ast.With, node: ast.AST) -> bool:
    """Whether a node stands in a block's header."""
    return any(part is node for item in block.items for part in walk(item))
