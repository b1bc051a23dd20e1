"""Where a model with a folder is complete, and its checkpoints are known to all that uses it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.estimators.parts import USED_ELSEWHERE, EstimatorFlow
from migrate_mgpu.models.front.estimators.visibility import is_visible, known_at
from migrate_mgpu.models.ir import EVALUATE, PREDICT, DriverCall, Driving, Expression, Query
from migrate_mgpu.models.keras.driver.setup import Setup

_ASKS = (EVALUATE, PREDICT)  # what saves no checkpoint


@record(frozen=True)
class InsertionPoint:
    """The statement that gives the model its name ``receiver``.

    ``owner`` is ``self.`` where that is an attribute: the checkpoints become one as well.
    ``strategy`` is how the strategy is known there; ``scoped``: the statement stands under
    its scope once it is written. ``spread``: functions of the run evaluate, predict or export
    with the model as well, or one of them alone.
    """

    module: Module
    statement: ast.stmt
    receiver: str
    owner: str = ""
    strategy: str | None = None
    scoped: bool = True
    spread: bool = False

    def shows(self, call: DriverCall) -> bool:
        """Whether a driver call may say what the model is fed: that means the same here."""
        if not self.spread:
            return True
        if call.module is not self.module:
            return False
        scope = self.module.names.scope_at
        node = call.arguments.get("input_fn")
        here = scope(call.node) is scope(self.statement)
        return here or (node is not None and is_visible(self.module, node, self.statement))

    def before_all_uses(self) -> InsertionPoint | None:
        """The statement of the block below that names the model first, where there is one."""
        names = self.module.names
        block = names.block(self.statement)
        mentions = names.mentions(self.receiver, names.scope_at(self.statement))
        around = {part for one in mentions for part in names.ancestors(one)}
        below = block[block.index(self.statement) + 1 :]
        first = next((statement for statement in below if statement in around), None)
        return replaced(self, statement=first) if first is not None else None

    def reaches(self, module: Module, node: ast.AST) -> bool:
        """Whether a place is in a method of the class whose attribute the model is."""
        return module is self.module and module.names.class_around(
            node
        ) is module.names.class_around(self.statement)

    def knows(self, node: ast.expr) -> bool:
        """Whether an expression of another method means the same where the model is made.

        Names of the module do, and methods of the class.
        """
        names = self.module.names
        scope = names.scope_at(self.statement)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id != "self":
                home = names.defining_scope(part.id, names.scope_of_name[part])
                if home is not names.defining_scope(part.id, scope):
                    return False
            if isinstance(part, ast.Name) and part.id == "self":
                if not self._ready(names.parents[part], set()):
                    return False
        return True

    def _ready(self, attribute: ast.AST, seen: set[str]) -> bool:
        """Whether `self.x` is there when the model is made: a method that needs nothing later."""
        owner = self.module.names.class_around(self.statement)
        if owner is None or not isinstance(attribute, ast.Attribute):
            return False
        if attribute.attr in seen:
            return True
        seen.add(attribute.attr)
        stands = self.module.names.block(self.statement)
        for statement in stands[: stands.index(self.statement)]:
            target = _target(statement)
            if isinstance(target, ast.Attribute) and target.attr == attribute.attr:
                return _is_self(target.value)
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == attribute.attr:
                return all(
                    self._ready(self.module.names.parents[part], seen)
                    for part in ast.walk(method)
                    if _is_self(part)
                )
        return False


def find_insertion_point(flow: EstimatorFlow, setup: Setup) -> InsertionPoint:
    """The place for an Estimator's checkpoints.

    Raises:
        Refused: it is used where its checkpoints would not be known.
    """
    names, values, strategy = flow.module.names, setup.values, setup.strategy
    scope, calls = names.scope_at(flow.statement), flow.driving.calls
    first, receiver = calls[0], setup.changes.receiver(calls[0])
    strange = [
        call
        for call in calls
        if call.module is not flow.module or names.scope_at(call.node) is not scope
    ]
    if not strange:
        exported = any(
            call.module is not flow.module or names.scope_at(call.node) is not scope
            for call in flow.driving.exports
        )
        spread = _trained_here(flow, setup) if exported else None
        if spread is not None and spread.statement is flow.statement:
            return replaced(spread, strategy=strategy)
        return InsertionPoint(flow.module, flow.statement, receiver, "", strategy)
    if all(_attribute(call) for call in calls) and first.module is flow.module:
        target = _target(flow.statement)
        owner = flow.module.names.class_around(flow.statement)
        inside = all(call.module.names.class_around(call.node) is owner for call in calls)
        if owner is not None and inside and isinstance(target, ast.Attribute):
            _made_once(flow, owner, values, values.graph.enclosing(flow.module, flow.call))
            return InsertionPoint(flow.module, flow.statement, receiver, "self.", strategy)
    ways = (_helper_call, _trained_here, _attribute_assignment)
    made = next((point for way in ways if (point := way(flow, setup)) is not None), None)
    if made is not None and made.statement is flow.statement:
        return replaced(made, strategy=strategy)
    if made is not None:
        if strategy is None:
            return made
        given = setup.given_at(made.module, made.statement)
        strategy = given or f"{made.receiver}.distribute_strategy"
        return replaced(made, strategy=strategy, scoped=False)
    raise Refused(
        strange[0].module, strange[0].node,
        "an Estimator with a model_dir is used in another function",
        "make the Estimator where it is used", USED_ELSEWHERE,
    )  # fmt: skip


@record(frozen=True)
class Turn:
    """One of several calls of the function that makes a model, and what is done with that one."""

    point: InsertionPoint
    driving: Driving


def made_in_turns(flow: EstimatorFlow, setup: Setup) -> list[Turn] | None:
    """`estimator = build(...)` several times, one below the other, as a notebook's cells do.

    Each time the model goes on with what is in its folder. None where it is made in another way,
    or where it cannot be told which of them a use is of.
    """
    values, driving = setup.values, flow.driving
    made: list[tuple[Module, ast.stmt]] = []
    for value in values.places(flow.module, flow.made):
        node = value.node
        statement = value.module.names.statement(node) if node is not None else None
        if isinstance(node, ast.Call) and node is not flow.made:
            function = values.graph.target(value.module, node.func)
            target = _target(statement) if statement is not None else None
            if function is None or not isinstance(target, ast.Name) or statement is None:
                return None
            if not isinstance(statement, ast.Assign) or statement.value is not node:
                return None
            made.append((value.module, statement))
    if len(made) < 2:
        return None
    module = made[0][0]
    if any(one is not module for one, _ in made):
        return None
    names = module.names
    made.sort(key=lambda one: one[1].lineno)
    scope, block = names.scope_at(made[0][1]), names.block(made[0][1])
    named = {target.id for _, one in made if isinstance(target := _target(one), ast.Name)}
    if len(named) != 1 or any(one not in block for _, one in made):
        return None
    if not isinstance(names.parents[made[0][1]], (ast.Module, ast.FunctionDef)):
        return None
    name = named.pop()
    if len(scope.bindings.get(name, ())) != len(made):
        return None
    turns = [Turn(InsertionPoint(module, one, name, "", None), Driving()) for _, one in made]
    asked: list[DriverCall | Query] = [*driving.calls, *driving.exports, *driving.queries]
    for call in asked:
        if call.module is not module or names.scope_at(call.node) is not scope:
            return None
        if isinstance(call, DriverCall) and setup.changes.receiver(call) != name:
            return None
        around = {names.statement(call.node), *names.ancestors(call.node)}
        place = next((index for index, one in enumerate(block) if one in around), 0)
        above = [turn for turn in turns if block.index(turn.point.statement) < place]
        if not above:
            return None
        own = above[-1].driving
        if isinstance(call, Query):
            own.queries.append(call)
        else:
            (own.exports if call in driving.exports else own.calls).append(call)
    if setup.strategy is not None:
        return None
    return turns if all(turn.driving.calls for turn in turns) else None


def _made_once(
    flow: EstimatorFlow, owner: ast.ClassDef, values: ValueFlow, function: Function | None
) -> None:
    """Of two objects with one folder the second would go on with the first one's model."""
    calls = values.calls(function) if function is not None else None
    if function is None or function.name != "__init__" or (calls is not None and len(calls) > 1):
        text = f"several objects of {owner.name} may have the Estimator's model_dir"
        raise Refused(flow.module, flow.call, text, "make the Estimator where it is used")


