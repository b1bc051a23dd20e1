"""Layers whose size is that of what they are applied to: `weights = [x.get_shape()[-1], units]`.

Keras makes them in `build`, which is told the shape.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.class_plan import Plan

INPUT_SHAPE = "input_shape"


class NeedsShape(Refused):
    """What makes the layers of a class asks for the shape of the tensor that it is applied to."""


def asked_shapes(plan: Plan) -> dict[ast.AST, Replacement]:
    """The expressions that ask for that shape, and what they are in `build`.

    There are none where there are several tensors, or the name stands for another one later.
    """
    names, node = plan.module.names, plan.function
    if len(plan.tensors) != 1 or plan.others or plan.base != "layers.Layer":
        return {}
    scope = names.scopes[node]
    name = plan.tensors[0]
    if INPUT_SHAPE in scope.bindings or len(scope.bindings.get(name, ())) != 1:
        return {}
    asked: dict[ast.AST, Replacement] = {}
    for mention in names.mentions(name, scope):
        shape = _shape(plan.module, mention)
        if shape is not None:
            asked.update(_forms(plan.module, shape))
    return asked


def _shape(module: Module, mention: ast.Name) -> ast.expr | None:
    """`x.shape`, `x.get_shape()`"""
    parent = module.names.parents.get(mention)
    if not isinstance(parent, ast.Attribute):
        return None
    if parent.attr == "shape":
        return parent
    call = module.names.parents.get(parent)
    called = isinstance(call, ast.Call) and call.func is parent and not call.args
    return call if parent.attr == "get_shape" and called and isinstance(call, ast.Call) else None


def _forms(module: Module, shape: ast.expr) -> Iterator[tuple[ast.AST, Replacement]]:
    """A shape's list, its length, its items: what a tuple and a TensorShape both have."""
    parents = module.names.parents
    whole: ast.AST = shape
    listed = parents.get(shape)
    call = parents.get(listed) if listed is not None else None
    if isinstance(listed, ast.Attribute) and listed.attr == "as_list" and call is not None:
        whole = call
    item = parents.get(whole)
    one = isinstance(item, ast.Subscript) and item.value is whole
    if not isinstance(item, ast.Subscript) or not one or isinstance(item.slice, ast.Slice):
        if whole is not shape:
            yield whole, _always(f"list({INPUT_SHAPE})")
        elif isinstance(item, ast.Call) and module.names.qualname(item.func) == "builtins.len":
            yield whole, _always(INPUT_SHAPE)
        return
    outer = parents.get(item)
    valued = isinstance(outer, ast.Attribute) and outer.attr == "value"

    def write(context: Context) -> str:
        return f"{INPUT_SHAPE}[{context.render(item.slice)}]"

    yield (outer if valued and outer is not None else item), write


def _always(text: str) -> Replacement:
    def write(context: Context) -> str:
        del context
        return text

    return write
