"""Layers that statements make and apply: each is made once, and has variables."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import COMPREHENSIONS
from migrate_mgpu.models.front.session.program import MadeLayer
from migrate_mgpu.models.front.session.state import Reading
from migrate_mgpu.models.ir import Collected, Layer, Variables
from migrate_mgpu.models.properties import has_weights


class LayerReading(Reading):
    """Reads the layers of units."""

    def _layer(self, call: ast.Call, node: ast.stmt | ast.expr) -> Variables:
        """The variables of a layer that a unit makes and applies.

        Raises:
            Refused: it cannot be made once, before the steps.
        """
        if call in self.found.layers:
            return self.found.layers[call].variables
        found = self.layers.of(call)
        assert found is not None
        if not isinstance(node, ast.stmt):
            text = "a layer is made where it is run, or as what is minimized"
            raise Refused(self.module, call, text, "give its value a name before")
        if any(isinstance(p, COMPREHENSIONS) for p in self.names.ancestors(call)):
            raise Refused(self.module, call, "a layer is made in a comprehension")
        for part in self.layers.settings(found):
            self._setting(part)
        if found.normalizes:
            raise Refused(self.module, call, "batch normalization in a session's program")
        if found.training is not None and constant(found.training) not in (True, False):
            text = "whether a layer trains cannot be told"
            raise Refused(self.module, found.training, text)
        layer = found.layer
        trained = not isinstance(layer, Layer) or has_weights(layer)
        variables = Variables(found.name or "", node, Collected.LAYER, (), trained)
        self.found.variables.append(variables)
        self.found.layers[call] = MadeLayer(found, variables)
        return variables

    def _setting(self, part: ast.AST) -> None:
        """A part of what makes a layer: it is no part of the graph, but may be a function."""
        if not isinstance(part, ast.Name) or part not in self.names.scope_of_name:
            return
        self._host_only(part, "a layer")
        target = self.graph.target(self.module, part)
        if target is not None and self.expressions.speaks(target):
            self.expressions.of_function(target)
            self.found.builders[target.node] = target
