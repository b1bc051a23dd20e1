"""A network that is a plain chain of layers: a Sequential model says it best."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.network.layer_texts import constructor
from migrate_mgpu.models.keras.network.network import Network
from migrate_mgpu.source.blocks import Block, leading, trailing

_WIDTH = 80


def chain(network: Network) -> list[tuple[ast.stmt, Found]] | None:
    """The layers of a network in their order, with their statements; None if it is no chain."""
    plan = network.plan
    current = plan.tensors[0]
    found: list[tuple[ast.stmt, Found]] = []
    for statement in plan.statements:
        if statement not in plan.kept:
            if any(node in plan.kept for node in walk(statement)):
                return None
            continue
        if network.tells_mode(statement):
            continue
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            return None
        node: ast.expr = statement.value
        inner: list[Found] = []
        while isinstance(node, ast.Call) and node in network.layers:
            layer = network.layers[node]
            if layer.helper is not None or len(layer.inputs) != 1 or not _follows(network, layer):
                return None
            if layer.kind == "DenseFeatures":  # what it is given is no tensor
                return None
            inner.append(layer)
            node = layer.inputs[0]
        if not inner or not isinstance(node, ast.Name) or node.id != current:
            return None
        found += [(statement, layer) for layer in reversed(inner)]
        current = statement.targets[0].id
    return found if found and current == plan.result else None


def _follows(network: Network, layer: Found) -> bool:
    """Whether a layer does in a Sequential what its author told it."""
    if layer.training is not None:
        return network.plan.modes.training(layer.training) == "training"
    return not layer.takes_training


def write_sequence(
    network: Network, layers: list[tuple[ast.stmt, Found]], body: Block, name: str
) -> Context:
    """Adds `model = tf.keras.Sequential([...])` to a function's body."""
    source = network.module.source
    context = Context(network.module, network.style, network.plan.modes)
    base = body.indent + source.indent_unit
    head = f"{name} = {network.style.tensorflow}.keras.Sequential(["
    single = constructor(layers[0][1], context, len(base) + len(head), base)
    if len(layers) == 1 and "\n" not in single and not trailing(source, layers[0][0]):
        if len(base) + len(head) + len(single) + 2 <= _WIDTH:
            for comment in leading(source, layers[0][0]):
                if comment:
                    body.line(comment, 1)
            body.line(f"{head}{single}])", 1)
            return context
    body.line(head, 1)
    seen: set[ast.stmt] = set()
    deeper = base + source.indent_unit
    for statement, layer in layers:
        if statement not in seen:
            seen.add(statement)
            for comment in leading(source, statement):
                if comment:
                    body.line(comment, 2)
        text = constructor(layer, context, len(deeper), deeper)
        body.line(f"{text},{trailing(source, statement)}", 2)
    body.line("])", 1)
    return context