def known(point: InsertionPoint, values: ValueFlow, value: Expression, name: str) -> ast.expr:
    """A setting's expression as it is known where the checkpoints are."""
    found = known_at(values, value.module, value.node, point.module, point.statement)
    if found is None:
        text = f"the {name} is not known where the Estimator is used"
        raise Refused(value.module, value.node, text, "make the Estimator where it is used")
    return found


def _helper_call(flow: EstimatorFlow, setup: Setup) -> InsertionPoint | None:
    """`classifier = build(...)`, where a function makes the Estimator and one other drives it."""
    driven, values = flow.driving.calls, setup.values
    receivers = {setup.changes.receiver(call) for call in driven}
    first = driven[0]
    module, names = first.module, first.module.names
    scope = names.scope_at(first.node)
    same = all(u.module is module and names.scope_at(u.node) is scope for u in driven)
    if not same or len(receivers) != 1 or not isinstance(first.receiver, ast.Name):
        return None
    made = names.only_definition(first.receiver)
    if not isinstance(made, ast.Name):
        return None
    statement = names.statement(made)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.Call) or names.scope_at(statement) is not scope:
        return None
    function = values.graph.target(module, value.func)
    calls = values.calls(function) if function is not None else None
    if calls is None or len(calls) != 1:
        return None
    return InsertionPoint(module, statement, receivers.pop())


