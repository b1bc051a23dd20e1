"""Layers and Keras models that a network keeps in variables, and how it applies them.

TF1 asked a Keras layer to train only where it was told so; within `fit` Keras tells every
layer that it was not told otherwise. What its author did not say is therefore written out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.network.keras_layers import (
    check_layer,
    is_sensitive,
    layer_name,
    makes_model,
    returns_model,
)
from migrate_mgpu.models.front.network.network_classes import NetworkClass

_APPLYING = ("apply", "call", "__call__")


class Objects:
    """The objects of one network, by the names of their variables."""

    def __init__(
        self,
        module: Module,
        statements: Iterable[ast.AST],
        graph: CallGraph,
        networks: Callable[[Module, ast.Call], NetworkClass | None],
    ) -> None:
        self.module = module
        self.graph = graph
        self.networks = networks
        self.classes: dict[str, NetworkClass] = {}  # of variables that hold the author's own
        self.sensitive: dict[str, bool] = {}  # whether it must be told if it does not train
        self.models: dict[str, ast.Assign] = {}
        self.embedding: ast.AST | None = None  # a layer inside of a model
        for node in statements:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._assigned(node, node.targets[0].id)
        self._check_loose(statements)

    def _assigned(self, statement: ast.Assign, name: str) -> None:
        value = statement.value
        own = self.networks(self.module, value) if isinstance(value, ast.Call) else None
        if own is not None:
            if name in self.sensitive:
                text = f"`{name}` is more than one network"
                raise Refused(self.module, statement, text, "assign each to a separate variable")
            self.models[name], self.classes[name] = statement, own
            self.sensitive[name] = own.training is not None
            return
        made = layer_name(self.module, value)
        if made:
            self.sensitive[name] = self.sensitive.get(name, False) or is_sensitive(made)
            return
        function = None
        if isinstance(value, ast.Call):
            function = self.graph.target(self.module, value.func)
        home: Module = self.module
        node: ast.AST = value
        if function is not None and function.owner is None and returns_model(function):
            home, node = function.module, function.node
        elif not makes_model(self.module, value):
            return
        self.models[name] = statement
        layers = [part for part in walk(node) if layer_name(home, part)]
        for layer in layers:
            check_layer(home, layer)
            if layer_name(home, layer) == "Embedding":
                self.embedding = statement
        _check_repeated(home, node, layers)
        sensitive = any(is_sensitive(layer_name(home, layer)) for layer in layers)
        self.sensitive[name] = self.sensitive.get(name, False) or sensitive

    def _check_loose(self, statements: Iterable[ast.AST]) -> None:
        """A layer that must be told is one that is seen when it is applied."""
        for node in statements:
            if not is_sensitive(layer_name(self.module, node)):
                continue
            if not self._is_followed(node):
                text = "a layer that trains is stored where its use cannot be analyzed"
                raise Refused(self.module, node, text, "keep it in a separate variable")

    def _is_followed(self, node: ast.AST) -> bool:
        """Whether a layer is applied where it is made, a variable's, or part of a model's."""
        child = node
        for parent in self.module.names.ancestors(node):
            if isinstance(parent, ast.Call) and child is parent.func:
                return True
            if isinstance(parent, ast.Attribute):
                return parent.attr in _APPLYING
            if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
                return parent.value is node or parent.targets[0].id in self.models
            if isinstance(parent, ast.stmt):
                return False
            child = parent
        return False

    def applied(self, call: ast.Call) -> str | None:
        """The object that a call applies."""
        function: ast.expr = call.func
        if isinstance(function, ast.Attribute) and function.attr in _APPLYING:
            function = function.value
        if isinstance(function, ast.Name) and function.id in self.sensitive:
            return function.id
        return None

    def says_training(self, call: ast.Call) -> bool:
        """Whether a call says if its object trains, or does not need to."""
        name = self.applied(call)
        own = self.classes.get(name or "")
        told = own.training if own is not None else "training"
        given = len(call.args) > 1 or any(k.arg == told for k in call.keywords)
        return given or name is None or not self.sensitive[name]

    def positional(self, call: ast.Call) -> list[tuple[str | None, ast.expr]]:
        """What a call gives by position behind the input, by name: Keras 3 takes tensors only.

        Raises:
            Refused: a name is not known.
        """
        own = self.classes.get(self.applied(call) or "")
        names = own.parameters[1:] if own is not None else ["training"]
        more = call.args[1:]
        if len(more) > len(names) or any(isinstance(value, ast.Starred) for value in call.args):
            text = "what a layer is given by position cannot be analyzed"
            raise Refused(self.module, call, text, "give it by name")
        return list(zip(names, more))

    def default_training(self, call: ast.Call) -> str:
        """The argument that says what a call without a word about training means."""
        own = self.classes.get(self.applied(call) or "")
        return f"{own.training}={own.default}" if own is not None else "training=False"


def _check_repeated(module: Module, node: ast.AST, layers: list[ast.AST]) -> None:
    """Keras 2 applies a layer once that stands twice in a Sequential; with a known input, twice.

    Raises:
        Refused: the input's shape is not known.
    """
    shapes = ("input_shape", "batch_input_shape", "input_dim")
    for layer in layers:
        assert isinstance(layer, ast.Call)
        if any(keyword.arg in shapes for keyword in layer.keywords):
            return
        if layer_name(module, layer) in ("Input", "InputLayer"):
            return
    for layer in layers:
        parent = module.names.parents[layer]
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        if not isinstance(target, ast.Name):
            continue
        uses = [n for n in walk(node) if isinstance(n, ast.Name) and n.id == target.id]
        if len(uses) > 2:
            text = "a layer is used twice in a Sequential whose input shape is not known"
            raise Refused(module, layer, text, "give its first layer an input_shape")
