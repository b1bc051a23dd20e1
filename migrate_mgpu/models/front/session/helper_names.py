"""The names that TF1 gives variables which functions of the author's make: those of checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from types import MappingProxyType
from typing import Union

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.api.layers import LAYERS, MOMENTS_CALL, LayerRow, LayerVariable
from migrate_mgpu.api.recurrent import is_recurrent
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.network.cell_variables import RUN_SCOPE, variables_of_run
from migrate_mgpu.models.front.network.functions import Helpers
from migrate_mgpu.models.front.network.layers import Found, find_layers
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.models.front.session.host_objects import HelperVariable, Rounds, Told
from migrate_mgpu.models.front.session.known_values import (
    is_attribute_only_read,
    is_only_read,
    known_value,
    values_in,
)
from migrate_mgpu.models.front.session.loop_names import name_of_scope, passed_to, round_scope
from migrate_mgpu.models.front.session.names_in_functions import OF_OPERATORS, operation_names
from migrate_mgpu.models.front.session.scope import given_once

_MANY = (ast.For, ast.While, ast.If, ast.IfExp, ast.Lambda, ast.ListComp, ast.DictComp,
         ast.SetComp, ast.GeneratorExp)  # fmt: skip
_LEAVES = (ast.Break, ast.Continue)
# The key of what stands in the way where the names of a network's variables are not known before
# it runs: its class can tell them.
UNKNOWN_NUMBER = "unknown-number-of-variables"
Turn = Union[int, ast.For]  # the number of a round, or its loop where a run knows how many it has


def row_of(module: Module, call: ast.Call) -> LayerRow:
    """What a layer is whose variables have known names, or that has none.

    Raises:
        Refused: which names its variables have is not known.
    """
    row = LAYERS.by_name.get(name_of(module, call))
    if row is None or row.variables is None:
        text = "the names of this layer's variables are not known"
        raise Refused(module, call, text)
    return row


def scope_of(module: Module, call: ast.Call) -> str:
    """What TF1 calls the first layer of a kind that is given no name.

    Raises:
        Refused: which names its variables have is not known.
    """
    return RUN_SCOPE if is_recurrent(module, call) else row_of(module, call).scope


def name_given(call: ast.Call) -> ast.expr | None:
    """What names a layer: contrib's have a scope."""
    return next((k.value for k in call.keywords if k.arg in ("name", "scope")), None)


def check_named(given: NamedArguments) -> None:
    """Refuses what makes variables that a layer's row does not have.

    Raises:
        Refused: TF1 keeps a debiased mean in variables of a scope within the layer's own.
    """
    told = given.given("zero_debias_moving_mean")
    if told is not None and constant(told) not in (None, False):
        text = "the names of the variables of a debiased moving mean"
        raise Refused(given.module, told, text, "leave `zero_debias_moving_mean` out")


def variables_of(
    module: Module,
    call: ast.Call,
    values: Mapping[str, object] = MappingProxyType({}),
    possible: bool = False,
) -> Iterator[LayerVariable]:
    """The variables of a layer; ``values`` are those of names around it that are known.

    ``possible``: with those that it may have.

    Raises:
        Refused: which it has cannot be determined.
    """
    if is_recurrent(module, call):
        yield from variables_of_run(module, call)
        return
    row = row_of(module, call)
    given = NamedArguments(module, call, row.signature)
    check_named(given)
    defaults = {one.name: one.default for one in row.parameters}
    for variable in row.made:
        told = given.get(variable.setting)
        known: object = defaults.get(variable.setting) != "False"
        if told is not None:
            known = known_value(told, values)
        if variable.setting.endswith("initializer"):
            known = told is None or not is_none(told)
        if possible and not isinstance(known, bool):
            known = True
        if not isinstance(known, bool):
            text = "which variables a layer has cannot be determined"
            raise Refused(module, told or call, text)
        if known:
            yield variable


def trains(
    module: Module, call: ast.Call, values: Mapping[str, object] = MappingProxyType({})
) -> bool:
    """Whether TF1 collects what a call makes as trainable: it may be told by a name's value.

    Raises:
        Refused: that cannot be determined.
    """
    name = name_of(module, call)
    row = VARIABLES.by_name.get(name) or LAYERS.by_name.get(name)
    if row is None:
        return True
    told = NamedArguments(module, call, row.signature).get("trainable")
    known = True if told is None else known_value(told, values, module)
    if not isinstance(known, bool):
        text = "whether a variable is trained cannot be determined"
        raise Refused(module, told or call, text, "write it as a constant")
    return known