def _trained_here(flow: EstimatorFlow, setup: Setup) -> InsertionPoint | None:
    """`estimator = ...` that is trained beside it, and handed to functions that do not train it."""
    values, driving = setup.values, flow.driving
    for value in values.places(flow.module, flow.made):
        module, made = value.module, value.node
        if not isinstance(made, ast.Call):
            continue
        names = module.names
        statement = names.statement(made)
        target = _target(statement)
        if not isinstance(statement, ast.Assign) or statement.value is not made:
            continue
        if not isinstance(target, ast.Name):
            continue
        if made is not flow.made:
            function = values.graph.target(module, made.func)
            calls = values.calls(function) if function is not None else None
            if calls is None or len(calls) != 1:
                continue
        scope = names.scope_at(statement)
        trained = [call for call in driving.calls if call.kind not in _ASKS]
        if len(scope.bindings.get(target.id, ())) == 1 and all(
            call.module is module
            and names.scope_at(call.node) is scope
            and setup.changes.receiver(call) == target.id
            for call in trained
        ):
            return InsertionPoint(module, statement, target.id, spread=True)
    return None


def _attribute_assignment(flow: EstimatorFlow, setup: Setup) -> InsertionPoint | None:
    """`self.estimator = self.build()`, where a method of the class makes the Estimator."""
    values, driven = setup.values, flow.driving.calls
    owner = flow.module.names.class_around(flow.call)
    inside = all(u.module.names.class_around(u.node) is owner and _attribute(u) for u in driven)
    if owner is None or not inside or any(call.module is not flow.module for call in driven):
        return None
    names = flow.module.names
    for value in values.places(flow.module, flow.made):
        made = value.node
        if not isinstance(made, ast.Call) or made is flow.made or value.module is not flow.module:
            continue
        statement = names.statement(made)
        target = _target(statement)
        if not isinstance(statement, ast.Assign) or statement.value is not made:
            continue
        if not isinstance(target, ast.Attribute) or not _is_self(target.value):
            continue
        function = values.graph.target(flow.module, made.func)
        calls = values.calls(function) if function is not None else None
        shown = flow.module.source.code(target)
        receivers = {setup.changes.receiver(call) for call in driven}
        if calls is None or len(calls) != 1 or receivers != {shown}:
            return None
        if flow.module.names.class_around(statement) is not owner:
            return None
        _made_once(flow, owner, values, values.graph.enclosing(flow.module, statement))
        return InsertionPoint(flow.module, statement, shown, "self.")
    return None


def _attribute(call: DriverCall) -> bool:
    return isinstance(call.receiver, ast.Attribute) and _is_self(call.receiver.value)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _target(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0]
    return None
