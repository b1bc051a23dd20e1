"""What readers of a session's program share: its scope, and what its names stand for so far."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.layer_calls import LayerReader
from migrate_mgpu.models.front.session.origins import Origins
from migrate_mgpu.models.front.session.program import GRAPH, Meaning, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader, mentions_of
from migrate_mgpu.models.front.session.scope import SessionScope, read_scope
from migrate_mgpu.models.ir import Placeholder, Unit


class Reading:
    """A program that is being read: ``meanings`` are those of its scope's names at ``place``."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        configs: AbstractSet[ast.AST],
        beside: AbstractSet[Module],
    ) -> None:
        self.module = module
        self.beside = beside  # the program's other modules that speak to TensorFlow
        self.graph = graph
        self.configs = configs
        self.names = module.names
        self.scope: SessionScope = read_scope(module)
        self.found = SessionProgram(self.scope)
        self.layers = LayerReader(module, graph, self._is_tensor, beside)
        self.found.layer_helpers = self.layers.functions.helpers
        self.expressions = Expressions(module, graph, self.layers, beside)
        self.home = self.names.scopes[self.scope.node]
        self.meanings: dict[str, Meaning] = {}
        self.place = 0
        self.origins = Origins(graph, self.scope)
        self.runs: RunReader
        self.calling_clients: list[ast.stmt] = []  # the scope's own that call a client

    def _is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression that is read is a part of the graph."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                name = name_of(self.module, part)
                if name in COMPUTES or name in DRAWS or self.layers.of(part) is not None:
                    return True
        return any(
            isinstance(self.meanings.get(name.id), (Placeholder, Unit))
            for name in mentions_of(self.names, node, self.home)
        )

    def _only_binding(self, target: ast.Name) -> None:
        if len(self.names.bindings_of(target)) != 1:
            text = f"`{target.id}` is given another value elsewhere"
            raise Refused(self.module, target, text, "give the two names of their own")

    def _host_only(self, node: ast.AST, what: str) -> None:
        for name in mentions_of(self.names, node, self.home):
            if isinstance(self.meanings.get(name.id), GRAPH):
                text = f"{what} depends on `{name.id}`, a part of the graph"
                raise Refused(self.module, name, text)

    def _global_of_graph(self, name: ast.Name) -> None:
        home = self.names.defining_scope(name.id, self.names.scope_of_name[name])
        if home is self.home and isinstance(self.meanings.get(name.id), GRAPH):
            text = f"`{name.id}`, a part of the graph, is read inside of a function"
            raise Refused(self.module, name, text, "give it to the function as an argument")

    def _in_function(self, name: ast.Name) -> bool:
        return self.names.scope_of_name[name].function() is not self.home.function()
