"""Layers that the statements of a session's program make and apply."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS, LayerRow
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.network.decoders import is_decoding
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.layers import Found, find_layers
from migrate_mgpu.models.front.network.recurrent import zero_state
from migrate_mgpu.models.front.session.helper_calls import HelperReader
from migrate_mgpu.models.ir import Decoding, Recurrent

# What asks for the terms that layers' regularizers add up to.
_REGULARIZED = (
    "losses.get_regularization_loss", "losses.get_regularization_losses", "losses.get_total_loss",
    "GraphKeys.REGULARIZATION_LOSSES",
)  # fmt: skip
_KEY = "regularization_losses"  # the value of the last one


class LayerReader:
    """Reads calls of ``tf.layers``, and of functions that make layers, each once."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        is_tensor: Callable[[ast.AST], bool],
        is_flag: Callable[[ast.AST], bool],
        home: ast.AST,
        beside: AbstractSet[Module] = frozenset(),
        reusing: AbstractSet[ast.AST] = frozenset(),
    ) -> None:
        """``is_tensor`` says whether an expression is a part of the graph where it is read.

        ``is_flag``: a part that steps may know, and have as a value of Python's. ``home`` is
        the scope that builds it, ``beside`` are the program's other modules. ``reusing`` is what
        stands there in scopes whose variables are there already.
        """
        self.module = module
        self.graph = graph
        self.home = home
        self.beside = beside
        self._calls = LayerCalls(alone=True)  # no network runs in a tower
        self.functions = HelperReader(
            module,
            graph,
            self._calls,
            self.regularized,
            is_tensor,
            is_flag,
            beside,
            reusing,
        )
        self._found: dict[ast.Call, Found | None] = {}

    def of(self, call: ast.Call) -> Found | None:
        """The layer that a call makes and applies; None where it does not.

        Raises:
            Refused: it has an argument that no Keras layer has.
        """
        if call not in self._found:
            self._found[call] = None
            row = LAYERS.by_name.get(name_of(self.module, call))
            shared = self._named_alike(call, row) if row is not None and row.inputs else None
            if shared is not None:
                self._found[call] = shared
            elif (
                (row is not None and row.inputs)
                or is_recurrent(self.module, call)
                or is_decoding(self.module, call)
            ):
                found = find_layers(self.module, [call], self._calls, {}, self.regularized)
                self._found[call] = found.get(call)
            else:
                self._found[call] = self.functions.of(call)
        return self._found[call]

    def _named_alike(self, call: ast.Call, row: LayerRow) -> Found | None:
        """`tf.layers.dense(other, 10, name="out", reuse=True)`: the layer of an earlier call.

        That has the name, in the same scopes, and all else that makes it.
        """
        given = by_parameter(call, row.signature)
        name = given.get("name")
        if constant(given.get("reuse")) is not True or not isinstance(constant(name), str):
            return None
        own = _making(given, row)
        scopes = self._scopes(call)
        for other in self.module.names.calls:
            if (
                other.lineno >= call.lineno
                or LAYERS.by_name.get(name_of(self.module, other)) is not row
            ):
                continue
            theirs = by_parameter(other, row.signature)
            if constant(theirs.get("reuse")) is True or constant(theirs.get("name")) != constant(
                name
            ):
                continue
            if _making(theirs, row) != own or self._scopes(other) != scopes or scopes is None:
                continue
            first = self.of(other)
            if first is None or first.training is not None or first.keywords:
                return None
            if row.inputs not in given:
                return None
            return replaced(first, call=call, inputs=(given[row.inputs],), shares=other)
        return None

    def _scopes(self, call: ast.Call) -> list[object] | None:
        """The names of the scopes of variables around a call in the scope that builds."""
        found: list[object] = []
        for parent in self.module.names.ancestors(call):
            if parent is self.home:
                return found
            for item in parent.items if isinstance(parent, ast.With) else ():
                scope = item.context_expr
                if name_of(self.module, scope) == "variable_scope":
                    assert isinstance(scope, ast.Call)
                    word = constant(scope.args[0]) if len(scope.args) == 1 else None
                    if not isinstance(word, str) or scope.keywords:
                        return None
                    found.append(word)
            if isinstance(parent, (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.Lambda)):
                return None
        return None

    def of_module(self, module: Module) -> LayerReader:
        """The reader of another module's functions, which are given what is not seen there."""

        def no(_: ast.AST) -> bool:
            return False

        return LayerReader(module, self.graph, no, no, self.home, self.beside)

    @property
    def regularized(self) -> bool:
        """Whether the program asks for the layers' regularization terms."""
        modules = (self.module, *self.beside)
        return any(
            use.symbol.name.endswith(_REGULARIZED) for module in modules for use in module.uses
        ) or any(_KEY in module.source.text for module in modules)

    @classmethod
    def settings(cls, found: Found) -> list[ast.AST]:
        """The nodes of what a layer is made of."""
        given = cls.tensors(found)
        waiting: list[ast.AST] = [
            *(argument for argument in found.call.args if argument not in given),
            *(keyword.value for keyword in found.call.keywords if keyword.value not in given),
        ]
        return [part for node in waiting for part in walk(node)]

    @staticmethod
    def tensors(found: Found) -> list[ast.expr]:
        """What a layer is given each time that it is applied."""
        given = [*found.inputs, *(node for _, node in found.keywords)]
        if isinstance(found.layer, Recurrent) and found.layer.lengths is not None:
            given.append(found.layer.lengths)
        if isinstance(found.layer, Recurrent) and found.layer.start is not None:
            if zero_state(found.module, found.layer.start) is None:
                given.append(found.layer.start)
        if isinstance(found.layer, (Recurrent, Decoding)):
            told = (found.layer.memory, found.layer.remembered)
            given += [one for one in told if one is not None]
        if isinstance(found.layer, Decoding):
            given.append(found.layer.start)
            given += [] if found.layer.limit is None else [found.layer.limit]
        return [*given, found.training] if found.training is not None else given


def _making(given: Mapping[str, ast.expr], row: LayerRow) -> dict[str, str]:
    """What a layer is made of, so far as it is written."""
    apart = (row.inputs, "reuse")
    return {key: ast.dump(value) for key, value in given.items() if key not in apart}


def scope_of(module: Module, statement: ast.With) -> ast.Call | None:
    """The scope that a block of layers stands in: it names them, and may share their variables."""
    if len(statement.items) != 1 or statement.items[0].optional_vars is not None:
        return None
    call = statement.items[0].context_expr
    if not isinstance(call, ast.Call) or len(call.args) != 1 or constant(call.args[0]) is None:
        return None
    given = {keyword.arg for keyword in call.keywords}
    name = name_of(module, call)
    if name == "name_scope":
        return None if given else call
    return call if name == "variable_scope" and given <= {"reuse"} else None
