"""The last dimension of a tensor as the shape of variables, written as a list.

    params_shape = inputs.get_shape()[-1:]
    gamma = tf.get_variable("gamma", params_shape)

becomes `params_shape = [inputs.get_shape()[-1]]`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits; none where no variable has such a shape alone."""
    if "[-1:]" not in module.source.text:
        return []
    calls = calls_of_names(module).get("get_variable", ())
    signature = VARIABLES.by_name["get_variable"].signature
    shapes = {
        shape for call in calls if (shape := by_parameter(call, signature).get("shape")) is not None
    }
    found: dict[ast.expr, Edit] = {}
    for shape in shapes:
        value = shape
        if isinstance(shape, ast.Name):
            made = module.names.only_value(shape)
            if made is None or not _only_shapes(module, shape, shapes):
                continue
            value = made
        if isinstance(value, ast.Subscript) and _is_last(value.slice) and _is_shape(value.value):
            code = module.source.code(value.value)
            found[value] = Edit(*module.source.span(value), f"[{code}[-1]]")
    return list(found.values())


def _only_shapes(module: Module, name: ast.Name, shapes: set[ast.expr]) -> bool:
    """Whether all that reads a name makes variables of that shape."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    mentions = names.mentions(name.id, home) if home is not None else []
    return all(one in shapes for one in mentions if isinstance(one.ctx, ast.Load))


def _is_last(part: ast.expr) -> bool:
    """`[-1:]`"""
    if not isinstance(part, ast.Slice) or part.upper is not None or part.step is not None:
        return False
    return part.lower is not None and constant(part.lower) == -1


def _is_shape(node: ast.expr) -> bool:
    """`x.get_shape()`, `x.shape`, with `as_list()` behind it or not, of a name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.args or node.keywords or node.func.attr not in ("as_list", "get_shape"):
            return False
        inner = node.func.value
        if node.func.attr == "as_list":
            return _is_shape(inner)
        return isinstance(inner, ast.Name)
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "shape"
        and isinstance(node.value, ast.Name)
    )
