"""Functions whose later calls have the variables of an earlier one, by `reuse`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import CELLS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.session.scope import is_reset, scopes_of

_SIZES = ("units", "filters", "num_outputs")
_UNITS = "num_units"  # of a recurrent cell


@record(frozen=True, eq=False)
class Reuse:
    """How a function says whether its variables are those of an earlier call.

    ``parameter`` tells it, and nothing else; without one they are, where there are such, or where
    a scope around the call says so (``around``).
    ``statement`` is the condition that does nothing else; ``scope`` is the name of the scope that
    the variables are in.
    """

    parameter: str | None
    statement: ast.If | None
    scope: ast.expr | None
    around: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        return () if self.parameter is None else (self.parameter,)


class WeightSharing:
    """Tells which calls of functions that make layers share their variables."""

    def __init__(
        self, graph: CallGraph, helpers: Helpers, reusing: AbstractSet[ast.AST] = frozenset()
    ) -> None:
        """``reusing`` is what stands in scopes whose variables are there already."""
        self.reusing = reusing
        self.graph = graph
        self.helpers = helpers
        self._reuses: dict[ast.AST, Reuse | None] = {}
        self._calls: dict[ast.AST, list[ast.Call]] = {}

    def of(self, function: Function) -> Reuse | None:
        """How a function shares its variables; None where it does not, or in another way."""
        if function.node not in self._reuses:
            self._reuses[function.node] = None  # of a function that calls itself
            self._reuses[function.node] = self._read(function)
        return self._reuses[function.node]

    def _read(self, function: Function) -> Reuse | None:
        module, node = function.module, function.node
        scopes = [
            (statement, item.context_expr, keyword.value)
            for statement in walk(node)
            if isinstance(statement, ast.With)
            for item in statement.items
            if isinstance(item.context_expr, ast.Call)
            and name_of(module, item.context_expr) == "variable_scope"
            for keyword in item.context_expr.keywords
            if keyword.arg == "reuse"
        ]
        conditions = [one for one in walk(node) if isinstance(one, ast.If) and _reuses(module, one)]
        if _makes_unshared(function):
            return None
        if not scopes and not conditions and not self.reusing.isdisjoint(self.calls(function)):
            return Reuse(None, None, None, around=True)
        if not scopes and not conditions:
            return self._handed(function)
        if bool(scopes) == bool(conditions) or len(conditions) > 1:
            return None
        if scopes:
            return self._of_scopes(function, scopes)
        name = self._only_parameter(function, conditions[0].test)
        around = module.names.parents[conditions[0]]
        if name is None or conditions[0] is not getattr(around, "body", [None])[0]:
            return None
        if around is node:
            return Reuse(name, conditions[0], None)
        scope = around.items[0].context_expr if isinstance(around, ast.With) else None
        if not isinstance(scope, ast.Call) or name_of(module, scope) != "variable_scope":
            return None
        if not scope.args or scope.keywords or not self._are_in(function, [around]):
            return None
        return Reuse(name, conditions[0], scope.args[0])

    def _handed(self, function: Function) -> Reuse | None:
        """How a function says it that hands on what it is given to the one that makes all layers.

        `logits = inference(x, name, reuse)`, in a function with these parameters.
        """
        module = function.module
        made = [
            (call, target)
            for call in walk(function.node)
            if isinstance(call, ast.Call)
            and (target := self.helpers.target(module, call)) is not None
            and self.helpers.makes_layers(target)
        ]
        if len(made) != 1 or not self._are_in(function, [made[0][0]]):
            return None
        ((call, target),) = made
        inner = self.of(target)
        if inner is None or inner.parameter is None:
            return None
        given = bind(call, target)
        value = given.value(inner.parameter)
        name = self._only_parameter(function, value) if value is not None else None
        scope = inner.scope
        if isinstance(scope, ast.Name):
            scope = given.value(scope.id) or scope
        if name is None or not (scope is None or isinstance(scope, (ast.Name, ast.Constant))):
            return None
        if isinstance(scope, ast.Name) and scope.id not in function.parameters():
            return None
        return Reuse(name, None, scope)

    def _of_scopes(
        self, function: Function, scopes: list[tuple[ast.With, ast.Call, ast.expr]]
    ) -> Reuse | None:
        """How the blocks of a function say it, each with its scope and what is given for `reuse`.

        Several say it by the same parameter, and have names of their own.
        """
        module = function.module
        _, call, value = scopes[0]
        scope = _name_of(call)
        if scope is None or not self._are_in(function, [block for block, _, _ in scopes]):
            return None
        if len(scopes) > 1:
            names = [constant(_name_of(one)) for _, one, _ in scopes]
            told = {ast.dump(one) for _, _, one in scopes}
            nested = any(
                block is not other and other in module.names.ancestors(block)
                for block, _, _ in scopes
                for other, _, _ in scopes
            )
            if nested or len(told) > 1 or len({*names}) != len(names):
                return None
            if not isinstance(value, ast.Name) or not all(isinstance(n, str) for n in names):
                return None
        if _is_auto(module, value):
            return Reuse(None, None, scope)
        name = self._only_parameter(function, value)
        return None if name is None else Reuse(name, None, scope)

    def _only_parameter(self, function: Function, value: ast.expr) -> str | None:
        """The parameter that a value is, if that tells nothing else."""
        if not isinstance(value, ast.Name):
            return None
        return value.id if value.id in self.helpers.reuse.parameters(function) else None

    def _are_in(self, function: Function, blocks: Iterable[ast.AST]) -> bool:
        """Whether all that a function makes stands in one of some blocks."""
        inside = {node for block in blocks for node in walk(block)}
        return all(
            call in inside
            for call in walk(function.node)
            if isinstance(call, ast.Call) and self._makes(function.module, call)
        )

    def _makes(self, module: Module, call: ast.Call) -> bool:
        target = self.helpers.target(module, call)
        if target is not None:
            return self.helpers.makes_layers(target)
        return self.helpers.layer_calls.makes_layer(module, [call])

    # -- calls ----------------------------------------------------------------------

    def calls(self, function: Function) -> list[ast.Call]:
        """A function's calls, in order; none where it is more than called in one module."""
        if function.node not in self._calls:
            references = self.graph.references(function)
            calls = [one.call for one in references if one.call is not None]
            one_home = (
                len({(one.module, _enclosing(one.module, one.node)) for one in references}) == 1
            )
            fine = one_home and len(calls) == len(references)
            calls.sort(key=lambda call: (call.lineno, call.col_offset))
            self._calls[function.node] = calls if fine else []
        return self._calls[function.node]

    def first(self, module: Module, call: ast.Call, function: Function) -> ast.Call | None:
        """The call whose variables a call has; None where that cannot be determined."""
        reuse = self.of(function)
        calls = self.calls(function)
        if reuse is None or call not in calls:
            return None
        own = self._scope(module, call, function, reuse)
        found: ast.Call | None = None
        begin = max((one.lineno for one in _resets(module) if one.lineno < call.lineno), default=0)
        for other in calls[: calls.index(call) + 1]:
            if other.lineno < begin:
                continue  # of another graph
            if self._scope(module, other, function, reuse) != own:
                continue
            given = bind(other, function).value(reuse.parameter or "")
            if reuse.around:
                if (other in self.reusing) is (found is None):
                    return None  # TF1 raises an error
                found = found or other
            elif reuse.parameter is None or _is_auto(module, given):
                found = found or other
            elif given is None or is_none(given) or constant(given) is False:
                if found is not None:
                    return None  # TF1 raises an error
                found = other
            elif reuse.scope is not None and not isinstance(given, ast.Constant):
                # Another value than the one that fits, of variables of one name, is TF1's error.
                found = found or other
            elif constant(given) is not True or found is None:
                return None
        return found

    def _scope(self, module: Module, call: ast.Call, function: Function, reuse: Reuse) -> object:
        """What TF1 puts before the names of the variables of a call."""
        name = reuse.scope
        if isinstance(name, ast.Name):
            name = bind(call, function).value(name.id) or name
        around = [ast.dump(scope) for scope in scopes_of(module, call)]
        return around, None if name is None else ast.dump(name)

    def varying(self, function: Function) -> set[str]:
        """Parameters that calls which share variables are given different values for.

        A size is none of them: variables that are shared have that of the first call.
        """
        reuse = self.of(function)
        if reuse is None:
            return set()
        told = {reuse.parameter}
        told |= {reuse.scope.id} if isinstance(reuse.scope, ast.Name) else set()
        given = [bind(call, function).values() for call in self.calls(function)]
        return {
            name
            for name in function.parameters()
            if name not in told
            and not self._is_size(function, name)
            and len({ast.dump(one[name]) if name in one else None for one in given}) > 1
        }

    def _is_size(self, function: Function, name: str) -> bool:
        """Whether a parameter only says how many values layers give that have variables."""
        module, names = function.module, function.module.names
        home = names.scopes[function.node]
        mentions = [one for one in names.mentions(name, home) if isinstance(one.ctx, ast.Load)]
        for mention in mentions:
            call = names.taker(mention)
            row = LAYERS.by_name.get(name_of(module, call)) if call is not None else None
            given = NamedArguments(module, call, row.signature) if call and row else None
            sizes = [given.get(one) for one in _SIZES] if given is not None else []
            cell = CELLS.by_name.get(name_of(module, call)) if call is not None else None
            if cell is not None and call is not None and cell.signature[:1] == (_UNITS,):
                sizes = [NamedArguments(module, call, cell.signature).get(_UNITS)]
            if mention not in sizes:
                return False
        return bool(mentions) and len(home.bindings[name]) == 1


