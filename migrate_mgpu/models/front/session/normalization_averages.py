"""The averages of batch normalization: what moves them, which a program may forget."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.optimizers import OPTIMIZE_LOSS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.graph_collections import (
    COLLECTION,
    is_dependency,
    is_update_ops,
    update_ops,
)
from migrate_mgpu.models.front.session.program import AverageUpdates, MadeLayer, Role, closure
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.front.session.scoped_variables import ScopedVariables
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.towers.loop import scope_of_towers
from migrate_mgpu.models.ir import Mover, Step, Update, Variables

_BY_SCOPE = "the averages that it updates are chosen by a scope"
_ADVICE = "ask for all of tf.GraphKeys.UPDATE_OPS"


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
            self._asked[call] = AverageUpdates(call, self._mover(call), self._chosen(call))
        return self._asked[call]

    def _chosen(self, call: ast.Call) -> frozenset[Variables] | None:
        """The layers whose averages are asked for by a scope, where there are no towers.

        Raises:
            Refused: which those are is not seen.
        """
        scope = None if self._optimizes(call) else by_parameter(call, COLLECTION).get("scope")
        if scope is None or is_none(scope) or self.scope.towers is not None:
            return None
        known, layers = ScopedVariables(self.state), self.found.layers.values()
        normal = [one for one in layers if one.normalizes and not one.in_place]
        chosen = {one.variables for one in normal if known.operations_begin(one, scope)}
        if not chosen:
            raise Refused(self.module, scope, _BY_SCOPE, _ADVICE)
        return frozenset(chosen)

    def chosen(self, node: ast.AST) -> frozenset[Variables] | None:
        """The layers whose averages move before what stands somewhere, where a scope says that."""
        for block in self.names.ancestors(node):
            if isinstance(block, ast.With) and is_dependency(self.module, block):
                call = block.items[0].context_expr
                assert isinstance(call, ast.Call)
                return self.asked(call.args[0]).chosen
        return None

    def _optimizes(self, node: ast.AST) -> bool:
        """Whether a call is `optimize_loss`, which moves averages by itself."""
        return isinstance(node, ast.Call) and name_of(self.module, node) == OPTIMIZE_LOSS

    def _mover(self, call: ast.Call) -> Mover | None:
        if self._optimizes(call):
            return None
        scope = by_parameter(call, COLLECTION).get("scope")
        towers, entry = self.scope.towers, self.scope.entries[self.place]
        if towers is None:
            return None
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
                self.moved(self.asked(call.args[0]), in_order=True)
                towers = self.scope.towers
                if towers is not None and is_inside(self.module, block, {towers.loop}):
                    self.found.mover = Mover.ALL  # each with its own gradients
                return True
        return False

    def moved(self, updates: AverageUpdates, in_order: bool = False) -> None:
        """Something that is run moves averages; ``in_order``: before an update, which says so.

        Raises:
            Refused: something else moves those of other towers, or they are chosen by a scope.
        """
        if updates.chosen is not None and not in_order:
            raise Refused(self.module, updates.call, _BY_SCOPE, _ADVICE)
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
                    self._freeze(step, made)
        self._check_chosen()
        for step in self.found.steps:
            for made in self.found.layers.values():
                if made.normalizes and not made.in_place and self.scope.towers is None:
                    self._check_all_applied(step, made)
            moved = {v for one in step.updates if one.moves for v in self._moved_by(one)}
            read = {v for unit in step.units for v in unit.reads}
            if not moved <= read:
                text = "a step updates moving averages of layers that it does not compute"
                raise Refused(self.module, step.updates[0].statement, text)

    def _moved_by(self, update: Update) -> Iterable[Variables]:
        return self._normalizers() if update.moved is None else update.moved

    def _freeze(self, step: Step, made: MadeLayer) -> None:
        """A step trains a layer without moving its averages, which a scope of others chose.

        Raises:
            Refused: they are not told from other values of the layer.
        """
        if not any(one.moved is not None for one in self.found.updates):
            text = "its moving averages are not updated in every step that trains it"
            raise Refused(self.module, made.found.call, text)
        if self._is_unread(made):
            return
        if self._has_other_states(made):
            text = "a step trains it without moving its averages, and it has other states"
            raise Refused(self.module, made.found.call, text, _ADVICE)
        known = self.found.frozen.get(step, ())
        self.found.frozen[step] = (*known, made.variables)

    def _check_chosen(self) -> None:
        """Averages that a scope chose move once in a step, or nothing reads them.

        TF1 moves those of a layer that is applied twice in no defined order.

        Raises:
            Refused: they move more than once.
        """
        chosen = {v for one in self.found.updates for v in one.moved or ()}
        for made in self.found.layers.values():
            if made.variables in chosen and len(made.applications) != 1:
                if not self._is_unread(made):
                    text = "the averages of what is applied twice are chosen by a scope"
                    raise Refused(self.module, made.found.call, text, _ADVICE)

    def _check_all_applied(self, step: Step, made: MadeLayer) -> None:
        """A step that moves the averages of a layer computes all that does so in TF1.

        UPDATE_OPS has those of each application, which run whether the loss needs them or not.

        Raises:
            Refused: it does not, and something reads the averages.
        """
        moving = [
            one for one in step.updates if one.moves and made.variables in self._moved_by(one)
        ]
        if not moving and not step.moves:
            return
        nodes = {unit.node for unit in step.units}
        last = max((call.lineno for call in self._asked), default=0)
        for node, flag in made.applications:
            known = getattr(node, "lineno", 0) <= last and node not in nodes
            if known and flag is not None and self._is_true(flag, step):
                if not self._is_unread(made):
                    text = "its averages move by all that it is applied to, and a step has a part"
                    advice = "ask for tf.GraphKeys.UPDATE_OPS before it is applied again"
                    raise Refused(self.module, made.found.call, text, advice)

    def _is_unread(self, made: MadeLayer) -> bool:
        """Whether nothing takes the averages of a layer: all that computes it trains it."""
        if self.found.savers or self.state.shared is not None or self.state.others:
            return False
        for step in self.found.steps:
            nodes = {unit.node for unit in step.units}
            for node, flag in made.applications:
                if node in nodes and (flag is None or not self._is_true(flag, step)):
                    return False
        return True

    def _has_other_states(self, made: MadeLayer) -> bool:
        """Whether a layer may have states besides averages, or is one of several of a loop."""
        if any(isinstance(one, ast.For) for one in self.names.ancestors(made.found.call)):
            return True
        if made.variables.listed or made.calls:
            return True
        helper = made.found.helper
        for node in walk(helper.function.node) if helper is not None else ():
            module = helper.function.module if helper is not None else self.module
            if isinstance(node, (ast.For, ast.While)):
                return True
            if not isinstance(node, ast.Call):
                continue
            row = LAYERS.by_name.get(name_of(module, node))
            if row is not None and row.keras == "Dropout":
                return True
            target = self.graph.target(module, node.func)
            called = walk(target.node) if target is not None else ()
            inner = target.module if target is not None else module
            names = [name_of(inner, one) for one in called if isinstance(one, ast.Call)]
            if any(n in LAYERS.by_name or n in VARIABLES.by_name for n in names):
                return True
            if name_of(module, node) in VARIABLES.by_name:
                return True
        return False

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
            ((update.moves and variables in self._moved_by(update)) or step.moves)
            and any(variables in unit.reads for unit in closure([update.unit]))
            for update in step.updates
        )

    @staticmethod
    def _is_true(node: ast.expr, step: Step) -> bool:
        """Whether a layer trains in a step; a name that the step does not know may be true."""
        known = {placeholder.name: value for placeholder, value in step.folded}
        value = known.get(node.id, node) if isinstance(node, ast.Name) else node
        return constant(value) not in (False, 0, None) if isinstance(value, ast.Constant) else True
