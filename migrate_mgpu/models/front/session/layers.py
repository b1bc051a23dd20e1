"""Layers that statements make and apply: each is made once, and has variables."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.session.cells import CellReader
from migrate_mgpu.models.front.session.folding import is_flag
from migrate_mgpu.models.front.session.layer_calls import scope_of
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    MadeLayer,
    NamedInitializer,
    targets_of,
)
from migrate_mgpu.models.front.session.scope import scopes_of
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.ir import (
    Averaging,
    Collected,
    Decoding,
    Layer,
    Placeholder,
    Recurrent,
    Unit,
    Variables,
)
from migrate_mgpu.models.properties import has_weights

# Functions whose value has the shape of what they are given.
_SHAPED = ("relu", "elu", "selu", "tanh", "sigmoid", "leaky_relu", "dropout")
_ADVICE = "feed it the literal True or False at each run"
_DEPTH = 8  # functions that give others what they are given


class UnitLayerReader(StatementReader):
    """Reads the layers of units."""

    def __init__(self, state: Reading, cells: CellReader) -> None:
        super().__init__(state)
        self.cells = cells

    def layer(self, call: ast.Call, node: ast.stmt | ast.expr) -> Variables:
        """The variables of a layer that a unit makes and applies.

        Raises:
            Refused: it cannot be made once, before the steps.
        """
        if call in self.found.layers:
            return self.found.layers[call].variables
        found = self.layers.of(call)
        assert found is not None
        if found.shares is not None:
            return self._shared(found, node)
        self.state.makes_anew(call)
        if not isinstance(node, ast.stmt):
            text = "a layer is created inside `Session.run` or `minimize`"
            raise Refused(self.module, call, text, "give its value a name before")
        if any(isinstance(p, (ast.Lambda, *COMPREHENSIONS)) for p in self.names.ancestors(call)):
            raise Refused(self.module, call, "a layer is made in a comprehension, or a lambda")
        bound: dict[str, ast.expr] = {}
        if isinstance(found.layer, Recurrent):
            if self.scope.towers is not None:
                raise Refused(self.module, call, "a recurrent network beside towers")
            self.cells.run(found.layer)
        elif isinstance(found.layer, Decoding):
            if self.scope.towers is not None:
                raise Refused(self.module, call, "a decoder beside towers")
            self.cells.decode(found.layer)
        else:
            bound = self._settings(found)
        self._training(found.training)
        normal = self._normalizer_flags(found)
        image = any(map(self._may_be_image, found.inputs))
        if found.helper is not None:
            image = image or self.layers.functions.may_shape(found.helper.function)
        made = self._new(found, node, image, bound, bool(normal) or found.normalizes)
        made.applications.extend((node, flag) for flag in (normal or [found.training]))
        return made.variables

    def _settings(self, found: Found) -> dict[str, ast.expr]:
        """Checks what makes a layer; the initializers that it has by names."""
        named: dict[str, ast.expr] = {}
        for part in self.layers.settings(found):
            meaning = self.meanings.get(part.id) if isinstance(part, ast.Name) else None
            if isinstance(meaning, NamedInitializer) and found.helper is None:
                assert isinstance(part, ast.Name)
                named[part.id] = meaning.call
                continue
            self._setting(part)
        return named

    def _normalizer_flags(self, found: Found) -> list[ast.expr | None]:
        """What tells batch normalization in a function with layers whether it trains.

        Raises:
            Refused: that cannot be determined.
        """
        if found.helper is None:
            return []
        normalizers = self.layers.functions.normalizers(found.helper.function)
        given = bind(found.call, found.helper.function).values()
        told: list[ast.expr | None] = []
        for flag, _ in normalizers:
            flag = given.get(flag.id, flag) if isinstance(flag, ast.Name) else flag
            self._training(flag)
            told.append(flag)
        return told

    def _shared(self, found: Found, node: ast.AST) -> Variables:
        """The variables of a call that has those of an earlier one."""
        assert found.shares is not None
        if found.shares not in self.found.layers:
            text = "it has variables that are made elsewhere"
            raise Refused(self.module, found.call, text, "make them where the graph is built")
        self.found.applied[found.call] = found
        self.found.layers[found.shares].applications.extend(
            (node, f) for f in self._normalizer_flags(found)
        )
        return self.found.layers[found.shares].variables

    def _new(
        self,
        found: Found,
        node: ast.AST,
        image: bool,
        bound: Mapping[str, ast.expr],
        normalizes: bool,
    ) -> MadeLayer:
        layer = found.layer
        for keyword in found.call.keywords if found.helper is None else ():
            if keyword.arg == "seed" and not is_none(keyword.value):
                text = "a layer with its own seed: TF1 draws its numbers from a separate stream"
                raise Refused(self.module, keyword.value, text)
        in_place = self._moves_in_place(found, image) if normalizes else False
        trained = not isinstance(layer, Layer) or has_weights(layer)
        assert isinstance(node, ast.stmt)
        variables = Variables(found.name or "", node, Collected.LAYER, (), trained)
        self.found.variables.append(variables)
        made = MadeLayer(found, variables, image, normalizes, in_place, bound=bound)
        self.found.layers[found.call] = made
        return self.found.layers[found.call]

    def _moves_in_place(self, found: Found, image: bool) -> bool:
        """Whether batch normalization moves its averages wherever it is computed.

        Raises:
            Refused: its averages are not those of any class that is written.
        """
        averagings: list[Averaging] = []
        if isinstance(found.layer, Layer) and found.layer.averaging is not None:
            averagings = [found.layer.averaging]
        elif found.helper is not None:
            normalizers = self.layers.functions.normalizers(found.helper.function)
            averagings = [averaging for _, averaging in normalizers]
        for averaging in averagings:
            if averaging.sample_ranks is None:
                text = "whether batch normalization is fused is computed"
                raise Refused(self.module, found.call, text, "leave `fused` out, or write it out")
            if averaging.debiased and self.scope.towers is not None:
                text = "each tower moves averages of batch normalization that are debiased"
                raise Refused(self.module, found.call, text, "leave `zero_debias_moving_mean` out")
            if averaging.sample_ranks == () and image and averaging.decay is None:
                text = "batch normalization of images that is not fused"
                advice = "leave `fused` out: the averages of the variance are n / (n - 1) as large"
                raise Refused(self.module, found.call, text, advice)
        in_place = any(averaging.in_place for averaging in averagings)
        if in_place and not all(averaging.in_place for averaging in averagings):
            text = "a function's batch normalization moves averages in place, and by UPDATE_OPS"
            raise Refused(self.module, found.call, text, "leave all of them to UPDATE_OPS")
        averages = any(averaging.decay is not None for averaging in averagings)
        if averages and self.scope.towers is not None:
            text = "each tower moves averages of its own batch's moments"
            raise Refused(self.module, found.call, text, "use tf.layers.batch_normalization")
        return in_place

    # -- functions that make layers ---------------------------------------------

    def applied(
        self, call: ast.Call, function: Function, node: ast.stmt | ast.expr
    ) -> list[Variables]:
        """The variables of the layers that a call of the author's function makes, or shares.

        Raises:
            Refused: they cannot be made once for all its calls.
        """
        if any(isinstance(p, ast.Lambda) for p in self.names.ancestors(call)):
            raise Refused(self.module, call, "layers are made in a lambda")
        bound = self._bound(call, function)
        variables: list[Variables] = []
        for inner in self.expressions.of_function(function).layers:
            found = self.layers.of(inner)
            assert found is not None
            if isinstance(found.layer, (Recurrent, Decoding)):
                text = "a recurrent network in a function whose layers are shared, or are told"
                raise Refused(self.module, inner, f"{text} whether they train")
            taken = self._taken(found, function, bound)
            if inner not in self.found.layers and not isinstance(node, ast.stmt):
                text = "layers are created inside `Session.run` or `minimize`"
                raise Refused(self.module, call, text, "give the value a name before")
            made = self.found.layers.get(inner) or self._new(
                found, node, True, taken, found.normalizes
            )
            variables.append(made.variables)
            if call in made.calls:
                continue
            if not made.calls:
                self.state.makes_anew(call)
            else:
                self._check_shared(made, function, call, bound, taken)
            made.calls.append(call)
            training = found.training
            if isinstance(training, ast.Name):
                training = bound.get(training.id, training)
            elif training is not None and not isinstance(training, ast.Constant):
                raise Refused(
                    self.module, training, "whether a layer is in training mode is computed"
                )
            self._training(training)
            made.applications.append((node, training))
        return variables

    def _bound(self, call: ast.Call, function: Function) -> dict[str, ast.expr]:
        """What a function's parameters are in a call."""
        arguments = function.node.args
        if arguments.vararg or arguments.kwarg:
            raise Refused(self.module, function.node, f"`{function.name}` takes `*` or `**`")
        return bind(call, function).values()

    def _taken(
        self, found: Found, function: Function, bound: Mapping[str, ast.expr]
    ) -> dict[str, ast.expr]:
        """The parameters that make a layer, with what they are: something of Python's own.

        Raises:
            Refused: the layer is made of something that is known within the function alone.
        """
        for parent in self.names.ancestors(found.call):
            if parent is function.node:
                break
            if isinstance(parent, (ast.For, ast.While, ast.Lambda, *COMPREHENSIONS)):
                raise Refused(self.module, found.call, "a layer is made in a loop of a function")
        scope = self.names.scopes[function.node]
        taken: dict[str, ast.expr] = {}
        for part in self.layers.settings(found):
            if not isinstance(part, ast.Name) or part not in self.names.scope_of_name:
                continue
            if part in self.reuse.nodes(self.module):
                continue
            if self.names.defining_scope(part.id, self.names.scope_of_name[part]) is not scope:
                self._setting(part)
                continue
            value = bound.get(part.id)
            once = len(scope.bindings[part.id]) == 1
            if not once or not isinstance(value, (ast.Name, ast.Constant, ast.Attribute)):
                text = f"a layer is made of `{part.id}`, which is known in its function alone"
                raise Refused(self.module, part, text, "give it to the function as a name")
            self.state.host_only(value, "a layer")
            taken[part.id] = value
        return taken

    def _check_shared(
        self,
        made: MadeLayer,
        function: Function,
        call: ast.Call,
        bound: Mapping[str, ast.expr],
        taken: Mapping[str, ast.expr],
    ) -> None:
        """A function that is called again shares the variables of its first call.

        Raises:
            Refused: it makes other ones, or that cannot be determined.
        """
        before = {name: ast.dump(value) for name, value in made.bound.items()}
        if before != {name: ast.dump(value) for name, value in taken.items()}:
            text = f"`{function.name}` makes other layers here than at its first call"
            raise Refused(self.module, call, text)
        scopes = [list(map(ast.dump, scopes_of(self.module, one))) for one in (made.calls[0], call)]
        if self.scope.entries[self.place].reuses and scopes[0] == scopes[1]:
            return
        for parent in self.names.ancestors(made.found.call):
            if parent is function.node:
                break
            scope = scope_of(self.module, parent) if isinstance(parent, ast.With) else None
            for keyword in scope.keywords if scope is not None else ():
                value = keyword.value
                given = bound.get(value.id, value) if isinstance(value, ast.Name) else value
                if constant(given) is True or name_of(self.module, given).endswith("AUTO_REUSE"):
                    return
        text = f"`{function.name}` makes new layers at each call"
        raise Refused(self.module, call, text, "share them by `reuse`, or write it as a class")

    def _training(self, node: ast.expr | None) -> None:
        """What tells a layer whether it trains: a flag that is fed, or something of Python's."""
        if isinstance(node, ast.Name) and isinstance(self.meanings.get(node.id), Placeholder):
            return  # whether its value is known is a matter of each step
        if node is not None:
            self.state.host_only(node, "whether a layer trains")

    def check_training(self) -> None:
        """Keras 3's layers are told whether they train by Python's own values.

        Raises:
            Refused: a step is fed it as a tensor.
        """
        for made in self.found.layers.values():
            self._check_flags(made.found, made.variables.unit)
        for call, found in self.found.applied.items():
            self._check_flags(found, self.names.statement(call))
        every = [(made, *one) for made in self.found.layers.values() for one in made.applications]
        for made, node, flag in every:
            meaning = self.meanings.get(flag.id) if isinstance(flag, ast.Name) else None
            if not isinstance(meaning, Placeholder):
                continue
            for step in self.found.steps:
                needs = any(unit.node is node for unit in step.units)
                if needs and meaning not in [placeholder for placeholder, _ in step.folded]:
                    text = f"`{meaning.name}`, a layer's training mode, is computed"
                    raise Refused(self.module, flag or made.found.call, text, _ADVICE)

    def _check_flags(self, found: Found, unit: ast.AST) -> None:
        """A flag that a function is given, which makes layers, may tell them whether they train.

        Raises:
            Refused: a step is fed it as a tensor.
        """
        for node in () if found.helper is None else (one for _, one in found.helper.inputs):
            assert found.helper is not None
            meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
            if not isinstance(meaning, Placeholder):
                if not any(
                    isinstance(self.meanings.get(part.id), GRAPH)
                    for part in walk(node)
                    if isinstance(part, ast.Name)
                ):
                    continue  # Python's own
                parameter = bind(found.helper.call, found.helper.function).parameter(node)
                if parameter is not None and self._is_told(found.helper.function, parameter):
                    shown = self.module.source.code(node)
                    text = f"`{shown}`, a layer's training mode, is computed"
                    raise Refused(self.module, node, text, _ADVICE)
                continue
            if not is_flag(meaning):
                continue
            for step in self.found.steps:
                needs = any(one.node is unit for one in step.units)
                if needs and meaning not in [placeholder for placeholder, _ in step.folded]:
                    text = f"`{meaning.name}`, a layer's training mode, is computed"
                    raise Refused(self.module, node, text, _ADVICE)

    def _is_told(self, function: Function, parameter: str, depth: int = 0) -> bool:
        """Whether a parameter of a function tells layers in it whether they train."""
        module = function.module
        for call in (node for node in walk(function.node) if isinstance(node, ast.Call)):
            row = LAYERS.by_name.get(name_of(module, call))
            if row is not None and row.training:
                told = NamedArguments(module, call, row.signature).get(row.training)
                if _reads(told, parameter):
                    return True
            inner = self.graph.target(module, call.func) if row is None else None
            if inner is not None and depth < _DEPTH:
                for name, value in bind(call, inner).values().items():
                    if _reads(value, parameter) and self._is_told(inner, name, depth + 1):
                        return True
        return False

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
        if name_of(self.module, node) in ("matmul", "nn.xw_plus_b", "nn.relu_layer"):
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
        self.state.host_only(part, "a layer")
        target = self.graph.target(self.module, part)
        if target is not None and self.expressions.touches_graph(target):
            self.expressions.of_function(target)
            self.found.builders[target.node] = target


def _reads(node: ast.expr | None, name: str) -> bool:
    """Whether an expression reads a name."""
    parts = walk(node) if node is not None else ()
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)
