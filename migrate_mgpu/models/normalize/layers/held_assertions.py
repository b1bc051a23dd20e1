"""Assertions of a tensor's shape that what makes the tensor says: they go, for they hold.

distances = tf.expand_dims(pairwise, 2)
assert distances.shape[2] == 1, "{}".format(distances.shape)

So do those that a variable is something: `assert global_step is not None`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_NEVER_NONE = {*VARIABLES.by_name, *COUNTERS} - {
    "train.get_global_step", "contrib.framework.get_global_step",
}  # fmt: skip
_EXPANDED = ("input", "axis", "name", "dim")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such statements."""
    if "assert " not in module.source.text or not session_calls(module):
        return []
    return [
        without_paragraph(module.source, node)
        for node in module.names.parents
        if isinstance(node, ast.Assert)
        and _holds(module, node.test)
        and len(module.names.block(node)) > 1
        and Layout(module.source, node).owns_lines
    ]


def _holds(module: Module, test: ast.expr) -> bool:
    """`x.shape[2] == 1`, of `x = tf.expand_dims(y, 2)`."""
    if _is_something(module, test):
        return True
    if (
        not isinstance(test, ast.Compare)
        or len(test.ops) > 1
        or not isinstance(test.ops[0], ast.Eq)
    ):
        return False
    size, number = test.left, constant(test.comparators[0])
    if not isinstance(size, ast.Subscript) or number != 1 or isinstance(number, bool):
        return False
    tensor, index = asked_of(size.value), constant(size.slice)
    made = module.names.only_value(tensor) if isinstance(tensor, ast.Name) else None
    if not isinstance(made, ast.Call) or name_of(module, made) != "expand_dims":
        return False
    given = by_parameter(made, _EXPANDED)
    axis = constant(given.get("axis") or given.get("dim"))
    return isinstance(axis, int) and not isinstance(axis, bool) and axis == index


def _is_something(module: Module, test: ast.expr) -> bool:
    """`step is not None`, of `step = tf.train.get_or_create_global_step()`."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return False
    if len(test.ops) > 1 or not isinstance(test.ops[0], ast.IsNot):
        return False
    made = module.names.only_value(test.left)
    name = name_of(module, made) if isinstance(made, ast.Call) else ""
    return is_none(test.comparators[0]) and name in _NEVER_NONE
