"""Functions of the author's that make variables or layers and apply them at once.

Each becomes a class of layers: what it is given as Python's values makes the layer, what it is
given as tensors is what the layer is applied to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.scopes import line_of, walk
from migrate_mgpu.api.layers import LAYERS, NORMALIZERS
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layer_calls import LayerCalls
from migrate_mgpu.models.front.network.layers import Found, find_layers
from migrate_mgpu.models.front.session.weight_sharing import WeightSharing
from migrate_mgpu.models.ir import Averaging, Layer

# Functions that give no more dimensions than they take.
_KEEP_DIMENSIONS = {
    "dense", "dropout", "batch_normalization", "flatten", "relu", "elu", "selu", "tanh",
    "sigmoid", "softmax", "leaky_relu", "matmul", "bias_add", "variable_scope", "name_scope",
    "get_variable", "truncated_normal_initializer", "random_normal_initializer",
    "zeros_initializer", "constant_initializer", "get_variable_scope", "reuse_variables",
}  # fmt: skip


class _NoModes:
    """There are no modes in a session's program: nothing tells training from the rest."""

    @staticmethod
    def values(node: ast.AST) -> None:
        del node


class _Times:
    """Which of a call's arguments its layers are applied to, each time."""

    modes = _NoModes()

    def __init__(self, is_tensor: Callable[[ast.AST], bool], varying: AbstractSet[ast.AST]) -> None:
        """``varying`` are arguments that calls of the same layers differ in."""
        self.is_tensor = is_tensor
        self.varying = varying

    def runs(self, node: ast.AST) -> bool:
        return node in self.varying or self.is_tensor(node)

    @staticmethod
    def chosen(node: ast.AST) -> bool:
        """Whether the mode chooses it: `use` is told what else is Python's own value."""
        del node
        return False


