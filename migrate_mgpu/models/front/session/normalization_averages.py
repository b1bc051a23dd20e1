"""The averages of batch normalization: what moves them, which a program may forget."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.api.optimizers import OPTIMIZE_LOSS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.graph_collections import (
    COLLECTION,
    is_dependency,
    is_update_ops,
    update_ops,
)
from migrate_mgpu.models.front.session.program import AverageUpdates, MadeLayer, Role, closure
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.towers.loop import scope_of_towers
from migrate_mgpu.models.ir import Mover, Step, Variables


class AverageReader(StatementReader):
    """Reads what moves averages, and checks that it moves all that there are."""

    def __init__(self, state: Reading) -> None:
        super().__init__(state)
        self._asked: dict[ast.Call, AverageUpdates] = {}

    def _normalizers(self) -> list[Variables]:
        return [m.variables for m in self.found.layers.values() if m.normalizes and not m.in_place]

    def asked(self, node: ast.expr) -> AverageUpdates:
        """What moves averages, as it is asked for here.

        Raises:
            Refused: the averages of which towers is not seen.
        """
        call = node if self._optimizes(node) else update_ops(self.module, node)
        assert isinstance(call, ast.Call)
        if call not in self._asked:
            self._asked[call] = AverageUpdates(call, self._mover(call))
        return self._asked[call]

    def _optimizes(self, node: ast.AST) -> bool:
        """Whether a call is `optimize_loss`, which moves averages by itself."""
        return isinstance(node, ast.Call) and name_of(self.module, node) == OPTIMIZE_LOSS

    def _mover(self, call: ast.Call) -> Mover | None:
        if self._optimizes(call):
            return None
        scope = by_parameter(call, COLLECTION).get("scope")
        towers, entry = self.scope.towers, self.scope.entries[self.place]
        if towers is None:
            if scope is None:
                return None
            text = "the averages that it updates are chosen by a scope"
            raise Refused(self.module, call, text, "ask for all of tf.GraphKeys.UPDATE_OPS")
        inside = is_inside(self.module, call, {towers.loop})
        first = inside and entry.first
        if scope is None:
            return Mover.FIRST if first else Mover.ALL
        block = scope_of_towers(self.module, towers, scope)
        if block is not None and isinstance(scope, ast.Name):
            return Mover.FIRST if first else Mover.LAST
        loop = next(one for one in self.scope.entries if one.statement is towers.loop)
        if block is not None and not inside and not loop.scopes:
            return Mover.FIRST
        text = "which towers' averages are moved cannot be determined"
        raise Refused(self.module, scope, text, "ask for those of the last tower by its scope")

    def moves(self, node: ast.AST) -> bool:
        """Whether something stands where averages move first."""
        for block in self.names.ancestors(node):
            if isinstance(block, ast.With) and is_dependency(self.module, block):
                call = block.items[0].context_expr
                assert isinstance(call, ast.Call)
                self.moved(self.asked(call.args[0]))
                towers = self.scope.towers
                if towers is not None and is_inside(self.module, block, {towers.loop}):
                    self.found.mover = Mover.ALL  # each with its own gradients
                return True
        return False

    def moved(self, updates: AverageUpdates) -> None:
        """Something that is run moves averages.

        Raises:
            Refused: something else moves those of other towers.
        """
        if self.found.mover not in (None, updates.mover):
            text = "the averages of other towers are moved elsewhere"
            raise Refused(self.module, updates.call, text)
        self.found.mover = updates.mover

    def check(self) -> None:
        """Averages move in the steps in which they did, and in no others.

        Raises:
            Refused: Keras's would move in others.
        """
        asked = [
            call.lineno
            for call in self.names.calls
            if is_update_ops(self.module, call) or self._optimizes(call)
        ]
        for entry, role in zip(self.scope.entries, self.found.roles):
            block = self.names.parents.get(entry.statement)
            if isinstance(block, ast.With) and is_dependency(self.module, block):
                if role in (Role.UNIT, Role.VARIABLES) and self._is_computed_alone(entry):
                    text = "averages of batch normalization move before it is computed"
                    raise Refused(self.module, entry.statement, text)
        for made in self.found.layers.values():
            if made.normalizes and made.in_place and self.scope.towers is not None:
                self._check_in_towers(made)
            if not made.normalizes or made.in_place:
                continue
            self._check_named(made)
            if any(line < made.variables.unit.lineno for line in asked):
                text = "it is made after tf.GraphKeys.UPDATE_OPS is read"
                raise Refused(
                    self.module, made.found.call, text, "read it after all layers are made"
                )
            for step in self.found.steps:
                if not any(made.variables in unit.reads for unit in step.units):
                    continue
                nodes = {unit.node for unit in step.units}
                trains = any(
                    flag is not None and self._is_true(flag, step)
                    for node, flag in made.applications
                    if node in nodes
                )
                if (
                    trains
                    and self.found.moves_averages
                    and not self._moves_in(step, made.variables)
                ):
                    text = "its moving averages are not updated in every step that trains it"
                    raise Refused(self.module, made.found.call, text)
        for step in self.found.steps:
            moved = {v for one in step.updates if one.moves for v in self._normalizers()}
            read = {v for unit in step.units for v in unit.reads}
            if not moved <= read:
                text = "a step updates moving averages of layers that it does not compute"
                raise Refused(self.module, step.updates[0].statement, text)

    def _check_in_towers(self, made: MadeLayer) -> None:
        """Averages that each tower moves where it is computed: all towers are, or none trains.

        Raises:
            Refused: they would move by the batches of other towers.
        """
        towers = self.scope.towers
        assert towers is not None
        nodes = {
            node
            for node, flag in made.applications
            if flag is None or not isinstance(flag, ast.Constant) or constant(flag)
        }
        if not all(is_inside(self.module, node, {towers.loop}) for node in nodes):
            text = "its averages move in place, outside of the towers as well"
            raise Refused(self.module, made.found.call, text, "leave them to UPDATE_OPS")
        for step in self.found.steps:
            if not any(made.variables in unit.reads for unit in step.units):
                continue
            inside = {unit.node for unit in step.units}
            trains = any(
                node in inside and (flag is None or self._is_true(flag, step))
                for node, flag in made.applications
            )
            whole = any(
                made.variables in unit.reads
                for update in step.updates
                for unit in closure([update.unit])
            )
            if trains and not whole:
                text = "its averages move in place, by some towers alone"
                raise Refused(self.module, made.found.call, text, "leave them to UPDATE_OPS")
        self.found.mover = self.found.mover or Mover.ALL
        if self.found.mover is not Mover.ALL:
            text = "the averages of other towers are moved elsewhere"
            raise Refused(self.module, made.found.call, text)

    def _is_computed_alone(self, entry: Entry) -> bool:
        """Whether a step has what a statement builds, and moves no averages by itself."""
        return any(
            any(unit.node is entry.statement for unit in step.units)
            and not step.moves
            and not any(update.moves for update in step.updates)
            for step in self.found.steps
        )

    def _check_named(self, made: MadeLayer) -> None:
        """Averages that are told by a tower's scope are those of layers in it.

        Raises:
            Refused: a layer is applied outside of that.
        """
        towers = self.scope.towers
        for call in self._asked if towers is not None else ():
            scope = by_parameter(call, COLLECTION).get("scope")
            if scope is None or towers is None:
                continue
            block = scope_of_towers(self.module, towers, scope)
            for node, _ in made.applications:
                if block is None or not is_inside(self.module, node, {block}):
                    text = "it stands outside of the scope that names a tower"
                    raise Refused(self.module, node, text)

    def _moves_in(self, step: Step, variables: Variables) -> bool:
        return any(
            (update.moves or step.moves)
            and any(variables in unit.reads for unit in closure([update.unit]))
            for update in step.updates
        )

    @staticmethod
    def _is_true(node: ast.expr, step: Step) -> bool:
        """Whether a layer trains in a step; a name that the step does not know may be true."""
        known = {placeholder.name: value for placeholder, value in step.folded}
        value = known.get(node.id, node) if isinstance(node, ast.Name) else node
        return constant(value) not in (False, 0, None) if isinstance(value, ast.Constant) else True
