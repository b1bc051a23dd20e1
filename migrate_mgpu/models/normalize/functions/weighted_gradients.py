"""Gradients of a tensor whose parts count with weights of their own: those of their sum.

    grads = tf.gradients(actions, weights, -action_grads)

becomes

    weighted = tf.reduce_sum(actions * tf.stop_gradient(-action_grads))
    grads = tf.gradients(weighted, weights)

The gradient that reaches the tensor is the same: each weight, once. Nothing passes through weights.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import COMPREHENSIONS
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.gradients import GRADIENTS
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ONE = (ast.Name, ast.Attribute, ast.Subscript)  # what may be one tensor, by how it is written
_LATE = (ast.Lambda, ast.IfExp, ast.BoolOp, *COMPREHENSIONS)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such call; none where there is none."""
    for call in calls_of_names(module).get("gradients", ()):
        edits = _edits(module, call)
        if edits:
            return edits
    return []


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    given = by_parameter(call, GRADIENTS)
    tensor, weights = given.get("ys"), given.get("grad_ys")
    if "**" in given or any(isinstance(one, ast.Starred) for one in call.args):
        return []
    if not isinstance(tensor, _ONE) or weights is None or is_none(weights):
        return []
    if not _is_one(weights):
        return []
    statement = names.statement(call)
    around = [*names.ancestors(call)]
    inside = around[: around.index(statement)]
    scope, layout = names.scope_at(statement), Layout(source, statement)
    if any(isinstance(one, _LATE) for one in inside) or not layout.owns_lines:
        return []
    if not isinstance(statement, (ast.Assign, ast.Return)) or not isinstance(
        call.func, ast.Attribute
    ):
        return []
    root = source.code(call.func.value)
    name = names.fresh(scope, "weighted", "weighted_sum")
    code = f"{root}.stop_gradient({source.code(weights)})"
    line = f"{name} = {root}.reduce_sum({source.code(tensor)} * {code})"
    if "\n" in line:
        return []
    edit = CallEdit(source, call, GRADIENTS)
    edit.value("ys", name)
    edit.drop("grad_ys")
    return [layout.insert_before([line]), *edit.edits()]


def _is_one(node: ast.expr) -> bool:
    """Whether an expression is no list: a name or its parts, with a sign or arithmetic."""
    if isinstance(node, ast.UnaryOp):
        return _is_one(node.operand)
    if isinstance(node, ast.BinOp):
        return all(isinstance(one, ast.Constant) or _is_one(one) for one in (node.left, node.right))
    return isinstance(node, _ONE)