@record(frozen=True)
class HelperNamed:
    """A variable that a function makes: its name, where its class has it, whether it trains.

    ``used``: the function computes something of it. With ``rounds`` it stands for all variables
    of a loop. With ``told`` it stands for all that the call of a function makes, whose class tells
    their names.
    """

    name: str
    key: HelperVariable
    trained: bool = True
    used: bool = True
    rounds: Rounds | None = None
    told: Told | None = None


@record(frozen=True)
class Operations:
    """What names operations: ``unique`` numbers a name, a function is called in ``scope``.

    ``made`` are names of what functions make that others call, by the calls that lead to it.

    ``reserved`` keeps names that begin with a text for the scopes of a loop, and says what stands
    for these.
    """

    unique: Callable[[str], str]
    reserved: Callable[[Module, ast.AST, str], str]
    scope: str
    made: Mapping[tuple[ast.Call, ...], str]


class HelperNames:
    """Names the variables of a call of a function that becomes a class of layers."""

    def __init__(
        self,
        helpers: Helpers,
        taken: set[str],
        operations: Operations | None = None,
        two_rounds: bool = False,
    ) -> None:
        """``taken`` are the names of the layers that there are, which it adds to.

        ``operations`` are for the name of a `tf.Variable`, where those before it have theirs.
        ``two_rounds``: loops whose number a run knows have two, which tell all but numbers.
        """
        self._two_rounds = two_rounds
        self.helpers = helpers
        self._taken = taken
        self._operations = operations
        self._opened: dict[tuple[ast.expr, tuple[Turn, ...]], str] = {}
        self._home: Module | None = None
        self._root: ast.Call | None = None
        self._passed: Mapping[str, ast.expr] = {}

    def of(
        self, module: Module, call: ast.Call, function: Function, prefix: str
    ) -> list[HelperNamed]:
        """The variables of a call of a module's, in the order in which the class has them.

        ``prefix`` is what the scopes around the call put before their names.

        Raises:
            Refused: TF1's name of one cannot be determined.
        """
        passed = bind(call, function).values()
        self._home, self._passed, self._root = module, passed, call
        known = {name: self._value(module, one) for name, one in passed.items()}
        given = values_in(function, known)
        return self._made(function, given, prefix, (), frozenset(), True)

    def _value(
        self, module: Module, node: ast.expr, seen: frozenset[ast.AST] = frozenset()
    ) -> object:
        """What is known of an argument: a name may be given one constant, or a list that stays.

        A parameter is what the one call of its function gives it, an attribute what a constructor
        keeps in it.
        """
        if isinstance(node, ast.Attribute) and is_attribute_only_read(module, node):
            kept = given_once(module, node)
            return Unknown if kept is node else self._value(module, kept, seen)
        if not isinstance(node, ast.Name) or not is_only_read(module, node):
            return known_value(node, {}, module)
        names = module.names
        value = names.only_value(node)
        if value is not None or not names.is_parameter(node):
            return known_value(value if value is not None else node, {}, module)
        home = names.defining_scope(node.id, names.scope_of_name[node])
        around = home.function() if home is not None else None
        if not isinstance(around, ast.FunctionDef) or around in seen or around.decorator_list:
            return Unknown
        function = Function(module, around)
        calls = self.helpers.graph.references(function)
        if len(calls) != 1 or calls[0].call is None:
            return Unknown
        given = (bind(calls[0].call, function).every() or {}).get(node.id)
        return Unknown if given is None else self._value(calls[0].module, given, seen | {around})

    def _made(
        self,
        function: Function,
        values: Mapping[str, object],
        prefix: str,
        path: tuple[ast.Call | int, ...],
        seen: frozenset[ast.AST],
        plain: bool,
    ) -> list[HelperNamed]:
        """``plain``: no scope of the functions that lead here gives operations names."""
        module, node = function.module, function.node
        if node in seen:
            raise Refused(module, node, f"`{function.name}` calls itself")
        calls = [part for part in walk(node) if isinstance(part, ast.Call)]
        found = find_layers(module, calls, self.helpers.layer_calls, {}, self.helpers.regularized)
        own: list[HelperNamed] = []  # a class has its own variables before those of its layers
        inner: list[HelperNamed] = []
        statements: set[tuple[ast.stmt, tuple[Turn, ...]]] = set()
        makers = [
            call
            for call in calls
            if (call in found and not _has_no_variables(module, call))
            or (call not in found and self._makes_layers(module, call))
        ]
        layers = {call for call in makers if call not in found or not found[call].variable}
        if not self._two_rounds:
            _check_lists(module, node, layers)
        for call, given, turn in _turns(module, node, makers, values, self._two_rounds):
            if not _runs(module, node, call, given):
                continue
            statement = module.names.statement(call)
            if (statement, turn) in statements and not _is_in_order(module, statement, makers):
                text = "the order of the variables that a statement makes cannot be determined"
                raise Refused(module, call, text, "make one in each statement")
            statements.add((statement, turn))
            loop = next((one for one in turn if isinstance(one, ast.For)), None)
            numbers = tuple(one for one in turn if isinstance(one, int))
            if loop is not None:
                if call not in found or not found[call].variable or path or not plain:
                    raise _unknown_number(module, call)
                self._in_rounds(own, module, node, call, given, loop, prefix)
                continue
            inside = prefix + self._scopes(module, node, call, given)
            if call in found and found[call].variable:
                name = self._name(module, call, given)
                key = HelperVariable((*path, call, *numbers))
                if name_of(module, call) == "Variable" and self._operations is not None and plain:
                    scope = self._name_scopes(module, node, call, given, turn)
                    full = self._operations.unique(scope + (name or "Variable"))
                    trained = trains(module, call, given)
                    own.append(HelperNamed(full, key, trained, _is_read(module, call)))
                    continue
                inner_name = self._made_by(module, call, path)
                if name_of(module, call) == "Variable" and inner_name:
                    trained = trains(module, call, given)
                    own.append(HelperNamed(inner_name, key, trained, _is_read(module, call)))
                    continue
                if name_of(module, call) != "get_variable" or name is None:
                    text = "the name of a variable in a checkpoint cannot be determined"
                    raise Refused(module, call, text, "write it as a constant")
                own.append(
                    HelperNamed(
                        inside + name, key, trains(module, call, given), _is_read(module, call)
                    )
                )
            elif call in found and name_of(module, call) == MOMENTS_CALL:
                inner += self._moments(module, call, (*path, call, *numbers))
            elif call in found:
                inner += self._layer(found[call], given, inside, (*path, call, *numbers))
            else:
                target = self.helpers.target(module, call)
                assert target is not None
                passed = bind(call, target).values()
                known = {name: known_value(one, given, module) for name, one in passed.items()}
                known = values_in(target, known)
                deeper = (*path, call, *numbers)
                within = plain and not _is_in_scope(module, node, call)
                inner += self._made(target, known, inside, deeper, seen | {node}, within)
        if inner and any(one.rounds is not None for one in own):
            raise _unknown_number(module, calls[0])
        named = [one.name for one in own + inner if one.rounds is None]
        if len({*named}) < len(named):
            text = "several variables have one name"  # rounds of a loop that share them, say
            raise Refused(module, node, text, "give each its own")
        return own + inner

    def _made_by(
        self, module: Module, call: ast.Call, path: tuple[ast.Call | int, ...]
    ) -> str | None:
        """The name of what a function makes that others call; None where it is not known."""
        if self._operations is None or self._root is None:
            return None
        calls = tuple(one for one in path if isinstance(one, ast.Call))
        if len(calls) < len(path):
            return None  # in the rounds of a loop
        name = self._operations.made.get((self._root, *calls, call))
        # Operations that are given no name may have it before.
        known = operation_names(module) | OF_OPERATORS
        parts = {part.lower() for part in (name or "").split("/")[:-1]}
        return None if parts & known else name

    def _moments(
        self, module: Module, call: ast.Call, path: tuple[ast.Call | int, ...]
    ) -> Iterator[HelperNamed]:
        """The averages of a batch's moments, which are called by what computes these.

        Raises:
            Refused: that is not known.
        """
        name = self._made_by(module, call, path[:-1])
        if name is None or path[-1] is not call:
            text = "the names of the averages of a batch's moments cannot be determined"
            raise Refused(module, call, text)
        for squeezed, attribute in (("Squeeze", "mean"), ("Squeeze_1", "variance")):
            full = f"{name}/{squeezed}/ExponentialMovingAverage"
            yield HelperNamed(full, HelperVariable(path, attribute), False)

    def _makes_layers(self, module: Module, call: ast.Call) -> bool:
        target = self.helpers.target(module, call)
        return target is not None and self.helpers.makes_layers(target)

    def _layer(
        self,
        found: Found,
        given: Mapping[str, object],
        prefix: str,
        path: tuple[ast.Call | int, ...],
    ) -> Iterator[HelperNamed]:
        module, call = found.module, found.call
        told = self._name(module, call, given)
        base = name = prefix + (told or scope_of(module, call))
        number = 0
        while name in self._taken and told is None:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        trained = trains(module, call, given)
        for variable in variables_of(module, call, given, self._two_rounds):
            key = HelperVariable(path, variable.attribute)
            is_trained = trained and not variable.is_statistic
            yield HelperNamed(f"{name}/{variable.name}", key, is_trained)

    def _scopes(
        self, module: Module, function: ast.AST, call: ast.AST, given: Mapping[str, object]
    ) -> str:
        """What the variable scopes around a call, in its function, put before names.

        Raises:
            Refused: that cannot be determined, or whether the call is executed once.
        """
        names: list[str] = []
        for parent in module.names.ancestors(call):
            if parent is function:
                break
            if isinstance(parent, _MANY) and not isinstance(parent, (ast.If, ast.For)):
                text = "whether a variable is made, or how often, cannot be determined"
                raise Refused(module, call, text, "make it outside of loops and conditions")
            for item in reversed(parent.items) if isinstance(parent, ast.With) else ():
                opened = item.context_expr
                if scope_kind(module, opened) != "variable_scope":
                    continue
                assert isinstance(opened, ast.Call)
                first = opened.args[0] if opened.args else None
                if isinstance(first, ast.Call) and name_of(module, first) == "get_variable_scope":
                    continue
                known = known_value(first, given, module) if first is not None else None
                if not isinstance(known, str):
                    text = "the name of a variable's scope cannot be determined"
                    raise Refused(module, opened, text, "write it as a constant")
                names.append(f"{known}/")
        return "".join(reversed(names))

    def _name_scopes(
        self,
        module: Module,
        function: ast.AST,
        call: ast.AST,
        given: Mapping[str, object],
        turn: tuple[Turn, ...],
    ) -> str:
        """What all scopes around a call put before the names of operations, each as TF1 numbers it.

        ``turn`` is the round of the loop that the call is in.

        Raises:
            Refused: that cannot be determined.
        """
        assert self._operations is not None
        path = self._operations.scope
        around = takewhile(lambda parent: parent is not function, module.names.ancestors(call))
        inner = turn
        rounds: list[tuple[ast.With, tuple[Turn, ...]]] = []
        for parent in around:
            if isinstance(parent, ast.For):
                inner = ()
            elif isinstance(parent, ast.With):
                rounds.append((parent, inner))
        for block, number in reversed(rounds):
            for item in block.items:
                scope = item.context_expr
                if scope_kind(module, scope) is None:
                    continue
                path = self._open(module, scope, given, path, number)
        return path

    def _open(
        self,
        module: Module,
        scope: ast.expr,
        given: Mapping[str, object],
        path: str,
        turn: tuple[Turn, ...],
    ) -> str:
        """What a scope in ``path`` puts before names, which TF1 numbers when it is opened."""
        key = scope, turn
        if key not in self._opened:
            assert self._operations is not None
            name = known_value(name_of_scope(module, scope), given, module)
            if not isinstance(name, str) or name.endswith("/"):
                text = "the name of a variable's scope cannot be determined"
                raise Refused(module, scope, text, "write it as a constant")
            self._opened[key] = self._operations.unique(path + name) + "/"
        return self._opened[key]

    def _in_rounds(
        self,
        own: list[HelperNamed],
        module: Module,
        function: ast.AST,
        call: ast.Call,
        given: Mapping[str, object],
        loop: ast.For,
        prefix: str,
    ) -> None:
        """Adds a variable to those of a loop that makes it so often as a run says.

        Raises:
            Refused: its name cannot be written as what a run computes.
        """
        kind, name = name_of(module, call), self._name(module, call, given)
        numbered = kind == "Variable" and self._operations is not None
        trains = {constant(k.value) for k in call.keywords if k.arg == "trainable"} <= {True}
        if not trains or (not numbered and (kind != "get_variable" or name is None)):
            raise _unknown_number(module, call)
        kinds = {"variable_scope", "name_scope"} if numbered else {"variable_scope"}
        scope = round_scope(module, loop, call, kinds, given)
        before = own[-1].rounds if own else None
        before = before if before is not None and before.loop is loop else None
        if before is not None and (before.scope, before.numbered) != (scope.name, numbered):
            raise _unknown_number(module, call)
        if self._operations is not None and numbered:
            outer = self._name_scopes(module, function, loop, given, ())
            marker = before.marker if before is not None else ""
            if not marker:
                marker = self._operations.reserved(module, scope.name, outer + scope.begins)
            path = f"{marker}/"
            for one in scope.inner:
                path = self._open(module, one, given, path, (loop,))
            full = self._operations.unique(path + (name or "Variable"))
        else:
            outer = prefix + self._scopes(module, function, loop, given)
            marker = f"-{loop.lineno}-"  # no name of TF1's begins so
            told = [known_value(name_of_scope(module, one), given, module) for one in scope.inner]
            if not all(isinstance(one, str) for one in told):
                raise _unknown_number(module, call)
            full = "/".join((marker, *map(str, told), str(name)))
        assert self._home is not None
        names = (*(before.names if before is not None else ()), full[len(marker) + 1 :])
        if len({*names}) < len(names):
            raise Refused(module, call, "several variables have one name", "give each its own")
        passed = passed_to(module, function, loop, scope.name, self._passed, self._home)
        rounds = Rounds(module, loop, scope.name, outer, marker, names, numbered, passed)
        used = _is_read(module, call) and (before is None or own[-1].used)
        made = HelperNamed("", HelperVariable((call,)), used=used, rounds=rounds)
        if before is None:
            own.append(made)
        else:
            own[-1] = replaced(own[-1], used=used, rounds=rounds)

    def _name(self, module: Module, call: ast.Call, given: Mapping[str, object]) -> str | None:
        """The name that a call gives; None where it gives none.

        Raises:
            Refused: it cannot be determined.
        """
        told = name_given(call)
        if told is None and name_of(module, call) == "get_variable" and call.args:
            told = call.args[0]
        if told is None:
            return None
        known = known_value(told, given, module)
        if known is None or isinstance(known, str):
            return known
        raise Refused(module, told, "the name of a layer cannot be determined")


