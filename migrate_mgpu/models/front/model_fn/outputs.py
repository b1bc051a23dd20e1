"""What a network gives where loss and metrics look at several of its values, or at the features.

`call` then returns all of those values, and the model has steps of its own (`steps.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.dataflow import Dataflow, loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL, MODES, PREDICT, TRAIN, Path
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import AVERAGES
from migrate_mgpu.models.front.model_fn.losses import OTHER_WAY
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layers import inline_layer
from migrate_mgpu.models.front.network.objects import Objects
from migrate_mgpu.models.ir import Objective, Weight

Place = tuple[ast.AST, "ast.stmt | None"]

_GIVEN = ("features", "labels")
_REPEATED = 2  # statements that only prepare features, at most: they are written again
_RANDOM = ("random", "noise", "dropout", "shuffle", "truncated_normal", "multinomial")
_OWN = {"data", "gradients", "share", "tape", "self"}  # names that the steps use


class Outputs:
    """The statements of the network, the names that it returns, and the statements behind it.

    ``network`` goes into `call`, whose value ``names`` are. ``loss``, ``metrics``, ``predictions``
    and ``tested`` (an evaluation's own loss) are the statements between those names and what is
    asked for, ``settings`` statements among them that only say what is known when the model is
    made.

    Raises:
        Refused: what is asked for cannot be parted from the network.
    """

    def __init__(
        self,
        reading: Reading,
        loss: Objective,
        helpers: Helpers,
        predicts: bool,
        tested: Objective | None = None,
    ) -> None:
        self.reading = reading
        self.is_apart = tested is not None
        self.module = reading.module
        self.helpers = helpers
        metrics: list[Place] = [
            (part, where)
            for metric, where in reading.metrics.values()
            for part in ast.iter_child_nodes(metric)
            if isinstance(part, (ast.expr, ast.keyword))
        ]
        value = reading.argument(PREDICT, "predictions") if predicts else None
        self.asked: list[tuple[str, list[Place]]] = [
            (reading.base, [(loss.value, loss.unit)]),
            (EVAL, metrics),
            (PREDICT, [(value, reading.specs[PREDICT].unit)] if value is not None else []),
            (EVAL, [(tested.value, tested.unit)] if tested is not None else []),
        ]
        unpredicted = {PREDICT} if value is None else set()
        self.modes = [mode for mode in MODES if mode in reading.specs.keys() - unpredicted]
        self.objects = self._objects()
        self._averaging = self._averages()
        # The names of what the network gives with averages of its variables, and of such averages:
        # with the names of what they are of.
        self.averaged: dict[str, str] = {}
        self.averaged_weights: dict[str, str] = {}
        self.network = self._network()
        self._read()
        shared = self._shared() if reading.twins is None else set()
        if shared:
            flow = reading.flow
            self.network |= shared.union(*(flow.slice([unit], unit) for unit in shared))
            self._read()
        if self._problem is not None:
            raise self._problem
        self.names = sorted(self._found, key=lambda name: self._found[name][-1].lineno)
        self._check(loss.value)

    def _read(self) -> None:
        """Finds what stands behind the network."""
        reading = self.reading
        self.ends = {
            mode: Dataflow(
                Path(mode, [u for u in reading.paths[mode].units if u in self.network]),
                reading.parameters,
            )
            for mode in self.modes
        }
        self.averaged, self.averaged_weights = {}, {}
        self._found: dict[str, tuple[ast.stmt, ...]] = {}
        self._problem: Refused | None = None
        self.settings: set[ast.stmt] = set()
        self.loss, self.metrics, self.predictions, self.tested = (
            self._units(*one) for one in self.asked
        )
        if not self.is_apart:
            self._check_evaluation()

    def _shared(self) -> set[ast.stmt]:
        """Statements about the network's values that several of the steps would have."""
        steps = (self.loss, self.metrics, self.predictions, self.tested)
        found = {unit for step in steps for unit in step if sum(unit in s for s in steps) > 1}
        flow = self.reading.flow
        return {
            unit
            for unit in found
            if all(unit in self.reading.paths[mode].units for mode in self.modes)
            and not flow.depends(unit, unit, "labels")
            and not self._averaging.keys() & {unit, *flow.slice([unit], unit)}
            and self.network & {s for s in flow.slice([unit], unit) if self._makes_layers(s)}
        }

    def _averages(self) -> dict[ast.stmt, ast.Name]:
        """The statements `averaged = ema.average(logits)`, and what they are given."""
        found: dict[ast.stmt, ast.Name] = {}
        for mode, path in self.reading.paths.items():
            for unit in path.units:
                value = unit.value if isinstance(unit, ast.Assign) else None
                if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
                    continue
                flow = self.reading.flows[mode]
                made, _ = flow.resolve(value.func.value, unit)
                averages = made is not None and name_of(self.module, made) == AVERAGES
                if averages and value.func.attr == "average" and len(value.args) == 1:
                    given, target = (
                        value.args[0],
                        unit.targets[0] if isinstance(unit, ast.Assign) else None,
                    )
                    if isinstance(given, ast.Name) and isinstance(target, ast.Name):
                        found[unit] = given
        return found

    def _average(self, mode: str, name: ast.Name, unit: ast.stmt) -> None:
        """Notes a name that has the average of a variable, or what the network gives with them."""
        given, flow = self._averaging[unit], self.reading.flows[mode]
        if mode == TRAIN:
            raise Refused(self.module, name, "the loss uses averages of variables")
        definitions = flow.definitions(given.id, unit)
        if len(definitions) == 1 and self._is_weight(definitions[0]):
            self.averaged_weights[name.id] = given.id
            return
        if not all(one in self.network for one in definitions):
            text = "what this is with averages of variables cannot be determined"
            raise Refused(self.module, given, text)
        self.averaged[name.id] = given.id
        self._output(mode, given, definitions)

    def _check_evaluation(self) -> None:
        """An evaluation comes to its loss as training does."""
        loss, unit = self.reading.resolved(self.reading.base, "loss")
        other, where = self.reading.resolved(EVAL, "loss")
        if loss is None or other is None:
            return
        settings = set(self.settings)
        mine, yours = (
            self._units(self.reading.base, [(loss, unit)]),
            self._units(EVAL, [(other, where)]),
        )
        self.settings = settings
        if set(mine) - {unit} != set(yours) - {where}:
            raise Refused(self.module, other, OTHER_WAY, "use one loss for both")

    def _objects(self) -> Objects:
        units = {u: None for path in self.reading.paths.values() for u in path.units}
        nodes = [node for unit in units for node in walk(unit)]
        return Objects(self.module, nodes, self.helpers.graph, self.helpers.network)

    def _network(self) -> set[ast.stmt]:
        found: set[ast.stmt] = set()
        twin = self.reading.twins
        for mode, places in self.asked:
            flow = self.reading.flows[mode]
            for node, unit in places:
                if self._makes_layers(node):
                    text = "a layer is applied within the loss, a metric or the predictions"
                    raise Refused(self.module, node, text, "give its value a name before")
                behind = sorted(flow.slice([node], unit), key=position)
                layered = [s for s in behind if self._makes_layers(s)]
                found.update(layered)
                for statement in layered:
                    # What an `if` adds to, as `logits += net`, comes from before it as well.
                    before = [ast.Name(name, ast.Load()) for name in sorted(stored(statement)[1])]
                    found |= flow.slice([statement, *before], statement)
        if twin is not None:
            found.discard(twin.second)
        elif all(self._is_weight(s) for s in found if self._makes_layers(s)):
            found |= self._of_weights()
        for statement in sorted(found, key=lambda s: s.lineno):
            if self.reading.flow.depends(statement, statement, "labels"):
                text = "the network uses the labels"
                raise Refused(self.module, statement, text, "give them as features too")
        return found

    def _of_weights(self) -> set[ast.stmt]:
        """The network of weights alone: what goes through the variable that it ends in."""
        return self.reading.network if self.reading.end is not None else set()

    def makes_layers(self, node: ast.AST) -> bool:
        """Whether a statement makes a layer or a variable, itself or through a function."""
        return self._makes_layers(node)

    def _makes_layers(self, node: ast.AST) -> bool:
        for call in (c for c in walk(node) if isinstance(c, ast.Call)):
            function = self.helpers.target(self.module, call)
            if function is not None and self.helpers.makes_layers(function):
                return True
            if self.objects.applied(call) or inline_layer(self.module, call):
                return True
            if self.reading.layers.read(self.module, call) is not None:
                return True
        return False

    # -- what stands behind the network ---------------------------------------

    def _units(self, mode: str, places: Iterable[Place]) -> list[ast.stmt]:
        """The statements behind the network that some values come from; notes its outputs."""
        if mode not in self.ends:
            return []
        flow = self.reading.flows[mode]
        found: set[ast.stmt] = set()
        stack = [(name, unit) for node, unit in places for name in loaded(node)]
        while stack:
            name, place = stack.pop()
            definitions = flow.definitions(name.id, place)
            if len(definitions) == 1 and definitions[0] in self._averaging:
                self._average(mode, name, definitions[0])
                continue
            if self.reading.twins is not None and definitions == (self.reading.twins.second,):
                self._check_twin(mode, name)
                continue
            inside = [d for d in definitions if d in self.network and not self._is_light(mode, d)]
            if any(self._runs(mode, d) and not self._is_weight(d) for d in inside):
                self._output(mode, name, definitions)
                continue
            for statement in definitions:
                if statement not in found:
                    found.add(statement)
                    stack.extend((n, statement) for n in loaded(statement))
                    stack.extend(
                        (ast.copy_location(ast.Name(n, ast.Load()), statement), statement)
                        for n in stored(statement)[1]
                    )
        given = {u for u in found if self._runs(mode, u) and not self._is_weight(u)}
        self.settings |= found - given
        return sorted(given, key=lambda u: u.lineno)

    def averages_of(self, names: Iterable[str]) -> str:
        """What takes the network's values with averages, where some of these names are such."""
        wanted = {self.averaged[name]: name for name in names if name in self.averaged}
        return ", ".join(wanted.get(name, "_") for name in self.names) if wanted else ""

    def names_of(self, training: bool) -> list[str]:
        """The names that take the network's values, as it trains or as it tests."""
        twins = self.reading.twins
        return self.names if twins is None or training else [twins.names[1]]

    def _check_twin(self, mode: str, name: ast.Name) -> None:
        """The network as it tests is what metrics and predictions look at."""
        if mode == TRAIN:
            text = "the loss uses the network in evaluation mode"
            raise Refused(self.module, name, text, "use the network in training mode")

    def _runs(self, mode: str, statement: ast.stmt) -> bool:
        """Whether a statement says something of a batch, or of the weights as they are."""
        flow = self.reading.flows[mode]
        if any(flow.depends(statement, statement, one) for one in _GIVEN):
            return True
        behind = {statement, *flow.slice([statement], statement)}
        return any(self._is_weight(s) or self._makes_layers(s) for s in behind & self.network)

    def _is_weight(self, statement: ast.stmt) -> bool:
        """Whether a statement makes a variable, and nothing else has its name."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            return False
        target = statement.targets[0]
        found = self.reading.layers.read(self.module, statement.value)
        if not isinstance(found, Weight) or not isinstance(target, ast.Name):
            return False
        bindings = self.module.names.scopes[self.reading.function].bindings
        return len(bindings[target.id]) == 1

    def _output(self, mode: str, name: ast.Name, definitions: tuple[ast.stmt, ...]) -> None:
        """Notes a name that `call` returns: it is what the network leaves in it."""
        if definitions != self.ends[mode].definitions(name.id, None):
            text = f"`{name.id}` is given another value by the network later"
            advice = "give each value its own name"
            self._problem = self._problem or Refused(self.module, name, text, advice)
        if name.id in (*_GIVEN, *_OWN):
            text = f"the network changes `{name.id}`, which loss or metrics look at"
            advice = "give its value another name"
            self._problem = self._problem or Refused(self.module, name, text, advice)
        self._found.setdefault(name.id, definitions)

    def _is_light(self, mode: str, statement: ast.stmt) -> bool:
        """Whether a statement prepares features, in so few steps that it is simply repeated."""
        if not isinstance(statement, ast.Assign):
            return False
        flow = self.reading.flows[mode]
        behind = {statement, *flow.slice([statement], statement)}
        if len(behind) > _REPEATED or any(self._makes_layers(s) for s in behind):
            return False
        calls = (c for s in behind for c in walk(s) if isinstance(c, ast.Call))
        names = [ast.unparse(call.func) for call in calls]
        return not any(word in name for name in names for word in _RANDOM)

    def _check(self, loss: ast.expr) -> None:
        twins = self.reading.twins
        if twins is not None:
            if self.names != [twins.names[0]]:
                text = "the loss uses more than one value of a network that is called twice"
                raise Refused(self.module, loss, text)
            predicted = {n.id for u in self.predictions for n in loaded(u)}
            if twins.names[0] in predicted:
                text = "the predictions use the network in training mode"
                raise Refused(self.module, twins.first, text, "take them from the other")
        if not self.names:
            text = "the loss uses no value of the network"
            raise Refused(self.module, loss, text)
        for name in self.names:
            for mode in self.modes:
                if not self.ends[mode].definitions(name, None):
                    text = f"the network returns `{name}` in some modes only"
                    raise Refused(self.module, loss, text, "return the same in all modes")
