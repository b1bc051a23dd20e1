"""Savers of a session's program: which variables they save, and where they save and restore."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.checkpoints import PARAMETERS, RECOVER, RESTORE, SAVE
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.graph_names import GraphNames
from migrate_mgpu.models.front.session.host_objects import (
    NamedVariable,
    SavedState,
    Saver,
    SaverCall,
)
from migrate_mgpu.models.front.session.program import (
    AllVariables,
    AveragedNames,
    Meaning,
    SessionProgram,
)
from migrate_mgpu.models.ir import Collected, Optimizer, Update, Variables
from migrate_mgpu.models.properties import is_scheduled

_ALL = ("global_variables", "all_variables", "train.get_variables_to_restore")
_OPTIMIZES = "OptimizeLoss/"  # the scope in which `optimize_loss` makes an optimizer's variables
_COUNTER = "global_step"
_AVERAGE = "ExponentialMovingAverage"  # what the averages of variables are called in them
_SESSION_ONLY = {"write_meta_graph", "strip_default_attrs", "save_debug_info"}


class SaverReader:
    """Reads what makes a saver, by what there is when it is made."""

    def __init__(
        self,
        found: SessionProgram,
        names: GraphNames,
        meaning: Callable[[ast.AST], Meaning | None],
    ) -> None:
        self.found = found
        self.module = found.scope.module
        self.names = names
        self.meaning = meaning
        self.restored: Callable[[ast.Call], AveragedNames | None] = lambda call: None
        self._kept: dict[Update, tuple[SavedState, ...]] = {}
        self._slots: dict[str, int] = {}  # how many there are of a name

    def whole(self) -> Saver:
        """A saver of all that there is, as one that is made without arguments."""
        every = self._every()
        states = tuple(one for update in self.found.updates for one in self._states(update))
        self._check_loops(every, self.found.scope.session)
        session = self.found.scope.session
        statement = ast.Assign([], session)
        saved = tuple((named.name, named) for named in every)
        return Saver("", statement, session, saved, states, None)

    def made(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Saver:
        """A saver.

        Raises:
            Refused: what it saves, or how, is not understood.
        """
        given = NamedArguments(self.module, call, PARAMETERS).rest
        for name, value in given.items():
            if name not in ("var_list", "max_to_keep", "name", "write_version", "filename"):
                parts = name == "sharded" and constant(value) in (True, False)  # of one checkpoint
                if not is_none(value) and name != "keep_checkpoint_every_n_hours" and not parts:
                    text = f"`{name}` of a saver is not supported in a native program"
                    raise Refused(self.module, value, text)
        keep = given.get("max_to_keep")
        every = self._every()
        states = tuple(one for update in self.found.updates for one in self._states(update))
        self._check_loops(every, call)
        told = given.get("var_list")
        if told is None or is_none(told) or self._is_call(told, _ALL):
            saved = [(named.name, named) for named in every]
            return Saver(target.id, statement, call, tuple(saved), states, keep)
        if self._is_call(told, ("trainable_variables",)):
            saved = [(named.name, named) for named in every if named.trained]
        else:
            saved = self._named_variables(told)
        return Saver(target.id, statement, call, tuple(saved), (), keep)

    def _every(self) -> list[NamedVariable]:
        return [named for one in self.found.variables for named in self.names.with_loops(one)]

    def _check_loops(self, every: Sequence[NamedVariable], node: ast.AST) -> None:
        """Variables of loops have their names in a list, which is made with the optimizer.

        Raises:
            Refused: no optimizer above trains them.
        """
        self._check_told(every, node)
        known = {one for some in self.found.loop_names.values() for one in some}
        if any(one.rounds is not None and one not in known for one in every):
            text = "a saver saves variables of a loop, which no optimizer above it trains"
            raise Refused(self.module, node, text, "make it below")

    def _check_told(self, every: Sequence[NamedVariable], node: ast.AST) -> None:
        """What a network's class tells the names of stands in scopes of its own.

        Raises:
            Refused: TF1 may have numbered names of others with those.
        """
        for one in (one for one in every if one.told is not None):
            assert one.told is not None
            begin = len(one.told.below)
            heads = {name[:begin] + name[begin:].split("/")[0] for name, _ in one.told.names}
            others = [other for other in every if other is not one]
            for name in (name for other in others for name in _names_of(other)):
                head = next((head for head in heads if f"{name}/".startswith(f"{head}/")), None)
                if head is not None:
                    text = f"several networks have variables in the scope `{head}`"
                    raise Refused(self.module, node, text, "give each a scope of its own")

    def is_whole(self, saver: Saver) -> bool:
        """Whether a saver saves all that there is."""
        every = self._every()
        saved = {id(named) for _, named in saver.saved}
        kept = {state.update for state in saver.states}
        makers = {self._alike(update)[0] for update in self.found.updates}
        return all(id(named) in saved for named in every) and kept == makers

    def _is_call(self, node: ast.expr, names: Sequence[str]) -> bool:
        return (
            isinstance(node, ast.Call)
            and name_of(self.module, node) in names
            and not node.args
            and not node.keywords
        )

    def _named_variables(self, node: ast.expr) -> list[tuple[str, NamedVariable]]:
        """The variables of a list, or of a dictionary by the names there."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return [(named.name, named) for part in node.elts for named in self._variables(part)]
        if isinstance(node, ast.Dict):
            found: list[tuple[str, NamedVariable]] = []
            for key, value in zip(node.keys, node.values):
                name = constant(key) if key is not None else None
                named = self._variables(value)
                if not isinstance(name, str) or len(named) != 1:
                    raise Refused(self.module, value, "what a saver saves cannot be determined")
                found.append((name, named[0]))
            return found
        averaged = self.averaged(node)
        if averaged is not None:
            every = (named for one in averaged.variables for named in self.names.of(one))
            return [(f"{o.name}/{_AVERAGE}" if o.trained else o.name, o) for o in every]
        if isinstance(node, ast.Name):
            meaning = self.meaning(node)
            if isinstance(meaning, AllVariables):
                every = (named for one in meaning.variables for named in self.names.of(one))
                return [(named.name, named) for named in every if named.trained]
            if isinstance(meaning, Variables) and meaning.listed:
                return [(named.name, named) for named in self.names.of(meaning)]
            if isinstance(meaning, Variables) and meaning.collected is Collected.ITEMS:
                return [(named.name, named) for named in self.names.of(meaning)]
            if isinstance(meaning, Variables) and meaning.collected is Collected.VALUES:
                named = self.names.of(meaning)
                keys = [constant(one.key) if isinstance(one.key, ast.expr) else 0 for one in named]
                if all(isinstance(key, str) for key in keys):
                    return [(str(key), one) for key, one in zip(keys, named)]
        raise Refused(self.module, node, "what a saver saves cannot be determined", "write a list")

    def averaged(self, node: ast.expr) -> AveragedNames | None:
        """What restores the values of averages, by a name or where it stands."""
        found = self.meaning(node) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Call):
            found = self.restored(node)
        return found if isinstance(found, AveragedNames) else None

    def _variables(self, node: ast.expr) -> list[NamedVariable]:
        meaning = self.meaning(node)
        if isinstance(meaning, Variables) and meaning.collected is Collected.ONE:
            return self.names.of(meaning)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            variables = self.meaning(node.value)
            wanted = constant(node.slice)
            if isinstance(variables, Variables) and wanted is not None:
                for named in self.names.of(variables):
                    key = constant(named.key) if isinstance(named.key, ast.expr) else named.key
                    if key == wanted:
                        return [named]
        raise Refused(self.module, node, "what a saver saves cannot be determined", "write a list")

    # -- optimizers -----------------------------------------------------------------

    def _states(self, update: Update) -> tuple[SavedState, ...]:
        """The state of an optimizer, which TF1 keeps in variables as well, or that of each arm."""
        if update in self._kept:
            return self._kept[update]
        arms = update.optimizer.arms
        others = [one for one in self.found.updates if one is not update]
        shared = self._alike(update)
        if update is not shared[0]:  # it keeps all together, by the first one
            return ()
        if len(shared) > 1:
            self._check_shared(shared)
        if len(arms) > 1 and others:  # what a slot is called depends on those that there are
            text = "the states of two optimizers are saved, one of which is chosen"
            raise Refused(self.module, update.statement, text, "save the variables alone")
        kinds: dict[str, Optimizer] = {}
        for arm in arms:
            if _keeps(arm) != _keeps(kinds.setdefault(arm.kind, arm)):
                text = f"two optimizers of a choice are `{arm.kind}`, and keep other values"
                raise Refused(self.module, arm.node, text, "save the variables alone")
        found = tuple(self._state(update, one, shared) for one in kinds.values())
        self._kept[update] = found
        return found

    def _alike(self, update: Update) -> list[Update]:
        """The updates that one optimizer makes, in their order: it has one state for all."""
        return [one for one in self.found.updates if one.optimizer is update.optimizer]

    def _check_shared(self, updates: list[Update]) -> None:
        """What an optimizer of several losses keeps has the names of their variables, in order.

        Raises:
            Refused: it is not known which those are, one of them keeps more, or TF1 makes what
                they keep in several scopes.
        """
        if len({self.names.variable_scope(one.statement) for one in updates}) > 1:
            text = "an optimizer that minimizes two losses, each in a scope of its own, is saved"
            raise Refused(self.module, updates[-1].statement, text, "make one for each")
        for update in updates:
            names = [n for one in update.variables for n in self.names.with_loops(one) if n.trained]
            known = all(one.used and one.rounds is None and one.told is None for one in names)
            if not known or update.averages or update.is_loss or update.counts_alone:
                text = "the state of an optimizer that minimizes two losses is saved"
                raise Refused(self.module, update.statement, text, "make one for each")

    def _state(self, update: Update, optimizer: Optimizer, updates: Sequence[Update]) -> SavedState:
        """What one keeps, as TF1 names it; ``updates`` are those that it makes, in their order."""
        row = OPTIMIZERS.by_kind[optimizer.kind]
        name = constant(optimizer.arguments.get("name"))
        if not isinstance(name, str):
            name = row.names[0].rpartition(".")[2].removesuffix("Optimizer")
        within = _OPTIMIZES if update.is_loss else ""
        if within and sum(one.is_loss for one in self.found.updates) > 1:
            text = "the states of two optimizers are saved, which `optimize_loss` makes"
            raise Refused(self.module, update.statement, text, "write the training steps out")
        scope = self.names.variable_scope(update.statement) + within
        slots: list[tuple[str, int]] = []
        every = [
            named
            for one in updates
            for variables in one.variables
            for named in self.names.with_loops(variables)
            if named.trained
        ]
        looped = any(one.rounds is not None or one.told is not None for one in every)
        if looped:
            keep_names(self.found, self.names, update)
        reached = [named for named in every if named.used]
        if len(reached) < len(every):  # the others have no gradient, and no slots in TF1
            if update.averages or looped:
                text = "averages, or variables of loops, are saved, of which one is not used"
                raise Refused(self.module, update.statement, text, "save the variables alone")
            self.found.differentiated[update] = tuple(reached)
        for named in () if looped else reached:
            base = f"{scope}{named.name}/{name}"
            slots.append((base, self._slots.get(base, 0)))
            self._slots[base] = self._slots.get(base, 0) + row.slots
        powers = ("", "")
        if optimizer.kind == "adam":
            first = self.names.fresh(update.statement, f"{within}beta1_power")
            powers = first, self.names.fresh(update.statement, f"{within}beta2_power")
        counted = optimizer.kind == "rmsprop" or (
            optimizer.kind != "adam" and is_scheduled(optimizer) and update.rate is None
        )
        steps = self.names.fresh(update.statement, f"{name}/steps") if counted else ""
        averages = [f"{scope}{one.name}/{_AVERAGE}" for one in every if not looped]
        return SavedState(
            update,
            optimizer,
            tuple(slots),
            powers,
            steps,
            tuple(averages if update.averages else ()),
            _COUNTER if update.counts_alone else "",
            (scope, f"/{name}") if looped else None,
        )

    # -- calls ------------------------------------------------------------------------

    def called(self, call: ast.Call, saver: Saver) -> SaverCall:
        """What a saver is asked to do.

        Raises:
            Refused: it is something else than saving and restoring.
        """
        kind = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if kind == RECOVER and len(call.args) == 1 and not call.keywords:
            return SaverCall(call, saver, kind, None)
        if kind not in ("save", "restore"):
            text = f"`{self.module.source.code(call.func)}` has no form in TF2"
            raise Refused(self.module, call, text)
        given = NamedArguments(self.module, call, SAVE if kind == "save" else RESTORE).rest
        if not {"sess", "save_path"} <= set(given):
            raise Refused(self.module, call, "what is saved, or where, cannot be determined")
        known = {"sess", "save_path", "global_step", *_SESSION_ONLY}
        for name, value in given.items():
            if name not in known and not is_none(value):
                text = f"`{name}` of a saver is not supported in a native program"
                raise Refused(self.module, value, text)
        gone = tuple(n for n in given if n not in ("sess", "save_path", "global_step"))
        step = given.get("global_step")
        counter = self.meaning(step) if step is not None else None
        if not isinstance(step, (ast.Name, ast.Attribute)) or not isinstance(counter, Variables):
            step = None
        return SaverCall(call, saver, kind, given["sess"], gone, step)


def _names_of(named: NamedVariable) -> list[str]:
    return [named.name] if named.told is None else [name for name, _ in named.told.names]


def keep_names(found: SessionProgram, names: GraphNames, update: Update) -> None:
    """Lets the variables of an update have a list of their names, some of which a run makes.

    Raises:
        Refused: there is more that has to do with them than one optimizer.
    """
    every = [n for one in update.variables for n in names.with_loops(one) if n.trained]
    others = [v for one in found.updates if one is not update for v in one.variables]
    shared = any(one in others for one in update.variables)
    whole = not any(one.rounds is not None for one in every)
    plain = len(found.updates) == 1 and found.scope.towers is None
    if shared or len(update.optimizer.arms) > 1 or update.averages or not (whole or plain):
        text = "a loop makes variables that are trained by more than one optimizer, or averaged"
        raise Refused(found.scope.module, update.statement, text)
    found.loop_names[update] = tuple(every)


def _keeps(optimizer: Optimizer) -> list[str]:
    """What says which values an optimizer keeps, and by which names."""
    given = optimizer.arguments
    return [f"{k}={ast.dump(given[k])}" for k in ("name", "momentum", "centered") if k in given]
