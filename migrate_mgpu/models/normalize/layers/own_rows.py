"""Tensors that keep their rows, where a number of rows is asked of the tensor itself.

    pool_shape = pool2.get_shape().as_list()
    reshaped = tf.reshape(pool2, [pool_shape[0], 3136])

becomes `reshaped = tf.reshape(pool2, [-1, 3136])`: what the rows have says how many there are.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such call, and for the shape that nothing else reads then."""
    for call in calls_of_names(module).get("reshape", ()):
        given = by_parameter(call, ("tensor", "shape", "name"))
        tensor, shape = given.get("tensor"), given.get("shape")
        if not isinstance(tensor, ast.Name) or not isinstance(shape, (ast.List, ast.Tuple)):
            continue
        if len(shape.elts) < 2 or any(constant(one) == -1 for one in shape.elts):
            continue
        asked = _shape_of_rows(shape.elts[0])
        if asked is None or not _is_of(module, asked, tensor):
            continue
        return [Edit(*module.source.span(shape.elts[0]), "-1"), *_unread(module, asked)]
    return []


def _shape_of_rows(node: ast.expr) -> ast.expr | None:
    """`shape` in `shape[0]` or `shape[0].value`."""
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    first = isinstance(node, ast.Subscript) and constant(node.slice) == 0
    return node.value if isinstance(node, ast.Subscript) and first else None


def _is_of(module: Module, shape: ast.expr, tensor: ast.Name) -> bool:
    """Whether a shape is that of a tensor, whose name has one value."""
    names = module.names
    value = names.only_value(shape) if isinstance(shape, ast.Name) else shape
    of = asked_of(value) if value is not None else None
    if not isinstance(of, ast.Name) or of.id != tensor.id:
        return False
    if isinstance(shape, ast.Name) and _is_changed(module, shape):
        return False
    return names.only_binding(of) is not None and names.only_binding(of) is names.only_binding(
        tensor
    )


def _is_changed(module: Module, name: ast.Name) -> bool:
    """Whether a list of sizes is more than read by its indices."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    for one in names.mentions(name.id, home) if home is not None else ():
        parent = names.parents.get(one)
        if isinstance(one.ctx, ast.Load) and not (
            isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load)
        ):
            return True
    return home is None


def _unread(module: Module, shape: ast.expr) -> list[Edit]:
    """The edit that drops the statement which names a shape, where nothing else reads it."""
    names = module.names
    if not isinstance(shape, ast.Name):
        return []
    home = names.defining_scope(shape.id, names.scope_of_name[shape])
    binding = names.only_binding(shape)
    if home is None or binding is None or not isinstance(binding.node, ast.Name):
        return []
    statement = names.statement(binding.node)
    layout = Layout(module.source, statement)
    others = [one for one in names.mentions(shape.id, home) if one not in (shape, binding.node)]
    if others or not isinstance(statement, ast.Assign) or not layout.owns_lines:
        return []
    return [Edit(layout.line_start, layout.next_line, "")]
