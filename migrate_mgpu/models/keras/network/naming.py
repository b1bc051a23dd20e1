"""The attributes that a network's layers are, by what their author called them."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.network.reserved import RESERVED
from migrate_mgpu.models.keras.network.class_plan import Plan

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
