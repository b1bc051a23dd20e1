"""A network that is one Keras model applied to the features needs no class around it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.source.blocks import Block


def direct(network: Network) -> str | None:
    """The variable of the model that is all of a network; None where there is more to it."""
    plan, objects = network.plan, network.objects
    same = {plan.tensors[0]}
    model: str | None = None
    for statement in plan.statements:
        if statement not in plan.kept or network.times.is_setting(statement):
            if any(node in plan.kept for node in walk(statement) if node is not statement):
                return None
            continue
        if network.tells_mode(statement):
            continue
        if model is not None or not isinstance(statement, ast.Assign):
            return None
        target, value = statement.targets[0], statement.value
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return None
        if isinstance(value, ast.Name) and value.id in same:
            same.add(target.id)
            continue
        if not isinstance(value, ast.Call) or target.id != plan.result or not value.args:
            return None
        model = objects.applied(value)
        given = value.args[0]
        if not isinstance(given, ast.Name) or given.id not in same:
            return None
        if model is None or model not in objects.models or not _follows(network, model, value):
            return None
    return model


def _follows(network: Network, model: str, call: ast.Call) -> bool:
    """Whether the model does within `fit` what its author told it."""
    own = network.objects.classes.get(model)
    told: list[tuple[str | None, ast.expr]] = [(k.arg, k.value) for k in call.keywords]
    told += network.objects.positional(call)
    if not told:
        return not network.objects.sensitive[model]
    (name, value), *more = told
    if name != "training" or more or (own is not None and own.training != name):
        return False
    return network.plan.modes.training(value) == "training"


def write_direct(network: Network, body: Block) -> list[str]:
    """Adds the statements that make the model; the names that they read."""
    context = Context(network.module, network.style, network.plan.modes)
    for statement in network.plan.statements:
        if statement in network.plan.kept and network.times.is_setting(statement):
            body.statement(statement, context.edits(statement), 1)
    return list(context.used)
