"""`tf.train.ExponentialMovingAverage` of what is trained, moved by the step that trains it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import AVERAGES
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.graph_collections import is_ordering, is_update_ops
from migrate_mgpu.models.front.session.program import (
    AllVariables,
    AveragedNames,
    Averager,
    AverageStep,
    AverageUpdates,
    Meaning,
    PartOfStep,
    Role,
    UpdateGroup,
)
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.updates import UpdateReader
from migrate_mgpu.models.ir import Collected, Update, VariableAverages, Variables

_PARAMETERS = ("decay", "num_updates", "zero_debias", "name")
_RESTORED = "variables_to_restore"
_ADVICE = "make one operation of what trains and what moves the averages"


class VariableAverageReader(StatementReader):
    """Reads averages of variables, and the operations that an update is a part of."""

    def __init__(self, state: Reading, updates: UpdateReader) -> None:
        super().__init__(state)
        self.updates = updates

    def read(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role | None:
        """What an assignment is; None where it has to do with no averages.

        Raises:
            Refused: what is averaged, or when, is not understood.
        """
        name, ordered = name_of(self.module, call), self._ordered(statement)
        restored = None if ordered else self.restored(call)
        if restored is not None:
            self.state.only_binding(target)
            self.meanings[target.id] = restored
            return Role.GONE
        made = self._averager(call, target) if name == AVERAGES else self._step(call)
        if made is not None and not ordered:
            self.state.only_binding(target)
            self.meanings[target.id] = made
            if isinstance(made, Averager) and made.kept:
                self.found.averagers.append(made)
                return Role.VARIABLES
            return Role.GONE
        if name == "group" and call.args and not ordered:
            parts = [part for given in call.args for part in _parts(given)]
        elif (name == "no_op" or made is not None) and ordered:
            parts = [*ordered]
        elif ordered:
            text = "what runs before this cannot be analyzed"
            raise Refused(self.module, call, text, _ADVICE)
        else:
            return None
        meanings = [self._meaning(part) for part in parts]
        steps = [one for one in (*meanings, made) if isinstance(one, AverageStep)]
        updates = [one for one in meanings if isinstance(one, Update)]
        moved = [one for one in meanings if isinstance(one, AverageUpdates)]
        if not updates and not ordered:
            if len(moved) != 1 or len(parts) != 1:
                return None
            self.meanings[target.id] = moved[0]
            return Role.GONE
        if len(updates) > 1 and len(updates) + len(steps) == len(meanings) and len(steps) < 2:
            self._group(target, updates, steps[0] if steps else None, made is not None)
            return Role.GONE
        if len(updates) != 1 or len(steps) > 1 or len(meanings) != len(parts):
            raise Refused(self.module, call, "no operation trains here, or several", _ADVICE)
        if not all(isinstance(o, (Update, AverageStep, AverageUpdates)) for o in meanings):
            text = "what else runs with the training operation cannot be analyzed"
            raise Refused(self.module, call, text)
        self.state.only_binding(target)
        step = steps[0] if steps else None
        for one in moved:
            self.updates.averages.moved(one)
        self._together(target, updates[0], step, isinstance(made, AverageStep), bool(moved))
        return Role.GONE

    def restored(self, call: ast.Call) -> AveragedNames | None:
        """`ema.variables_to_restore()`, in a program that keeps no averages itself.

        TF1 gives averages that there are not yet the names that they would have.
        """
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != _RESTORED or call.args:
            return None
        averager = self.meanings.get(func.value.id) if isinstance(func.value, ast.Name) else None
        if not isinstance(averager, Averager) or call.keywords:
            return None
        parts = (one for one in walk(self.scope.node) if isinstance(one, ast.Attribute))
        if self.found.updates or any(one.attr == "apply" for one in parts):
            text = "variables get the values of averages in a program that keeps some"
            raise Refused(self.module, call, text, "evaluate in a program of its own")
        return AveragedNames(tuple(self.found.variables))

    def _meaning(self, part: ast.expr) -> Meaning | None:
        if is_update_ops(self.module, part):
            return self.updates.averages.asked(part)
        return self.runs.meaning(part)

    def _ordered(self, statement: ast.stmt) -> list[ast.expr]:
        """What runs before a statement that stands in a block of its own for that."""
        block = self.names.parents.get(statement)
        if not isinstance(block, ast.With) or not is_ordering(self.module, block):
            return []
        call = block.items[0].context_expr
        assert isinstance(call, ast.Call) and isinstance(call.args[0], (ast.List, ast.Tuple))
        return call.args[0].elts

    def finish(self) -> None:
        """What is asked for averages has some.

        Raises:
            Refused: nothing moves them with what trains.
        """
        moved = {one.averages.maker for one in self.found.updates if one.averages is not None}
        for averager in self.found.averagers:
            if averager.kept not in moved:
                text = "averages are read that move apart from what trains"
                raise Refused(self.module, averager.call, text, _ADVICE)

    def _is_read(self, target: ast.Name) -> bool:
        """Whether something asks for an average, or hands over what has them."""
        for mention in self.names.mentions(target.id, self.home):
            above = self.names.parents.get(mention)
            applied = isinstance(above, ast.Attribute) and above.attr in ("apply", _RESTORED)
            if isinstance(mention.ctx, ast.Load) and not applied:
                return True
        return False

    def _averager(self, call: ast.Call, target: ast.Name) -> Averager:
        given = NamedArguments(self.module, call, _PARAMETERS).rest
        decay, counter = given.get("decay"), given.get("num_updates")
        if decay is None or self.expressions.builds(decay):
            raise Refused(self.module, call, "the decay of an average cannot be determined")
        self.state.host_only(decay, "the decay of an average")
        if constant(given.get("zero_debias")) not in (None, False):
            raise Refused(self.module, call, "averages without the bias of their first values")
        if given.get("name") is not None:
            raise Refused(self.module, call, "averages with a name of their own")
        kept = target.id if self._is_read(target) else ""
        if counter is None or is_none(counter):
            return Averager(call, decay, None, kept)
        meaning = self.meanings.get(counter.id) if isinstance(counter, ast.Name) else None
        if not isinstance(meaning, Variables) or meaning.collected is not Collected.ONE:
            raise Refused(
                self.module, counter, "what counts the steps of an average cannot be determined"
            )
        return Averager(call, decay, meaning, kept)

    def _step(self, call: ast.Call) -> AverageStep | None:
        func = call.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return None
        averager = self.meanings.get(func.value.id)
        if not isinstance(averager, Averager):
            return None
        if func.attr != "apply" or len(call.args) != 1 or call.keywords:
            text = "averages are read, or are of variables that cannot be determined"
            raise Refused(self.module, call, text, "average tf.trainable_variables()")
        given = call.args[0]
        every = self.updates.every_of(given)
        if not isinstance(every, AllVariables):
            text = "averages of other variables than tf.trainable_variables()"
            raise Refused(self.module, given, text)
        return AverageStep(averager, every.variables)

    def _group(
        self, target: ast.Name, updates: list[Update], step: AverageStep | None, ordered: bool
    ) -> None:
        """Updates that are run together, with averages of all that they train perhaps.

        Raises:
            Refused: the averages are not of what they train, or move by what one of them counts.
        """
        self.state.only_binding(target)
        trained = [one for update in updates for one in _each(update.variables)]
        if len(set(trained)) != len(trained):
            text = "several operations train the same variables at once"
            raise Refused(self.module, target, text, "run them one after the other")
        if step is None:
            self.meanings[target.id] = UpdateGroup(tuple(updates))
            return
        if self.found.runs or self.found.savers:
            raise Refused(self.module, target, "something is run or saved before what trains")
        averager = step.averager
        if {*_each(step.variables)} != {*trained}:
            text = "averages of variables that the step does not train"
            raise Refused(self.module, averager.call, text)
        if averager.counter is not None or averager.kept:
            text = "averages of what several operations train, which are read or count the steps"
            raise Refused(self.module, averager.call, text, _ADVICE)
        made: list[Update] = []
        for update in updates:
            averages = VariableAverages(averager.call, averager.decay, False, ordered)
            new = replaced(update, averages=averages)
            self.found.updates[self.found.updates.index(update)] = new
            self.meanings[update.name] = PartOfStep()
            made.append(new)
        self.meanings[target.id] = UpdateGroup(tuple(made))

    def _together(
        self,
        target: ast.Name,
        update: Update,
        step: AverageStep | None,
        ordered: bool,
        moves: bool,
    ) -> None:
        """An update that is run with averages, by another name.

        Raises:
            Refused: they are not of what it trains.
        """
        if self.found.runs or self.found.savers:
            raise Refused(self.module, target, "something is run or saved before what trains")
        averages = update.averages
        if step is not None:
            if {*step.variables} != {*update.variables}:
                text = "averages of variables that the step does not train"
                raise Refused(self.module, step.averager.call, text)
            counter = step.averager.counter
            if counter is not None and counter is not update.counts:
                text = "a different step count than the training step's"
                raise Refused(self.module, step.averager.call, text)
            maker = step.averager.kept
            if maker and (self.scope.resets or any(not _has_name(one) for one in update.variables)):
                text = "averages are read of variables that are not all made here, by their names"
                raise Refused(self.module, step.averager.call, text)
            averages = VariableAverages(
                step.averager.call, step.averager.decay, counter is not None, ordered, maker
            )
        moves = moves or update.moves
        new = replaced(update, name=target.id, averages=averages, moves=moves)
        self.found.moves_averages |= moves
        self.found.updates[self.found.updates.index(update)] = new
        self.meanings[update.name] = PartOfStep()
        self.meanings[target.id] = new


def _has_name(variables: Variables) -> bool:
    """Whether variables are one of TensorFlow's, and not of a layer of Keras's."""
    return variables.collected is Collected.ONE


def _each(variables: Iterable[Variables]) -> list[Variables]:
    """Variables, and those that lists only have, each by itself."""
    return [one for some in variables for one in (some.listed or (some,))]


def _parts(node: ast.expr) -> list[ast.expr]:
    """What is run with an operation: a list's members."""
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
