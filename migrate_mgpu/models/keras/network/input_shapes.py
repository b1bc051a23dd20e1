"""Layers whose size is that of what they are applied to: `weights = [x.get_shape()[-1], units]`.

Keras makes them in `build`, which is told the shape.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.network.class_plan import Plan

INPUT_SHAPE = "input_shape"


class NeedsShape(Refused):
    """What makes the layers of a class asks for the shape of the tensor that it is applied to."""


def asked_shapes(
    plan: Plan, target: Callable[[Module, ast.Call], Function | None]
) -> dict[ast.AST, Replacement]:
    """The expressions that ask for that shape, and what they are in `build`.

    It is the first tensor's. There are none where its name stands for another one later.
    ``target`` gives the function of the run that a call reaches.
    """
    names, node = plan.module.names, plan.function
    if not plan.tensors or plan.others or plan.base != "layers.Layer":
        return {}
    scope = names.scopes[node]
    name = plan.tensors[0]
    later = [one.node for one in scope.bindings.get(name, ()) if one.kind != "parameter"]
    if any(isinstance(p, (ast.For, ast.While)) for one in later for p in names.ancestors(one)):
        return {}
    asked: dict[ast.AST, Replacement] = {}
    lists: set[str] = set()
    for mention in names.mentions(name, scope):
        if any(line_of(one) <= mention.lineno for one in later):
            break
        shape = _shape(plan.module, mention)
        if shape is not None:
            asked.update(_forms(plan.module, shape))
        listed = _listed(plan.module, mention, target)
        if listed is not None and len(scope.bindings[listed.id]) == 1:
            lists.add(listed.id)
            asked.update(_sizes(plan.module, names.mentions(listed.id, scope)))
    return asked if INPUT_SHAPE not in scope.bindings or INPUT_SHAPE in lists else {}


def _listed(
    module: Module, mention: ast.Name, target: Callable[[Module, ast.Call], Function | None]
) -> ast.Name | None:
    """The variable of `shape = get_shape_list(x)`, whose items are numbers where TF1 knew them."""
    call = module.names.parents.get(mention)
    if not isinstance(call, ast.Call) or call.args[:1] != [mention]:
        return None
    statement = module.names.parents[call]
    made = statement.targets[0] if isinstance(statement, ast.Assign) else None
    function = target(module, call)
    known = function is not None and _gives_shape(function)
    return made if known and isinstance(made, ast.Name) else None


def _gives_shape(function: Function) -> bool:
    """Whether a function returns its first argument's sizes: tensors where they are not known."""
    node, module = function.node, function.module
    returned = {
        part.value.id if isinstance(part.value, ast.Name) else ""
        for part in walk(node)
        if isinstance(part, ast.Return)
    }
    if len(returned) != 1 or not function.parameters():
        return False
    (name,), tensor = returned, function.parameters()[0]
    sizes = (f"{tensor}.shape.as_list()", f"{tensor}.get_shape().as_list()")
    known: list[bool] = []
    for part in walk(node):
        parent = module.names.parents.get(part)
        if not isinstance(part, ast.Name) or part.id != name:
            continue
        if isinstance(part.ctx, ast.Store):
            given = parent.value if isinstance(parent, ast.Assign) else None
            known.append(given is not None and module.source.code(given) in sizes)
        elif isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
            known.append(_is_dynamic(module, parent, tensor))
        elif isinstance(parent, ast.Attribute):
            known.append(False)  # a method may change the list
    return bool(known) and all(known)


def _is_dynamic(module: Module, item: ast.Subscript, tensor: str) -> bool:
    """`shape[i] = dynamic[i]`, where `dynamic = tf.shape(x)`."""
    statement = module.names.parents[item]
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.Subscript) or ast.dump(value.slice) != ast.dump(item.slice):
        return False
    made = module.names.only_value(value.value) if isinstance(value.value, ast.Name) else None
    return (
        isinstance(made, ast.Call)
        and name_of(module, made) == "shape"
        and [module.source.code(one) for one in made.args] == [tensor]
    )


def _sizes(module: Module, mentions: list[ast.Name]) -> Iterator[tuple[ast.AST, Replacement]]:
    """The items that are sizes of variables, which TF1 had to know: `width = shape[2]`."""
    for mention in mentions:
        item = module.names.parents[mention]
        if not isinstance(item, ast.Subscript) or not isinstance(constant(item.slice), int):
            continue
        statement = module.names.parents[item]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and len(module.names.bindings_of(target)) == 1:
            scope = module.names.scope_of_name[target]
            if any(_is_size(module, one) for one in module.names.mentions(target.id, scope)):
                yield item, _always(f"{INPUT_SHAPE}[{module.source.code(item.slice)}]")


def _is_size(module: Module, mention: ast.Name) -> bool:
    """Whether a name stands in the arguments of a variable."""
    return any(
        isinstance(parent, ast.Call) and name_of(module, parent) in VARIABLES.by_name
        for parent in module.names.ancestors(mention)
    )


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
