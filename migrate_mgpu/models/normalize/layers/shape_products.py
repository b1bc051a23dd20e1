"""How many elements a tensor has, as a loop multiplies its dimensions.

    dim = 1
    for d in pool2.get_shape()[1:].as_list():
        dim *= d

becomes `dim = pool2.get_shape()[1:].num_elements()`. So does `for d in shape: dim *= d.value`, of
`shape = pool2.get_shape()`: the dimensions of TF2's shapes are numbers.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    if "get_shape" not in module.source.text:
        return []
    for node in module.names.parents:
        shape = _shape(module, node) if isinstance(node, ast.For) else None
        if shape is None or not isinstance(node, ast.For):
            continue
        block = module.names.block(node)
        begun = block[block.index(node) - 1]
        product = node.body[0]
        assert isinstance(product, ast.AugAssign) and isinstance(product.target, ast.Name)
        layout = Layout(module.source, node)
        if node is block[0] or not _begins(begun, product.target.id) or not layout.owns_lines:
            continue
        assert isinstance(begun, ast.Assign)
        made = Edit(*module.source.span(begun.value), f"{shape}.num_elements()")
        return [made, Edit(layout.line_start, layout.next_line, "")]
    return []


def _begins(statement: ast.stmt, name: str) -> bool:
    """`dim = 1`"""
    return (
        isinstance(statement, ast.Assign)
        and [ast.unparse(one) for one in statement.targets] == [name]
        and constant(statement.value) == 1
    )


def _shape(module: Module, loop: ast.For) -> str | None:
    """The shape whose dimensions a loop multiplies; None where it does anything else."""
    names, target, product = module.names, loop.target, loop.body[0]
    if loop.orelse or len(loop.body) != 1 or not isinstance(target, ast.Name):
        return None
    if not isinstance(product, ast.AugAssign) or not isinstance(product.op, ast.Mult):
        return None
    factor, total = product.value, product.target
    if isinstance(factor, ast.Attribute) and factor.attr == "value":
        factor, whole = factor.value, _whole_shape(module, loop.iter)
    else:
        whole = None
    if (
        not isinstance(factor, ast.Name)
        or factor.id != target.id
        or not isinstance(total, ast.Name)
    ):
        return None
    if len(names.mentions(target.id, names.scope_of_name[target])) != 2:
        return None
    if whole is not None or product.value is not factor:
        return whole
    listed, part = loop.iter, ""
    if isinstance(listed, ast.Subscript) and isinstance(listed.slice, ast.Slice):
        part = f"[{module.source.code(listed.slice)}]"
        listed = listed.value
    shape = _asked(listed, "as_list")
    told = shape.value if isinstance(shape, ast.Subscript) else shape
    if isinstance(shape, ast.Subscript) and (part or not isinstance(shape.slice, ast.Slice)):
        return None
    tensor = _asked(told, "get_shape")
    if shape is None or not isinstance(tensor, ast.Name) or tensor.id == total.id:
        return None
    return f"{module.source.code(shape)}{part}"


def _whole_shape(module: Module, node: ast.expr) -> str | None:
    """`pool2.get_shape()`, or a name for it, whose dimensions a loop goes through."""
    made = module.names.only_value(node) if isinstance(node, ast.Name) else node
    tensor = _asked(made, "get_shape")
    return module.source.code(node) if isinstance(tensor, ast.Name) else None


def _asked(node: ast.expr | None, method: str) -> ast.expr | None:
    """What an expression calls a method of, without arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != method or node.args or node.keywords:
        return None
    return node.func.value
