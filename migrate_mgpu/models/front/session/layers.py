"""Layers that statements make and apply: each is made once, and has variables."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import COMPREHENSIONS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.program import MadeLayer, targets_of
from migrate_mgpu.models.front.session.state import Reading
from migrate_mgpu.models.ir import Collected, Layer, Placeholder, Unit, Variables
from migrate_mgpu.models.properties import has_weights

# Functions whose value has the shape of what they are given.
_SHAPED = ("relu", "elu", "selu", "tanh", "sigmoid", "leaky_relu", "dropout")
_ADVICE = "feed it True or False, written out, at each run"


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
        self._training(found.training)
        layer = found.layer
        trained = not isinstance(layer, Layer) or has_weights(layer)
        variables = Variables(found.name or "", node, Collected.LAYER, (), trained)
        self.found.variables.append(variables)
        image = found.helper is None and self._may_be_image(found.inputs[0])
        self.found.layers[call] = MadeLayer(found, variables, image)
        return variables

    def _training(self, node: ast.expr | None) -> None:
        """What tells a layer whether it trains: a flag that is fed, or something of Python's."""
        if isinstance(node, ast.Name) and isinstance(self.meanings.get(node.id), Placeholder):
            return  # whether its value is known is a matter of each step
        if node is not None:
            self._host_only(node, "whether a layer trains")

    def _check_training(self) -> None:
        """Keras 3's layers are told whether they train by Python's own values.

        Raises:
            Refused: a step is fed it as a tensor.
        """
        for made in self.found.layers.values():
            if made.found.helper is not None:
                self._check_inputs(made)
            flag = made.found.training
            meaning = self.meanings.get(flag.id) if isinstance(flag, ast.Name) else None
            if not isinstance(meaning, Placeholder):
                continue
            for step in self.found.steps:
                needs = any(made.variables in unit.reads for unit in step.units)
                if needs and meaning not in [placeholder for placeholder, _ in step.folded]:
                    text = f"`{meaning.name}`, which tells a layer whether it trains, is computed"
                    raise Refused(self.module, flag or made.found.call, text, _ADVICE)

    def _check_inputs(self, made: MadeLayer) -> None:
        """A layer of Keras 3's takes tensors, and no flag of Python's by its position."""
        assert made.found.helper is not None
        for _, node in made.found.helper.inputs:
            meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
            folded = {placeholder for step in self.found.steps for placeholder, _ in step.folded}
            if meaning in folded:
                text = f"`{made.found.helper.function.name}` makes layers, and is given a flag"
                raise Refused(self.module, node, text, "use the flag where the graph is built")

    def _may_be_image(self, node: ast.expr, unit: Unit | None = None) -> bool:
        """Whether a tensor may have four dimensions: not where a matrix is seen.

        ``unit`` is the one that it stands in, where that is not the one which is read.
        """
        if isinstance(node, ast.Name):
            meaning = self._before(node.id, unit)
            if isinstance(meaning, Placeholder):
                shape = meaning.arguments.get("shape")
                return not isinstance(shape, (ast.List, ast.Tuple)) or len(shape.elts) == 4
            if isinstance(meaning, Unit) and isinstance(meaning.node, ast.Assign):
                return self._may_be_image(meaning.node.value, meaning)
            return True
        if not isinstance(node, ast.Call):
            return True
        layer = self.layers.of(node)
        if layer is not None:
            if layer.kind == "Flatten":
                return False
            same = ("Dense", "Dropout", "BatchNormalization")
            return layer.kind not in same or self._may_be_image(layer.inputs[0], unit)
        if name_of(self.module, node) in ("matmul", "nn.xw_plus_b"):
            return False
        shaped = name_of(self.module, node).replace("nn.", "") in _SHAPED and node.args
        return not shaped or self._may_be_image(node.args[0], unit)

    def _before(self, name: str, unit: Unit | None) -> object:
        """What a name stands for where a unit stands."""
        if unit is None:
            return self.meanings.get(name)
        found = [one for one in unit.after if name in targets_of(one.node)]
        return found[0] if found else next((p for p in unit.feeds if p.name == name), None)

    def _setting(self, part: ast.AST) -> None:
        """A part of what makes a layer: it is no part of the graph, but may be a function."""
        if not isinstance(part, ast.Name) or part not in self.names.scope_of_name:
            return
        self._host_only(part, "a layer")
        target = self.graph.target(self.module, part)
        if target is not None and self.expressions.speaks(target):
            self.expressions.of_function(target)
            self.found.builders[target.node] = target