def _is_in_scope(module: Module, function: ast.AST, call: ast.Call) -> bool:
    """Whether a block of a function gives what a call makes the name of a scope."""
    inside = takewhile(lambda parent: parent is not function, module.names.ancestors(call))
    return any(
        scope_kind(module, item.context_expr) is not None
        for parent in inside
        if isinstance(parent, ast.With)
        for item in parent.items
    )


def _is_read(module: Module, call: ast.Call) -> bool:
    """Whether something reads the variable that a call makes."""
    statement = module.names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or statement_value(statement) is not call:
        return True
    mentions = module.names.mentions(target.id, module.names.scope_of_name[target])
    return any(isinstance(one.ctx, ast.Load) for one in mentions)


def _has_no_variables(module: Module, call: ast.Call) -> bool:
    row = LAYERS.by_name.get(name_of(module, call))
    return row is not None and row.variables == ()


def _check_lists(module: Module, function: ast.AST, layers: Iterable[ast.Call]) -> None:
    """Keras lists the layers of a loop list by list, or as they are made: not all versions alike.

    Raises:
        Refused: one has several.
    """
    loops: set[ast.AST] = set()
    for call in sorted(layers, key=_end):
        inside = takewhile(lambda parent: parent is not function, module.names.ancestors(call))
        around = {parent for parent in inside if isinstance(parent, ast.For)}
        if around & loops:
            raise _unknown_number(module, call)
        loops |= around


