"""Functions and classes of the run that hold a part of a network."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.binding_time import BindingTimes
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import MODES, TRAIN, Value
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.keras_layers import returns_model
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.layers import HelperCall
from migrate_mgpu.models.front.network.network_classes import (
    OWN_CLASS,
    NetworkClass,
    read_network_class,
)
from migrate_mgpu.models.front.network.reuse import ReuseReader
from migrate_mgpu.models.front.own_optimizers import is_own


@record(eq=False)
class Helper:
    """A function with layers: which of its parameters are what, and its calls.

    ``known`` are the parameters that tell the mode, with what they are in each, ``plain`` the
    tensors that are Python's own values, chosen by the mode.
    """

    function: Function
    tensors: list[str]
    settings: list[str]
    known: dict[str, dict[str, Value]]
    calls: list[tuple[Module, ast.Call]] = field(default_factory=list)
    plain: set[str] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)  # tensors that some calls leave out


# A parameter of a function of the run.
Parameter = tuple[ast.AST, str]
_TRAINS: dict[str, Value] = {mode: mode == TRAIN for mode in MODES}


class Helpers:
    """The functions and classes of one conversion that make layers.

    ``told`` are parameters by which other conversions say whether a function trains: where this
    one gives them False, that says the same. Afterwards ``tells`` are its own, and ``never`` those
    that it gives False.
    """

    def __init__(
        self,
        graph: CallGraph,
        calls: LayerCalls,
        regularized: bool,
        told: Collection[Parameter] = (),
    ) -> None:
        self.told = told
        self.tells: set[Parameter] = set()
        self.never: set[Parameter] = set()
        self.graph = graph
        self.layer_calls = calls
        self.regularized = regularized
        self.reuse = ReuseReader(graph)
        self.found: dict[ast.AST, Helper] = {}
        self.networks: dict[ast.AST, NetworkClass] = {}
        self._layered: dict[ast.AST, bool] = {}
        self._flags: dict[ast.AST, set[str]] = {}

    def makes_layers(self, function: Function) -> bool:
        """Whether a function makes layers, itself or through others."""
        if function.node not in self._layered:
            self._layered[function.node] = False  # ends a recursion
            self._layered[function.node] = not returns_model(function) and any(
                self._is_layer(function.module, call)
                or ((inner := self.target(function.module, call)) and self.makes_layers(inner))
                for call in walk(function.node)
                if isinstance(call, ast.Call)
            )
        return self._layered[function.node]

    def target(self, module: Module, call: ast.Call) -> Function | None:
        """The function of the run that a call reaches; None for a class or anything else."""
        found = self.graph.target(module, call.func)
        return found if found is not None and found.owner is None else None

    def network(self, module: Module, call: ast.Call) -> NetworkClass | None:
        """The class of the run that a call makes an object of, if that is a network.

        Raises:
            Refused: it is a network that cannot be analyzed.
        """
        found = self.graph.class_of(module, call.func)
        if found is None or is_own(*found):
            return None
        home, node = found
        if node not in self.networks:
            if not home.writable:
                text = f"{node.name} makes layers outside of the given paths"
                raise Refused(module, call, text, "give its folder as a path too")
            for inner in (part for part in walk(node) if isinstance(part, ast.Call)):
                function = self.target(home, inner)
                if function is not None and self.makes_layers(function):
                    text = f"{function.name} makes layers for a class that is a network"
                    advice = "make them in the class's `__init__`"
                    raise Refused(home, inner, text, advice, OWN_CLASS)
            self.networks[node] = read_network_class(home, node, self.layer_calls, self.regularized)
        return self.networks[node]

    def _is_layer(self, module: Module, call: ast.Call) -> bool:
        qualname = module.names.qualname(call.func) or ""
        if symbol(qualname) is None:
            return False
        if ".keras.layers." in qualname:
            return True
        found = symbol(qualname)
        assert found is not None
        made = found.name in VARIABLES.by_name or is_recurrent(module, call)
        if not made and not found.name.startswith(("layers.", "contrib.layers.", "contrib.slim.")):
            return False
        try:
            return self.layer_calls.read(module, call) is not None
        except Refused:
            return True

    def use(
        self,
        module: Module,
        call: ast.Call,
        times: BindingTimes,
        reuses: Collection[str] | None = None,
        plain: Collection[str] = (),
    ) -> HelperCall | None:
        """What a call of a function with layers gives it; None for any other call.

        ``reuses`` are the parameters that only tell whether weights are shared, where it is known
        which calls share them; ``plain`` are those that may be Python's own values each time.

        Raises:
            Refused: it is called in two ways that one class cannot serve.
        """
        function = self.target(module, call)
        if function is None or not self.makes_layers(function):
            return None
        if not function.module.writable:
            text = f"{function.name} makes layers outside of the given paths"
            raise Refused(module, call, text, "give its folder as a path too")
        given = self._bind(module, call, function)
        tensors, settings = [], []
        trains = True
        known: dict[str, dict[str, Value]] = {
            name: dict.fromkeys(MODES, False) for name in reuses or ()
        }
        asked = {name: times.modes.values(value) for name, value in given.items()}
        for name, value in given.items():
            if name in known:
                continue
            values = asked[name]
            if constant(value) is False:
                self.never.add((function.node, name))
                if (function.node, name) in self.told and not any(asked.values()):
                    values, trains = _TRAINS, False
            elif values == _TRAINS:
                self.tells.add((function.node, name))
            if values is not None:
                known[name] = values
            elif times.runs(value):
                tensors.append(name)
            elif _is_gone_through_once(module, value):
                text = f"`{module.source.code(value)}` can be gone through once, and layers do more"
                raise Refused(module, value, text, "give it as a list")
            else:
                settings.append(name)
        by_place = function.parameters()
        parameters = [*by_place, *(one.arg for one in function.node.args.kwonlyargs)]
        defaults = bind(call, function).defaults
        left = [
            one for one in plain if one not in given and isinstance(defaults.get(one), ast.Constant)
        ]
        tensors += left  # other calls of the same layers are given them
        order = [*parameters, *tensors]
        flags = self.flags(function)
        # That of `call`, whatever the call's is. Keras takes the first one for the input, and
        # knows `training` by its name.
        place = {one: (one == "training" and one in flags, order.index(one)) for one in order}
        tensors.sort(key=place.__getitem__)
        helper = self.found.get(function.node)
        if helper is None:
            none = [one for one in settings if is_none(given[one]) and self._others(function, one)]
            tensors += none
            tensors.sort(key=place.__getitem__)
            settings = [one for one in settings if one not in none]
        if helper is not None and {*tensors} < {*helper.tensors}:
            more = [name for name in helper.tensors if name not in tensors]
            if all(is_none(given.get(name, defaults.get(name))) for name in more):
                tensors = helper.tensors  # it has none where other calls have tensors
                helper.optional.update(name for name in more if name not in given)
                settings = [name for name in settings if name not in more]
        if helper is None:
            every = [n for n in parameters if n not in (*tensors, *known)]
            helper = self.found[function.node] = Helper(function, tensors, every, known)
        elif (set(helper.tensors), helper.known) != (set(tensors), known):
            text = f"{function.name} is called in two ways: with tensors, and with settings"
            advice = "give each parameter a tensor in all calls, or a setting in all"
            raise Refused(module, call, text, advice)
        helper.optional.update(left)
        if (module, call) not in helper.calls:
            helper.calls.append((module, call))
        if reuses is None and len(helper.calls) > 1 and self._shares(function):
            text = f"the calls of {function.name} share weights by `reuse`"
            raise Refused(module, call, text, "call it once, and use its value twice")
        helper.plain |= {name for name in tensors if name in given and times.chosen(given[name])}
        positions = [n for n in parameters if n in tensors]
        # Keras 3's layers take only tensors by position.
        named = {*self.flags(function), *plain, *helper.plain}
        first = [n for n in positions if n not in named]
        by_position = first == by_place[: len(first)]
        return HelperCall(
            call,
            function,
            tuple(
                (None if by_position and n in first else n, given[n])
                for n in positions
                if n in given
            ),
            tuple(
                (name, given[name], given[name] in call.args)
                for name in parameters
                if name in settings
            ),
            trains,
        )

    def _others(self, function: Function, name: str) -> bool:
        """Whether other calls of a function compute what it computes with: that is no setting."""
        given = (
            bind(reference.call, function).given(name)
            for reference in self.graph.references(function)
            if reference.call is not None
        )
        return any(isinstance(value, ast.Call) for value in given) and any(
            isinstance(part, ast.Call)
            and name_of(function.module, part) in COMPUTES
            and any(isinstance(one, ast.Name) and one.id == name for one in part.args)
            for part in walk(function.node)
        )

    def flags(self, function: Function) -> set[str]:
        """Parameters that tell a layer whether it trains, or choose what is computed."""
        if function.node not in self._flags:
            self._flags[function.node] = set()  # ends a recursion
            told: list[ast.expr] = []
            for node in walk(function.node):
                if isinstance(node, (ast.If, ast.IfExp)):
                    told.append(node.test)
                elif isinstance(node, ast.Call):
                    row = LAYERS.by_name.get(name_of(function.module, node))
                    if row is not None and row.inputs and row.training:
                        given = NamedArguments(function.module, node, row.signature)
                        told += [one for one in [given.get(row.training)] if one is not None]
                        continue
                    inner = self.target(function.module, node)
                    if inner is not None and self.makes_layers(inner):
                        own = self._bind(function.module, node, inner)
                        told += [own[name] for name in self.flags(inner) if name in own]
            names = {name for node in told for name in _named(node)}
            self._flags[function.node] = names & set(function.parameters())
        return self._flags[function.node]

    def _bind(self, module: Module, call: ast.Call, function: Function) -> dict[str, ast.expr]:
        arguments = bind(call, function)
        if arguments.unclear is not None:
            raise Refused(module, call, f"{function.name} gets its arguments from `*` or `**`")
        if function.node.args.vararg or function.node.args.kwarg:
            raise Refused(function.module, function.node, f"{function.name} takes `*` or `**`")
        return arguments.written()

    def _shares(self, function: Function) -> bool:
        source = function.module.source
        code = source.code(function.node)
        return "reuse" in code or "AUTO_REUSE" in code or "get_variable_scope" in code

    def calls(self) -> set[ast.AST]:
        """The mentions of functions that became classes, as far as they are rewritten."""
        return {call.func for helper in self.found.values() for _, call in helper.calls}

    def elsewhere(self) -> Iterator[Refused]:
        """The other mentions of these functions, as what keeps them from being classes."""
        known = self.calls()
        for helper in self.found.values():
            for reference in self.graph.references(helper.function):
                if reference.node not in known:
                    text = f"{helper.function.name} makes layers, and is used here as well"
                    yield Refused(reference.module, reference.node, text)

    def check_uses(self) -> None:
        """Every mention of a function that became a class must be one that was rewritten.

        Raises:
            Refused: with the other mention.
        """
        for refused in self.elsewhere():
            raise refused


_ITERATORS = {"map", "filter", "zip", "iter", "enumerate", "reversed"}


def _is_gone_through_once(module: Module, value: ast.expr) -> bool:
    """Whether a value is an iterator, of which a layer that is applied again finds nothing left."""
    if isinstance(value, ast.Name):
        value = module.names.only_value(value) or value
    if isinstance(value, ast.GeneratorExp):
        return True
    name = module.names.qualname(value.func) or "" if isinstance(value, ast.Call) else ""
    return name.startswith("builtins.") and name.partition(".")[2] in _ITERATORS


def _named(node: ast.expr) -> set[str]:
    """The names that a condition is made of alone: `training`, `not training`, `a and b`."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _named(node.operand)
    if isinstance(node, ast.BoolOp):
        return {name for value in node.values for name in _named(value)}
    return set()