def _name_of(scope: ast.Call) -> ast.expr | None:
    """The name that a `tf.variable_scope` is given."""
    return by_parameter(scope, ("name_or_scope",)).get("name_or_scope")


def _reuses(module: Module, statement: ast.If) -> bool:
    """`if reuse: tf.get_variable_scope().reuse_variables()`, or that of a scope with a name."""
    only = statement.body[0]
    call = only.value if isinstance(only, ast.Expr) else None
    if len(statement.body) != 1 or statement.orelse or not isinstance(call, ast.Call):
        return False
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "reuse_variables":
        return False
    scope = call.func.value
    if isinstance(scope, ast.Name):
        around = module.names.parents[statement]
        return isinstance(around, ast.With) and any(
            isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == scope.id
            for item in around.items
        )
    return isinstance(scope, ast.Call) and name_of(module, scope) == "get_variable_scope"


def _resets(module: Module) -> list[ast.stmt]:
    """The statements of a script that begin another graph."""
    return [one for one in module.tree.body if is_reset(module, one)]


def _is_auto(module: Module, node: ast.expr | None) -> bool:
    return node is not None and name_of(module, node).endswith("AUTO_REUSE")


def _makes_unshared(function: Function) -> bool:
    """Whether a function makes a `tf.Variable`, which `reuse` does not share."""
    return any(
        name_of(function.module, call) in VARIABLES.by_name
        and name_of(function.module, call) != "get_variable"
        for call in walk(function.node)
        if isinstance(call, ast.Call)
    )


def _enclosing(module: Module, node: ast.AST) -> ast.AST:
    """The function or the module that a node stands in."""
    return next(
        p for p in module.names.ancestors(node) if isinstance(p, (ast.FunctionDef, ast.Module))
    )