def _turns(
    module: Module,
    function: ast.AST,
    calls: Sequence[ast.Call],
    given: Mapping[str, object],
    two_rounds: bool,
) -> Iterator[tuple[ast.Call, Mapping[str, object], tuple[Turn, ...]]]:
    """Calls in their order, with what is known there; those of a loop once in each round.

    Where the text does not tell what the loop goes through, once, with the loop for the round.

    Raises:
        Refused: how often a loop runs cannot be determined.
    """
    line = sorted(calls, key=_end)  # a call's arguments are computed before it
    around: dict[ast.Call, ast.For | None] = {}
    for call in line:
        inside = takewhile(lambda parent: parent is not function, module.names.ancestors(call))
        loops = [parent for parent in inside if isinstance(parent, ast.For)]
        around[call] = loops[-1] if loops else None
        if len(loops) > 1:
            raise _unknown_number(module, call)
    for loop, own in groupby(line, around.__getitem__):
        calls = list(own)
        if loop is None:
            yield from ((call, given, ()) for call in calls)
            continue
        items = _items(module, loop.iter, given)
        if items is None and two_rounds:
            items = _two_items(module, loop.iter, given)
        if loop.orelse or any(isinstance(p, _LEAVES) for p in walk(loop)):
            raise _unknown_number(module, calls[0])
        if items is None:
            known = {**given, **_bound(loop.target, Unknown)}
            yield from ((call, known, (loop,)) for call in calls)
            continue
        for number, item in enumerate(items):
            known = {**given, **_bound(loop.target, item)}
            yield from ((call, known, (number,)) for call in calls)


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _is_in_order(module: Module, statement: ast.stmt, makers: Sequence[ast.Call]) -> bool:
    """Whether a statement executes its calls in the order in which they end.

    An item's target is computed behind the value, what `*` unpacks before keywords; a call's
    function may be a layer that has its variables when it is called.
    """
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if any(isinstance(part, ast.Call) for one in targets for part in walk(one)):
            return False
    own = [call for call in makers if module.names.statement(call) is statement]
    for call in own:
        parent = module.names.parents.get(call)
        if isinstance(parent, ast.Call) and parent.func is call:
            return False
        for around in module.names.ancestors(call):
            if around is statement:
                break
            if isinstance(around, (ast.BoolOp, ast.Starred, ast.Dict)):
                return False
    return True


