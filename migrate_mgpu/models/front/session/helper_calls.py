"""Functions of the author's that make variables or layers and apply them at once.

Each becomes a class of layers: what it is given as Python's values makes the layer, what it is
given as tensors is what the layer is applied to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.layers import Found, find_layers


class _Plain:
    """There are no modes in a session's program: nothing tells training from the rest."""

    @staticmethod
    def values(node: ast.AST) -> None:
        del node


class _Times:
    """Which of a call's arguments are tensors."""

    modes = _Plain()

    def __init__(self, is_tensor: Callable[[ast.AST], bool]) -> None:
        self.runs = is_tensor


class HelperReader:
    """Reads calls of functions that make and apply layers, in the scope that builds the graph."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        calls: LayerCalls,
        regularized: bool,
        is_tensor: Callable[[ast.AST], bool],
        beside: AbstractSet[Module],
    ) -> None:
        self.beside = beside
        self.module = module
        self.graph = graph
        self.regularized = regularized
        self.calls = calls
        self.is_tensor = is_tensor
        self.helpers = Helpers(graph, calls, regularized)

    def function(self, call: ast.Call) -> Function | None:
        """The function that a call reaches, if that makes layers or variables for tensors."""
        target = self.helpers.target(self.module, call)
        if target is None or target.module not in {self.module, *self.beside}:
            return None
        if not isinstance(target.node, ast.FunctionDef) or not self.helpers.makes_layers(target):
            return None
        if target.module is self.module and applies_alone(target):
            return None
        return None if returns_variable(target) else target

    def applies_alone(self, call: ast.Call) -> bool:
        """Whether a call reaches a function whose layers stand beside it."""
        target = self.helpers.target(self.module, call)
        return target is not None and target.module is self.module and applies_alone(target)

    def of(self, call: ast.Call) -> Found | None:
        """A call of such a function as a layer.

        Raises:
            Refused: the function cannot be a layer.
        """
        if self.function(call) is None:
            return None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(self.is_tensor(value) for value in given):
            return None
        use = self.helpers.use(self.module, call, _Times(self.is_tensor))  # type: ignore[arg-type]
        if use is None:
            return None
        return find_layers(self.module, [call], self.calls, {call: use}, self.regularized)[call]


def applies_alone(function: Function) -> bool:
    """Whether a function's layers stand beside it: calls share them, or say if they train."""
    module = function.module
    calls = [call for call in walk(function.node) if isinstance(call, ast.Call)]
    rows = [row for call in calls if (row := LAYERS.by_name.get(name_of(module, call)))]
    if not any(row.inputs for row in rows):
        return False
    if any(name_of(module, call) in VARIABLES.by_name for call in calls):
        return False
    reused = any(
        keyword.arg == "reuse"
        for call in calls
        if name_of(module, call) == "variable_scope"
        for keyword in call.keywords
    )
    return reused or any(row.training for row in rows)


def returns_variable(function: Function) -> bool:
    """Whether a function makes a variable and gives back that."""
    module, nodes = function.module, walk(function.node)
    made = [
        call
        for call in nodes
        if isinstance(call, ast.Call) and name_of(module, call) in VARIABLES.by_name
    ]
    names = {
        target.id
        for call in made
        if isinstance(parent := module.names.parents.get(call), ast.Assign)
        for target in parent.targets
        if isinstance(target, ast.Name)
    }
    values = [node.value for node in nodes if isinstance(node, ast.Return)]
    return bool(values) and all(
        value in made or (isinstance(value, ast.Name) and value.id in names) for value in values
    )
