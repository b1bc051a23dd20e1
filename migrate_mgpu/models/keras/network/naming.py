"""The attributes that a network's layers are, by what their author called them."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.network.reserved import RESERVED
from migrate_mgpu.models.keras.network.class_plan import Plan

_DEEP = 8  # values within each other
# Names that say nothing about the layer that made the value.
_GENERIC = {"net", "x", "y", "h", "out", "result", "hidden", "tmp", "nets", "outputs", "layer"}


def name_layers(
    plan: Plan, layers: dict[ast.Call, Found], looped: Collection[ast.Call]
) -> tuple[dict[ast.Call, str], dict[ast.Call, str]]:
    """The attribute of each layer, and the loop variable of those made in loops (``looped``)."""
    taken = RESERVED | plan.reserved | set(plan.settings)
    names = plan.module.names
    scope = names.scopes[plan.function]
    calls = sorted(layers, key=lambda call: (call.lineno, call.col_offset))
    targets = [_target(plan, call) for call in calls]
    attributes: dict[ast.Call, str] = {}
    loop_names: dict[ast.Call, str] = {}
    for call, target in zip(calls, targets):
        found = layers[call]
        wished = found.name or (target if target and targets.count(target) == 1 else None)
        if call in looped:
            wished = f"{found.stem}_{'list' if found.variable else 'layers'}"
        elif wished in RESERVED | plan.reserved:
            wished = f"{wished}_{'variable' if found.variable else 'layer'}"
        name = wished or found.stem
        number = 1
        while name in taken:
            name = f"{wished or found.stem}_{number}"
            number += 1
        taken.add(name)
        attributes[call] = name
        if call in looped:
            free = [w for w in (found.stem, f"{found.stem}_layer") if w not in taken]
            local = names.fresh(scope, *(free or [f"{found.stem}_layer"]))
            while local in loop_names.values():
                local += "_2"
            loop_names[call] = local
    return attributes, loop_names


def _target(plan: Plan, call: ast.Call) -> str | None:
    """The name that a layer's value is given to, if that says what it is."""
    parent = plan.module.names.parents.get(call)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Name) and is_telling(target.id):
            return target.id
    return None


def is_telling(name: str) -> bool:
    """Whether a value's name says something about the layer that made it."""
    return name not in _GENERIC


def gives_path(graph: CallGraph, module: Module, node: ast.expr, deep: int = 0) -> bool:
    """Whether a text may have a slash in it, such as a scope's within another one.

    Keras 3 takes no layer's name of that kind.
    """
    if deep > _DEEP:
        return False
    for part in walk(node):
        text = constant(part) if isinstance(part, ast.Constant) else None
        if isinstance(text, str) and "/" in text:
            return True
        if isinstance(part, ast.Name) and part in module.names.scope_of_name:
            made = module.names.only_value(part)
            if made is not None and made is not node:
                if gives_path(graph, module, made, deep + 1):
                    return True
            elif module.names.is_parameter(part):
                home = module.names.defining_scope(part.id, module.names.scope_of_name[part])
                around = home.function() if home is not None else None
                if isinstance(around, ast.FunctionDef) and is_given_path(
                    graph, Function(module, around), part.id, deep + 1
                ):
                    return True
    return False


def is_given_path(graph: CallGraph, function: Function, name: str, deep: int = 0) -> bool:
    """Whether a call gives a parameter a text with a slash in it."""
    for reference in graph.references(function) if deep <= _DEEP else ():
        value = bind(reference.call, function).value(name) if reference.call is not None else None
        if value is not None and gives_path(graph, reference.module, value, deep + 1):
            return True
    return False