def _unknown_number(module: Module, call: ast.Call) -> Refused:
    text = "whether a variable is made, or how often, cannot be determined"
    return Refused(module, call, text, "make it outside of loops and conditions", UNKNOWN_NUMBER)


def _two_items(module: Module, node: ast.expr, given: Mapping[str, object]) -> list[object]:
    """The items of two rounds of a loop, as far as they are known."""
    ranges = isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.range"
    if not isinstance(node, ast.Call) or not ranges:
        return [Unknown, Unknown]
    begin = known_value(node.args[0], given) if len(node.args) > 1 else 0
    return [begin, begin + 1] if isinstance(begin, int) else [Unknown, Unknown]


def _items(module: Module, node: ast.expr, given: Mapping[str, object]) -> list[object] | None:
    """What a loop goes through; None where that is not known."""
    if isinstance(node, ast.Call) and not node.keywords and node.args:
        kind = module.names.qualname(node.func)
        if kind == "builtins.range":
            told = [known_value(one, given) for one in node.args]
            numbers = [one for one in told if isinstance(one, int)]
            if len(numbers) < len(told) or not 1 <= len(told) <= 3 or numbers[2:] == [0]:
                return None
            return [*range(*numbers)]
        plain = kind == "builtins.enumerate" and len(node.args) == 1
        inner = _items(module, node.args[0], given) if plain else None
        return None if inner is None else [*enumerate(inner)]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        inner = _items(module, node.value, given)
        lower, upper = (
            one and known_value(one, given) for one in (node.slice.lower, node.slice.upper)
        )
        if inner is None or node.slice.step is not None:
            return None
        if not isinstance(lower, (int, type(None))) or not isinstance(upper, (int, type(None))):
            return None
        return inner[lower:upper]
    if isinstance(node, ast.Name) and not is_only_read(module, node):
        return None
    known = known_value(node, given)
    return [*known] if isinstance(known, tuple) else None


def _bound(target: ast.expr, item: object) -> dict[str, object]:
    """The names that a round of a loop gives values."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    values = item if isinstance(item, tuple) and len(item) == len(parts) else [Unknown] * len(parts)
    return {
        name: v for part, value in zip(parts, values) for name, v in _bound(part, value).items()
    }


def _runs(module: Module, function: ast.AST, call: ast.Call, given: Mapping[str, object]) -> bool:
    """Whether what a function is given makes it come to a call.

    Raises:
        Refused: that cannot be determined.
    """
    child: ast.AST = call
    for parent in module.names.ancestors(call):
        if parent is function:
            return True
        if isinstance(parent, ast.If) and child is not parent.test:
            runs = holds(parent.test, lambda part: known_value(part, given))
            if runs is None:
                text = "whether a variable is made, or how often, cannot be determined"
                raise Refused(module, call, text, "make it outside of loops and conditions")
            if runs is not (child in parent.body):
                return False
        child = parent
    return True
