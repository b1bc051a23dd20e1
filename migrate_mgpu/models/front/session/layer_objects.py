"""Objects of TF1's layers that steps apply, as often as they like: `proj = tf.layers.Dense(10)`.

Keras's has the same weights each time as well. It is made where it was.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.decoders import DENSE
from migrate_mgpu.models.front.network.layer_calls import read_layer_class
from migrate_mgpu.models.front.network.layer_objects import is_only_applied
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.session.program import MadeLayer, Role
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Collected, Variables


class LayerObjectReader(StatementReader):
    """Reads statements that make such an object."""

    def read(self, statement: ast.Assign, target: ast.Name, value: ast.expr) -> Role | None:
        """What a statement does that makes one; None where it makes none that is only applied.

        Raises:
            Refused: it cannot be made once, before the steps.
        """
        helpers = self.found.layer_helpers
        if not isinstance(value, ast.Call) or name_of(self.module, value) != DENSE:
            return None
        if helpers is None or not is_only_applied(self.module, target, self.graph, helpers):
            return None
        self.state.only_binding(target)
        self.state.makes_anew(value)
        layer = read_layer_class(self.module, value)
        if layer is None or self.scope.towers is not None:
            return None
        for part in (*value.args, *(keyword.value for keyword in value.keywords)):
            self.state.host_only(part, "a layer")
        for keyword in value.keywords:
            if (keyword.arg or "").endswith("_regularizer") and not is_none(keyword.value):
                text = "a layer that is applied several times has a regularizer"
                raise Refused(self.module, keyword.value, text, "apply it once")
        variables = Variables(target.id, statement, Collected.LAYER, (), True)
        self.found.variables.append(variables)
        found = Found(self.module, value, target.id, target.id, layer=layer)
        made = MadeLayer(found, variables, image=False, normalizes=False, is_object=True)
        self.found.layers[value] = made
        self.meanings[target.id] = variables
        return Role.CELLS
