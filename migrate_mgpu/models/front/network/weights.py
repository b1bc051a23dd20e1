"""Weights of a model's own among what its network makes: their names, and lookups of their rows."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.keras_layers import layer_name
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.ir import Weight


def weights_of(
    module: Module,
    function: ast.AST,
    layers: Mapping[ast.Call, Found],
    looped: Collection[ast.Call],
    nodes: Iterable[ast.AST],
) -> dict[str, ast.Call]:
    """Weights that have one name in a function, which is an attribute everywhere.

    Raises:
        Refused: one is used for more than its value.
    """
    bindings = module.names.scopes[function].bindings
    found: dict[str, ast.Call] = {}
    names: set[str] = set()
    for call in (c for c in layers if layers[c].variable):
        parent = module.names.parents[call]
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if isinstance(target, ast.Name):
            names.add(target.id)
            if len(bindings[target.id]) == 1 and call not in looped:
                found[target.id] = call
    for node in (n for n in nodes if isinstance(n, ast.Attribute)):
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id in names and node.attr != "shape":
            text = f"`{owner.id}.{node.attr}` of a variable"
            raise Refused(module, node, text, "use its value only")
    return found


def lookup_of(
    module: Module, layers: Mapping[ast.Call, Found], nodes: Iterable[ast.AST]
) -> ast.AST | None:
    """A call that takes rows of a weight, whose gradient is one of those rows only."""
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = name_of(module, call)
        if layer_name(module, call) == "Embedding" or name.startswith("nn.embedding_"):
            return call
        if call in layers and layers[call].kind == "Embedding":  # `embed_sequence`
            return call
        if name in ("gather", "gather_nd") and call.args:
            made = module.names.assigned(call.args[0])
            if isinstance(made, ast.Call) and made in layers and layers[made].variable:
                return call
    return None


def are_double(module: Module, layers: Mapping[ast.Call, Found], part: bool) -> bool:
    """Whether a model's weights are of float64; ``part``: the layers are of a part of it.

    Raises:
        Refused: only some of them, or those of a part of the model.
    """
    double = [
        call for call, found in layers.items()
        if isinstance(found.layer, Weight) and found.layer.double
    ]  # fmt: skip
    if double and (len(double) < len(layers) or part):
        text = "a variable whose type is not float32, beside others or in a part of the network"
        raise Refused(module, double[0], text, "let all weights be of one type")
    return bool(double)


def double_weight(module: Module, nodes: Iterable[ast.AST]) -> ast.Call | None:
    """A call among some nodes that makes a weight of float64."""
    for call in (part for node in nodes for part in walk(node) if isinstance(part, ast.Call)):
        if name_of(module, call) == "get_variable":
            if any(
                k.arg == "dtype" and name_of(module, k.value) == "float64" for k in call.keywords
            ):
                return call
    return None
