"""Optimizers, and what they do to variables in a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.optimizers import OPTIMIZE_LOSS_PARAMETERS, OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.optimizers import made_optimizer, may_get_rows
from migrate_mgpu.models.front.session.expressions import is_all_variables
from migrate_mgpu.models.front.session.gradient_sums import GradientSumReader
from migrate_mgpu.models.front.session.gradients import COMPUTING, GradientReader, check_gates
from migrate_mgpu.models.front.session.graph_collections import waits_for
from migrate_mgpu.models.front.session.normalization_averages import AverageReader
from migrate_mgpu.models.front.session.number_types import DOUBLE, is_single, type_of
from migrate_mgpu.models.front.session.optimizer_choices import read_choice
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    AllVariables,
    Gradients,
    Holds,
    Host,
    Role,
    closure,
    reached,
)
from migrate_mgpu.models.front.session.rates import RateReader
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.scoped_variables import ScopedVariables
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.units import UnitReader
from migrate_mgpu.models.front.session.variables import VariableReader
from migrate_mgpu.models.ir import (
    Collected,
    Decoding,
    Gathered,
    GradientSums,
    LearningRate,
    Operation,
    Optimizer,
    OptimizerChoice,
    Placeholder,
    Unit,
    Update,
    Variables,
    Variation,
)
from migrate_mgpu.models.properties import moves_same_rows

_MINIMIZE = ("loss", "global_step", "var_list", "gate_gradients", "aggregation_method",
             "colocate_gradients_with_ops", "name", "grad_loss")  # fmt: skip
_MINIMIZED = {"loss", "global_step", "var_list", "name"}
# Those whose state is that of each variable, and a count of all steps at most.
_SHARED = ("gradient_descent", "momentum", "adagrad", "adam")
_APPLY = ("grads_and_vars", "global_step", "name")
# What `optimize_loss` is given, and of that what `minimize` is told as well, by its names.
_OPTIMIZED = {"loss", "global_step", "learning_rate", "optimizer", "clip_gradients", "variables",
              "learning_rate_decay_fn", "summaries", *COMPUTING}  # fmt: skip
_TOLD = (("loss", "loss"), ("global_step", "global_step"), ("variables", "var_list"))


class UpdateReader(StatementReader):
    """Reads optimizers, `minimize` and `apply_gradients`."""

    def __init__(
        self,
        state: Reading,
        units: UnitReader,
        variables: VariableReader,
        averages: AverageReader,
    ) -> None:
        super().__init__(state)
        self.units = units
        self.variables = variables
        self.averages = averages
        self.rates = RateReader(state, units)
        self.scoped = ScopedVariables(state)
        self.sums = GradientSumReader(state, self.every_of, self._is_fixed)

    @cached_property
    def gradients(self) -> GradientReader:
        return GradientReader(
            self.module,
            self.meanings,
            self._is_fixed,
            self.towers.combined,
            self.towers.differentiated,
            lambda node: self.units.unit(node, self.place),
            self._change,
        )

    def _change(self, loop: ast.ListComp, node: ast.expr) -> Unit:
        """What a comprehension computes of each gradient, and of its variable."""
        self.units.expressions.changes.add(loop)
        return self.units.unit(node, self.place)

    def optimizer(self, call: ast.Call) -> Optimizer:
        optimizer = made_optimizer(self.module, call)
        if optimizer is None:
            raise Refused(self.module, call, "this optimizer is not known")
        rate = optimizer.learning_rate
        changes = self.rates.rate_of(optimizer) is not None
        for value in optimizer.arguments.values():
            if value is rate.value and changes:
                continue
            self.state.host_only(value, "the optimizer")
            if self.expressions.builds(value):
                raise Refused(self.module, value, "a tensor is an argument of the optimizer")
        if changes:
            changing = LearningRate(rate.value, Variation.SCHEDULED)
            return replaced(optimizer, learning_rate=changing)
        if self._is_number_here(rate.value):
            return replaced(optimizer, learning_rate=LearningRate(rate.value, Variation.CONSTANT))
        if rate.variation is Variation.SCHEDULED or rate.schedule is not None:
            raise Refused(self.module, call, "its learning rate follows the steps")
        return optimizer

    def _is_number_here(self, value: ast.expr | None) -> bool:
        """Whether a name is Python's own where an optimizer is made, whatever it is below."""
        if not isinstance(value, ast.Name) or not isinstance(self.meanings.get(value.id), Host):
            return False
        known = [one.value for one in self.names.bindings_of(value)]
        numbers = [isinstance(constant(one), (int, float)) for one in known if one is not None]
        return len(known) > 1 and numbers[:1] == [True] and not all(numbers)

    def every(self) -> AllVariables:
        own = (v for v in self.found.variables if v not in self.state.earlier)
        return AllVariables(tuple(v for v in own if v.trainable))

    def one_graph_name(self, name: ast.Name) -> None:
        """A name that gradients have may be another of theirs, and nothing else."""
        statements = [self.names.statement(b.node) for b in self.names.bindings_of(name)]
        own = {entry.statement for entry in self.scope.entries if not entry.opens}
        if not all(
            s in self.towers.lists.values()
            or (s in own and isinstance(s, ast.Assign) and _is_of_gradients(s.value))
            for s in statements
        ):
            text = f"`{name.id}` is also assigned elsewhere"
            raise Refused(self.module, name, text, "give the two different names")

    def _is_fixed(self, node: ast.expr) -> bool:
        """Whether an expression is Python's own: nothing of the graph, which each step computes.

        That its names keep their values is checked once all is read.
        """
        mentions = mentions_of(self.names, node, self.home)
        if any(isinstance(self.meanings.get(name.id), GRAPH) for name in mentions):
            return False
        return not self.expressions.builds(node)

    def chosen(self, statement: ast.stmt) -> Role | None:
        """`if name == "adam": optimizer = tf.train.AdamOptimizer(0.01) else: ...`

        Or an expression does it. The program keeps its condition. None for any other statement.

        Raises:
            Refused: the condition is of the graph, or an arm is no optimizer of TF2's.
        """
        found = read_choice(self.module, statement)
        if found is None:
            return None
        for part in (*found.tests, *found.beside):
            self.state.host_only(part, "which optimizer is made")
            if self.units.is_graph(part):
                raise Refused(self.module, part, "which optimizer is made depends on the graph")
        arms = tuple(self.optimizer(call) for call in found.calls)
        rates = [self.rates.rate_of(one) for one in arms]
        if any(rate is not rates[0] for rate in rates):
            text = "the optimizers of a choice have different learning rates in a step"
            raise Refused(self.module, statement, text, "compute the rate above, for all of them")
        targets = {*found.targets}
        for target in found.targets:
            if any(one.node not in targets for one in self.names.bindings_of(target)):
                text = f"`{target.id}` is also assigned elsewhere"
                raise Refused(self.module, target, text, "give the two different names")
        choice = OptimizerChoice(arms, found.tests)
        self.meanings[found.targets[0].id] = choice
        self.found.optimizers[statement] = choice
        return Role.OPTIMIZER

    def _of_step(self, call: ast.Call, made: ast.expr) -> tuple[OptimizerChoice, str]:
        """The optimizer of a step, and its name if it has one."""
        name = ""
        if isinstance(made, ast.Name):
            optimizer, name = self.meanings.get(made.id), made.id
        elif isinstance(made, ast.Call):
            if name_of(self.module, made) not in OPTIMIZERS.by_name:
                raise Refused(self.module, made, "this optimizer is not known")
            optimizer = OptimizerChoice((self.optimizer(made),))
        else:
            optimizer = None
        if not isinstance(optimizer, OptimizerChoice):
            raise Refused(self.module, call, "the optimizer of this step cannot be determined")
        return optimizer, name

    def apply(
        self, statement: ast.Assign, target: ast.Name, call: ast.Call, made: ast.expr
    ) -> Role:
        """`train = optimizer.apply_gradients(zip(gradients, variables))`"""
        given = NamedArguments(self.module, call, _APPLY).rest
        pairs = given.get("grads_and_vars")
        summed = self.sums.applied(pairs) if pairs is not None else None
        if summed is not None:
            return self._apply_sums(statement, target, call, made, given, *summed)
        found = self.gradients.read(pairs) if pairs is not None else None
        known = self._given(pairs) if pairs is not None and found is None else None
        if known is not None:
            return self._apply_given(statement, target, call, made, given, *known)
        if found is None or found.holds is not Holds.PAIRS:
            text = "what happens to the gradients before they are applied cannot be analyzed"
            raise Refused(self.module, pairs or call, text)
        optimizer, name = self._of_step(call, made)
        if found.optimizer not in ("", name):
            text = "these gradients are computed by another optimizer"
            raise Refused(self.module, call, text)
        more = {} if found.var_list is None else {"var_list": found.var_list}
        if "global_step" in given:
            more["global_step"] = given["global_step"]
        return self._update(
            statement, target, call, optimizer, name, {"loss": found.loss, **more}, found
        )

    def _apply_sums(
        self,
        statement: ast.Assign,
        target: ast.Name,
        call: ast.Call,
        made: ast.expr,
        given: Mapping[str, ast.expr],
        sums: GradientSums,
        gradients: Gradients,
    ) -> Role:
        """`train = optimizer.apply_gradients(zip(sums, variables))`, of sums of gradients."""
        optimizer, name = self._of_step(call, made)
        if gradients.optimizer not in ("", name):
            text = "these gradients are computed by another optimizer"
            raise Refused(self.module, call, text)
        told: dict[str, ast.expr] = {"loss": gradients.loss}
        if gradients.var_list is not None:
            told["var_list"] = gradients.var_list
        if "global_step" in given:
            told["global_step"] = given["global_step"]
        return self._update(statement, target, call, optimizer, name, told, gradients, sums=sums)

    def _given(self, pairs: ast.expr) -> tuple[ast.expr, tuple[Variables, ...]] | None:
        """The gradients of `zip([of_w, of_b], variables)`, which are fed, and their variables."""
        if not isinstance(pairs, ast.Call) or not isinstance(pairs.func, ast.Name):
            return None
        if self.names.qualname(pairs.func) != "builtins.zip" or len(pairs.args) != 2:
            return None
        given, told = pairs.args
        gradients = self.names.only_value(given) if isinstance(given, ast.Name) else given
        if not isinstance(gradients, (ast.List, ast.Tuple)):
            return None
        every = self.every_of(told)
        variables = every.variables if every is not None else self.variables.told(told)
        fed = [isinstance(one, ast.Name) and self._is_fed(one) for one in gradients.elts]
        if not all(fed) or not all(one.collected is Collected.ONE for one in variables):
            return None
        return (given, variables) if len(fed) == len(variables) else None

    def _is_fed(self, name: ast.Name) -> bool:
        return isinstance(self.meanings.get(name.id), Placeholder)

    def _apply_given(
        self,
        statement: ast.Assign,
        target: ast.Name,
        call: ast.Call,
        made: ast.expr,
        told: Mapping[str, ast.expr],
        gradients: ast.expr,
        variables: tuple[Variables, ...],
    ) -> Role:
        """`train = optimizer.apply_gradients(zip([of_w, of_b], [w, b]))`: what is fed is applied.

        Raises:
            Refused: there are towers, or more is done by such a step.
        """
        optimizer, name = self._of_step(call, made)
        rate = self.rates.rate_of(optimizer.arms[0])
        if self.scope.towers is not None or rate is not None or len(optimizer.arms) > 1:
            text = "gradients that are fed, beside towers or with a rate that changes"
            raise Refused(self.module, call, text)
        if self.averages.moves(statement):
            raise Refused(self.module, call, "averages move with gradients that are fed")
        others = [one for one in self.found.updates if one.optimizer is optimizer]
        if others:
            self._check_shared(call, optimizer, [variables, *(one.variables for one in others)])
        meaning = self.meanings.get(gradients.id) if isinstance(gradients, ast.Name) else None
        unit = meaning if isinstance(meaning, Unit) else self.units.unit(gradients, self.place)
        plain = optimizer.kinds == {"gradient_descent"}
        if not plain and self._may_be_double([unit], variables, None):
            text = "its variables may be float64: TF1 rounds what an optimizer is given to float32"
            raise Refused(self.module, call, text, "make the variables and what is fed float32")
        counts = self._counter(told.get("global_step"))
        self.state.only_binding(target, in_turn=True)
        update = Update(
            target.id,
            statement,
            optimizer,
            name,
            gradients,
            unit,
            self.place,
            variables,
            counts,
            counts_alone=counts is None and self._counts(told.get("global_step")),
            given=True,
        )
        self._check_before(update)
        self.found.updates.append(update)
        self.meanings[target.id] = update
        return Role.UPDATE

    def optimize_loss(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role:
        """`tf.contrib.layers.optimize_loss`: it moves averages first, and may clip."""
        given = NamedArguments(self.module, call, OPTIMIZE_LOSS_PARAMETERS).rest
        for key, value in given.items():
            if key not in _OPTIMIZED and not is_none(value):
                text = f"`optimize_loss` with `{key}`"
                raise Refused(self.module, value, text, "write the training step out")
        merges = (one for module in self.graph.modules for one in module.names.calls)
        known = given.get("summaries")
        if not (isinstance(known, (ast.List, ast.Tuple)) and not known.elts) and any(
            name_of(self.module, one) == "summary.merge_all" for one in merges
        ):
            text = "`optimize_loss` adds summaries to those that are merged"
            raise Refused(self.module, call, text, "give it `summaries=[]`")
        if self.scope.towers is not None:
            raise Refused(self.module, call, "`optimize_loss` beside towers")
        optimizer = OptimizerChoice((self.optimizer(call),))
        told = {new: given[old] for old, new in _TOLD if old in given and not is_none(given[old])}
        if not {"loss", "global_step"} <= told.keys():
            text = "the loss, or the global step, of `optimize_loss` cannot be determined"
            raise Refused(self.module, call, text, "give it the variable that counts the steps")
        limit = given.get("clip_gradients")
        gradients = (
            None
            if limit is None or is_none(limit)
            else self.gradients.clipped(call, told["loss"], told.get("var_list"), limit)
        )
        self.averages.moved(self.averages.asked(call))
        return self._update(statement, target, call, optimizer, "", told, gradients, True)

    def minimize(
        self, statement: ast.Assign, target: ast.Name, call: ast.Call, made: ast.expr
    ) -> Role:
        optimizer, name = self._of_step(call, made)
        given = NamedArguments(self.module, call, _MINIMIZE).rest
        for key, value in given.items():
            if key not in (*_MINIMIZED, *COMPUTING) and not is_none(value):
                raise Refused(self.module, value, f"`minimize` with `{key}`")
        check_gates(self.module, given.get("gate_gradients"))
        return self._update(statement, target, call, optimizer, name, given, None)

    def _update(
        self,
        statement: ast.Assign,
        target: ast.Name,
        call: ast.Call,
        optimizer: OptimizerChoice,
        name: str,
        given: Mapping[str, ast.expr],
        gradients: Gradients | None,
        optimizes: bool = False,
        sums: GradientSums | None = None,
    ) -> Role:
        """``optimizes``: the step is that of `optimize_loss`, which is its loss as well."""
        clips = gradients.clips if gradients is not None else ()
        tower_clips = gradients.tower_clips if gradients is not None else ()
        combined = gradients.combined if gradients is not None else None
        mean = gradients is not None and gradients.mean
        loss = given.get("loss")
        if loss is None:
            raise Refused(self.module, call, "what is minimized cannot be determined")
        if not isinstance(loss, ast.Name) or not isinstance(self.meanings.get(loss.id), Unit):
            unit = self.units.unit(loss, self.place)
        else:
            found = self.meanings[loss.id]
            assert isinstance(found, Unit)
            unit = found
        if gradients is not None and self.towers.is_named_behind(gradients, unit):
            unit = gradients.unit
        if gradients is not None and gradients.unit is not unit:
            text = (
                f"`{gradients.loss.id}` has a different value here than where it is differentiated"
            )
            raise Refused(self.module, call, text, "give the two different names")
        if gradients is None:
            one = self.towers.differentiated(loss, unit)
            loss, unit, combined, mean = one.loss, one.unit, one.combined, one.mean
        self.towers.check_update(call, unit, combined, self.scope.entries[self.place])
        counts = self._counter(given.get("global_step"))
        self.state.only_binding(target, in_turn=True)
        units = closure([unit])
        if any(one.averages for one in units):
            text = "the loss is computed of averages of variables"
            raise Refused(self.module, call, text, "compute it of the variables")
        mentioned = [v for unit in units for one in unit.reads for v in (one, *one.listed)]
        read = {known for one in mentioned for known in (one, one.whole)}
        for variable in (v for u in units for v in u.collects if v not in read):
            if variable.collected is Collected.LAYER:
                text = "the loss has variables of layers that nothing in it applies"
                raise Refused(self.module, call, text)
            read.add(variable)
        moved = reached(self.module, unit)
        moved |= {one.whole for one in moved}
        trained = tuple(v for v in self.found.variables if v in moved and v.trainable)
        told = given.get("var_list")
        if told is not None and not (isinstance(told, ast.Constant) and told.value is None):
            every = self.every_of(told)
            if every is not None and every.chosen:
                trained = every.variables
                if not {*trained} <= read:
                    text = "the loss does not depend on all variables that it is to train"
                    raise Refused(self.module, told, text)
            elif every is None:
                trained = self._trained_variables(told, read)
            elif not set(trained) <= set(every.variables):
                text = "variables that it is to train are made after they are listed"
                raise Refused(self.module, told, text)
        trained = tuple(v for v in trained if not _is_whole_number(v))
        if not trained:
            raise Refused(self.module, call, "the loss depends on no variable")
        for clip in clips:
            if clip.change is not None and not all(
                self.units.collections.keeps_name(one, word)
                for one in trained
                for word in clip.words
            ):
                text = f"`{clip.variable}.name` is something else in TF2"
                raise Refused(self.module, clip.change, text, "name the variables themselves")
        others = [one for one in self.found.updates if one.optimizer is optimizer]
        if others:
            self._check_shared(call, optimizer, [trained, *(one.variables for one in others)])
        sparse = any(u.sparse for u in units)
        if sparse and tower_clips and self.scope.towers is not None:
            text = "a gradient that may be one of some rows of a table is clipped in towers"
            raise Refused(self.module, call, text, "TF1 clips the rows before it adds them up")
        if sparse and self.scope.towers is None and any(one.change for one in clips):
            text = "a gradient that may be one of some rows of a table is changed"
            raise Refused(self.module, call, text, "make it one of all rows: tf.convert_to_tensor")
        own_rows = [
            one
            for one in optimizer.arms
            if not moves_same_rows(one) and (sparse or may_get_rows(one))
        ]
        if own_rows and self.scope.towers is not None:
            text = "a gradient may be one of some rows of a table, and TF1 moves only those"
            raise Refused(self.module, call, text, "use Adam, Adagrad or gradient descent")
        made = [*(one.found for one in self.found.layers.values()), *self.found.applied.values()]
        decoded = [one.layer for one in made if isinstance(one.layer, Decoding)]
        if (own_rows or clips) and any(one.help.draws for one in decoded):
            text = "a decoder draws rows of a table, and TF1 clips, or moves, their gradient alone"
            raise Refused(self.module, call, text, "use Adam, and clip nothing")
        plain = optimizer.kinds == {"gradient_descent"}
        if not plain and self._may_be_double(units, trained, self.rates.rate_of(optimizer.arms[0])):
            text = "its variables may be float64: TF1 rounds what an optimizer is given to float32"
            raise Refused(self.module, call, text, "make the variables and what is fed float32")
        if counts is not None and counts in trained:
            raise Refused(self.module, call, f"`{counts.name}`, which it trains, counts its steps")
        rate = self.rates.rate_of(optimizer.arms[0])
        if rate in trained:
            text = f"`{rate.name}`, which it trains, is its learning rate as well"
            raise Refused(self.module, call, text)
        if len(optimizer.arms) == 1 and self.rates.by_itself(optimizer.only, rate, counts):
            assert isinstance(rate, Unit)
            self.rates.leave_to_optimizer(rate)
            rate = None
        moves = gradients is not None and self.averages.moves(gradients.node)
        chosen = self.averages.chosen(gradients.node) if moves and gradients is not None else None
        if self.averages.moves(statement):
            moves, chosen = True, self.averages.chosen(statement)
        moves = moves or optimizes
        update = Update(
            target.id,
            statement,
            optimizer,
            name,
            loss,
            unit,
            self.place,
            trained,
            counts,
            None if rate is None else optimizer.arms[0].learning_rate.value,
            rate,
            sparse,
            clips,
            moves,
            chosen,
            combined,
            tower_clips,
            mean=mean,
            computed=None if gradients is None or optimizes else gradients.node,
            is_loss=optimizes,
            own_rows=tuple(own_rows),
            double_rate=any(self._is_double(one) for one in _feeds(rate)),
            counts_alone=counts is None and self._counts(given.get("global_step")),
            upstream=gradients.upstream if gradients is not None else None,
            sums=sums,
        )
        if sums is not None:
            self.sums.check_of(sums, trained, call)
            if rate is not None or moves:
                text = "sums of gradients are applied with a rate that changes, or averages"
                raise Refused(self.module, call, text)
            if own_rows:
                text = "a gradient that is added up may be one of some rows of a table"
                raise Refused(self.module, call, text, "use Adam, Adagrad or gradient descent")
        if update.upstream is not None and self.scope.towers is not None:
            raise Refused(self.module, call, "`tf.gradients` with `grad_ys`, beside towers")
        if isinstance(told, ast.Name) and (every := self.every_of(told)) and every.chosen:
            binding = self.names.only_binding(told)
            if binding is not None:
                self.found.lists[update] = self.names.statement(binding.node)
        self._check_before(update)
        self.found.moves_averages |= update.moves
        self.found.updates.append(update)
        self.meanings[target.id] = update
        return Role.UPDATE

    def _check_before(self, update: Update) -> None:
        """What a step waits for is computed before it changes anything, as its loss is.

        Raises:
            Refused: that is more than its loss is made of.
        """
        own = {*closure([update.unit])}
        for part in waits_for(self.module, self.names.parents[update.statement]):
            unit = self.runs.meaning(part)
            parts = {*closure([unit])} if isinstance(unit, Unit) else {None}
            if not {one for one in parts if not isinstance(one, Gathered)} <= own:
                text = "what runs before it is more than what its loss is made of"
                raise Refused(self.module, part, text, "run it with what trains")

    def _check_shared(
        self, call: ast.Call, optimizer: OptimizerChoice, trained: list[tuple[Variables, ...]]
    ) -> None:
        """One optimizer minimizes several losses: Keras's has slots and steps for all, as TF1's.

        Raises:
            Refused: it trains a variable twice, or has more that changes.
        """
        every = [v for some in trained for one in some for v in (one.listed or (one,))]
        twice = len({*every}) != len(every) or any(one.item_of in every for one in every)
        arms = optimizer.arms
        fixed = all(one.learning_rate.variation is Variation.CONSTANT for one in arms)
        if twice or not fixed or not optimizer.kinds <= {*_SHARED} or self.scope.towers is not None:
            text = "one optimizer minimizes two losses"
            raise Refused(self.module, call, text, "make one for each")

    def _is_double(self, placeholder: Placeholder) -> bool:
        return type_of(placeholder.module, placeholder.arguments["dtype"]) in DOUBLE

    def _may_be_double(
        self,
        units: list[Unit],
        trained: tuple[Variables, ...],
        rate: Placeholder | Unit | Variables | None,
    ) -> bool:
        """Whether a trained variable may be of float64.

        Operations take tensors of one type: with a float32 that is fed, all is float32, unless
        something says otherwise. TF1 rounds a rate of float64 to the type of the variables.
        """
        fed = {p for unit in units for p in unit.feeds}
        rates = [] if rate in fed or not isinstance(rate, Placeholder) else [rate]
        of_rates = [one.arguments["dtype"] for one in rates]
        if any(use.symbol.name in DOUBLE and use.node not in of_rates for use in self.module.uses):
            return True
        types = {type_of(p.module, p.arguments["dtype"]) for p in fed}
        if not types.isdisjoint(DOUBLE):
            return True
        if not types.isdisjoint(("float", "float32")):
            return False
        made = [o for v in trained for o in v.made]
        return any(map(_makes_double, made))

    def every_of(self, node: ast.expr) -> AllVariables | None:
        """`tf.trainable_variables()`, perhaps by a name."""
        if is_all_variables(self.module, node):
            return self.every()
        word = self.scoped.word(node)
        if word is not None:
            return AllVariables(self.scoped.below(node, word), True)
        found = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        return found if isinstance(found, AllVariables) else None

    def _trained_variables(self, node: ast.expr, read: set[Variables]) -> tuple[Variables, ...]:
        """The variables that `minimize` is told to train.

        Raises:
            Refused: they are not seen, or the loss does not depend on one of them.
        """
        found = self.variables.told(node)
        told = [one for some in found for one in (some.listed or (some,))]
        if not found or len({*told}) != len(told):
            text = "which variables are trained cannot be determined"
            raise Refused(self.module, node, text, "make a list of their names")
        for variable in told:
            if variable.whole not in read:
                text = f"the loss does not depend on `{variable.name}`, which it is to train"
                raise Refused(self.module, node, text)
        return found

    def _counts(self, node: ast.expr | None) -> bool:
        """`tf.train.get_or_create_global_step()`, where it stands."""
        return node is not None and self.rates.is_counter(node)

    def _counter(self, node: ast.expr | None) -> Variables | None:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        if self._counts(node):
            named = [use for use in self.module.uses if use.symbol.name in COUNTERS]
            if len(named) == 1:
                return None  # nobody reads it
        found = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(found, Variables) and found.collected is Collected.ONE:
            return found
        raise Refused(self.module, node, "the global step is not a variable with a name")


def _makes_double(made: Operation) -> bool:
    """Whether what makes a variable may make one of float64: NumPy's arrays are, by themselves."""
    module = made.module
    parts = (part for value in made.arguments.values() for part in walk(value))
    if any(type_of(module, one) in DOUBLE for one in parts if isinstance(one, ast.Attribute)):
        return True
    value = made.arguments.get("initial_value")
    if "initializer" in made.arguments:
        return False  # those make float32, unless they are told another type
    return (
        value is not None
        and not name_of(module, value)
        and not is_single(module, value)
        and any(
            (module.names.qualname(part) or "").startswith("numpy") or isinstance(part, ast.Name)
            for part in walk(value)
            if isinstance(part, (ast.Name, ast.Attribute))
        )
    )


def _is_of_gradients(node: ast.expr) -> bool:
    """Whether an expression has the form of those that give gradients."""
    return isinstance(node, (ast.Call, ast.ListComp, ast.Name, ast.Subscript))


def _feeds(rate: Placeholder | Unit | Variables | None) -> Iterator[Placeholder]:
    """What a learning rate is fed, or computed from."""
    if isinstance(rate, Placeholder):
        yield rate
    elif isinstance(rate, Unit):
        yield from rate.feeds
        for other in rate.after:
            yield from _feeds(other)


def _is_whole_number(variables: Variables) -> bool:
    """Whether it is of whole numbers, which have no gradient: no optimizer moves it.

    `batch = tf.Variable(0)`, of which the loss takes a decay.
    """
    for made in variables.made:
        value = constant(made.arguments.get("initial_value"))
        dtype = made.arguments.get("dtype")
        if made.kind != "Variable" or not isinstance(value, int) or isinstance(value, bool):
            return False
        if dtype is not None and name_of(made.module, dtype) not in ("int32", "int64"):
            return False
    return bool(variables.made)