class HelperReader:
    """Reads calls of functions that make and apply layers, in the scope that builds the graph."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        calls: LayerCalls,
        regularized: bool,
        is_tensor: Callable[[ast.AST], bool],
        is_flag: Callable[[ast.AST], bool],
        beside: AbstractSet[Module],
        reusing: AbstractSet[ast.AST] = frozenset(),
    ) -> None:
        """``reusing`` is what stands in scopes whose variables are there already."""
        self.beside = beside
        self.module = module
        self.graph = graph
        self.regularized = regularized
        self.calls = calls
        self.is_tensor = is_tensor
        self.is_flag = is_flag
        self.helpers = Helpers(graph, calls, regularized)
        self.sharing = WeightSharing(graph, self.helpers, reusing)

    def function(self, call: ast.Call) -> Function | None:
        """The function that a call reaches, if that makes layers or variables for tensors."""
        target = self.helpers.target(self.module, call)
        if target is None or target.module not in {self.module, *self.beside}:
            return None
        if not isinstance(target.node, ast.FunctionDef) or not self.helpers.makes_layers(target):
            return None
        return None if returns_variable(target) else target

    def of(self, call: ast.Call) -> Found | None:
        """A call of such a function as a layer.

        Raises:
            Refused: the function cannot be a layer.
        """
        function = self.function(call)
        if function is None:
            return None
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(self.is_tensor(value) for value in given):
            return None
        first = self.sharing.first(self.module, call, function)
        reuse = self.sharing.of(function) if first is not None else None
        varying = self.sharing.varying(function) if reuse is not None else set()
        known = bind(call, function).values()
        plain = {name for name in varying if name in known and not self.is_tensor(known[name])}
        times = _Times(self.is_tensor, {known[name] for name in plain})
        use = self.helpers.use(
            self.module,
            call,
            times,  # type: ignore[arg-type]
            None if reuse is None else reuse.parameters,
            plain.union(name for name, value in known.items() if self.is_flag(value)),
        )
        if use is None:
            return None
        found = find_layers(self.module, [call], self.calls, {call: use}, self.regularized)[call]
        return found if first in (None, call) else replaced(found, shares=first)

    def normalizers(
        self, function: Function, seen: frozenset[ast.AST] = frozenset()
    ) -> list[tuple[ast.expr, Averaging]]:
        """Each batch normalization in a function: what tells it whether it trains, as named there.

        Raises:
            Refused: that cannot be determined.
        """
        module = function.module
        found: list[tuple[ast.expr, Averaging]] = []
        for call in (node for node in walk(function.node) if isinstance(node, ast.Call)):
            row = LAYERS.by_name.get(name_of(module, call))
            inner = self.helpers.target(module, call)
            if row is not None and row.inputs and row.keras in NORMALIZERS:
                layer = self.calls.read(module, call, self.regularized)
                assert isinstance(layer, Layer) and layer.averaging is not None
                found.append((self._flag_value(function, layer.training), layer.averaging))
            elif inner is not None and inner.node not in seen and self.helpers.makes_layers(inner):
                own = bind(call, inner).values()
                for flag, averaging in self.normalizers(inner, seen | {function.node}):
                    flag = own.get(flag.id, flag) if isinstance(flag, ast.Name) else flag
                    found.append((self._flag_value(function, flag), averaging))
        return found

    def _flag_value(self, function: Function, flag: ast.expr | None) -> ast.expr:
        """A flag that is written out, or a parameter of its function."""
        if flag is None:
            return ast.Constant(False)
        names = function.module.names
        if isinstance(flag, ast.Name):
            bindings = names.bindings_of(flag)
            if [one.kind for one in bindings] == ["parameter"] and flag.id in function.parameters():
                return flag
        elif isinstance(flag, ast.Constant):
            return flag
        text = "whether batch normalization trains is computed in a function"
        raise Refused(function.module, flag, text, "give it to the function")

    def may_shape(self, function: Function) -> bool:
        """Whether a function may give a tensor other dimensions than it has."""
        calls = [node for node in walk(function.node) if isinstance(node, ast.Call)]
        for call in calls:
            inner = self.helpers.target(function.module, call)
            known = name_of(function.module, call).rpartition(".")[2]
            if inner is None and known not in _KEEP_DIMENSIONS:
                return True
            if inner is not None and inner.node is not function.node and self.may_shape(inner):
                return True
        return False


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


def summaries_in(function: Function) -> list[ast.Expr]:
    """The statements of a function that make summaries, and give them no name, in their order."""
    found = [
        node
        for node in walk(function.node)
        if isinstance(node, ast.Expr) and name_of(function.module, node.value) in SUMMARIES.by_name
    ]
    return sorted(found, key=lambda node: node.lineno)


def summarized(function: Function, summary: ast.Expr, graph: CallGraph) -> ast.Call | None:
    """What makes the variable that a summary in a function tells of; None: it tells of its value.

    Raises:
        Refused: it tells of something else.
    """
    module, node, call = function.module, function.node, summary.value
    assert isinstance(call, ast.Call)
    row = SUMMARIES.by_name[name_of(module, call)]
    given = NamedArguments(module, call, row.signature).rest
    value = given.get(row.parameters[1].name)
    if isinstance(value, ast.Name) and len(given) == 2 and summary not in _branches(function):
        bindings = module.names.scopes[node].bindings.get(value.id, ())
        made = bindings[0].value if len(bindings) == 1 else None
        if isinstance(made, ast.Call):
            target = graph.target(module, made.func)
            if name_of(module, made) in VARIABLES.by_name or (target and returns_variable(target)):
                return made
        given_back = [part.value for part in walk(node) if isinstance(part, ast.Return)]
        last = max((line_of(binding.node) for binding in bindings), default=summary.lineno)
        if last < summary.lineno and len(given_back) == 1 and given_back[0] is not None:
            if ast.dump(given_back[0]) == ast.dump(value):
                return None
    text = "a summary of what only a function knows, which becomes a class of layers"
    raise Refused(module, call, text, "return the value, and make its summary behind the call")


def _branches(function: Function) -> list[ast.stmt]:
    """The statements of a function that may run at some calls, or several times."""
    kinds = (ast.If, ast.For, ast.While, ast.Try)
    around = [node for node in walk(function.node) if isinstance(node, kinds)]
    return [part for node in around for part in walk(node) if isinstance(part, ast.stmt)]
