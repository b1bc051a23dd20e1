"""The names of what a session's program in TF2 has besides its author's."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import SPARSE_TENSOR, SPARSE_VALUE
from migrate_mgpu.models.front.session.host_objects import Iterator
from migrate_mgpu.models.front.session.program import (
    MadeLayer,
    RunningMetric,
    SessionProgram,
    given_by,
)
from migrate_mgpu.models.ir import (
    Collected,
    Decoding,
    NamedUnit,
    Placeholder,
    Recurrent,
    Stage,
    Step,
    TowerInput,
    Update,
    Variables,
)
from migrate_mgpu.models.keras.network.naming import is_telling
from migrate_mgpu.models.keras.session.sharing import Part


class StepNames:
    """Chooses names that nothing in the program has, once."""

    def __init__(self, program: SessionProgram) -> None:
        self.program = program
        module = program.scope.module
        self._names = module.names
        self._scope = module.names.module_scope
        self._taken: set[str] = {*program.others_names}
        self._layers = {
            call: made.variables.name
            if made.is_object
            else self._fresh(*_of_layer(module, made, program.layers.values()))
            for call, made in program.layers.items()
        }
        self._of_layers = {made.variables: call for call, made in program.layers.items()}
        self._schedules = {
            call: self._fresh(*_of_schedule(module, call)) for call in program.schedules
        }
        sparse = any(one.sparse for one in program.placeholders)
        self.sparse = self._fresh(SPARSE_TENSOR.name) if sparse else ""
        got = any(fetch.sparse for run in program.runs for fetch in run.fetches)
        self.sparse_value = self._fresh(SPARSE_VALUE.name) if got else ""
        self._specs = {p: self._fresh(f"{p.name}_spec") for p in program.placeholders}
        self._optimizers: dict[Update, str] = {}
        self._trained: dict[Update, str] = {}
        self._rates: dict[Update, str] = {}
        graphs = [program.scope.section(update.statement) for update in program.updates]
        several = len(program.updates) > len({*graphs})
        for update in program.updates:
            own = update.optimizer_name or self._optimizer(update, several)
            self._optimizers[update] = own
            name = f"{update.name}_variables" if several else "variables"
            if update.rate is not None and "momentum" in update.optimizer.kinds:
                self._rates[update] = self._fresh(f"{own}_rate")
            self._trained[update] = self._fresh(name, "trained_variables")
        self._names_of = {
            update: (
                self._fresh(
                    *([f"{update.name}_names"] if several else ["names"]), "variable_names"
                ),
                self._fresh("scopes", "name_scopes"),
                self._fresh("names_by_id"),
            )
            for update in program.loop_names
        }
        self._gone = {update.name for update in program.updates}  # the author's, free again
        self._steps: dict[Step, str] = {}
        for step in program.steps:
            self._steps[step] = self._fresh(*self._candidates(step, several))
        # What an object keeps for savers that are made elsewhere.
        self.saved = self._fresh("checkpoint_variables") if program.saved is not None else ""
        self._parts: dict[Part, str] = {}
        self._iterators: dict[Iterator, str] = {}
        self._gradients: dict[Update, str] = {}
        self._metrics: dict[RunningMetric, str] = {}
        self.strategy = self._fresh("strategy", "mirrored_strategy")
        self._splits: dict[tuple[object, ...], str] = {}
        # A step that gives one of these a value cannot call a function of that name.
        named = {one.name for one in program.units.values() if isinstance(one, NamedUnit)}
        self._replicas = {
            step: self._fresh(*(n for n in self._of_replica(step) if n not in named))
            for step in program.steps
            if any(unit.stage is not Stage.WHOLE for unit in step.units)
        }
        self.scaled = self._fresh("scaled_loss", "shared_loss")
        self.part_of = self._fresh("part", "part_of_replica")
        self.of_replica = self._fresh("context", "replica")
        self.index = self._fresh("index", "replica_id")
        self.attributes: dict[ast.Call, str] = {}  # of layers in classes, once these are written
        self.tape = self._fresh("tape")
        self.gradients = self._fresh("gradients", "grads")
        self.loss = self._fresh("loss", "loss_value")
        self.value = self._fresh("value", "tensor")
        drawn = [
            one
            for update in program.updates
            for one in update.clips
            if one.drawn is not None and program.scope.towers is not None
        ]
        self.drawn = {
            one: (self._fresh("noise", "drawn"), self._fresh("n", "of_noise")) for one in drawn
        }
        self._averages = {
            update: self._fresh("averages", "variable_averages")
            for update in program.updates
            if update.averages is not None and not update.averages.maker
        }
        self.average = self._fresh("average", "average_of_variable") if self._averages else ""
        averaged = any(update.averages is not None for update in program.updates)
        summed = any(update.sums is not None for update in program.updates)
        self.variable = self._fresh("variable", "trained_variable") if averaged or summed else ""
        self.total = self._fresh("total", "total_of_gradients") if summed else ""
        if program.frozen:
            self.frozen = self._fresh("averages", "frozen_averages", "averages_of_others")
            self.kept = self._fresh("kept", "kept_values")
            self.frozen_one = self._fresh("average", "frozen_average")
        self.decay = self._fresh("decay", "decay_of_averages") if self._averages else ""
        self.count = self._fresh("steps", "count") if self._averages else ""

    def part(self, part: Part, first: bool) -> str:
        """The name of a shared function."""
        if part not in self._parts:
            short = "_and_".join(part.gives) if len(part.gives) < 3 else "values"
            candidates = ["forward"] if first else []
            self._parts[part] = self._fresh(*candidates, f"get_{short}", f"make_{short}")
        return self._parts[part]

    def split(self, inputs: tuple[TowerInput, ...], passed: tuple[str, ...]) -> tuple[str, bool]:
        """The name of what gives each replica its part of a batch, and whether it is new.

        ``passed`` are the names that it takes and gives.
        """
        key = (inputs, passed)
        is_new = key not in self._splits
        if is_new:
            names = [name for one in inputs for name in one.names]
            short = "_and_".join(names) if len(names) < 3 else "inputs"
            verb = "draw" if inputs and all(one.drawn for one in inputs) else "split"
            first = "draw_batches" if verb == "draw" else "split_batch"
            self._splits[key] = self._fresh(
                *([] if self._splits else [first]), f"{verb}_{short}", f"{verb}_parts"
            )
        return self._splits[key], is_new

    def replica(self, step: Step) -> str:
        """The name of what each replica does in a step."""
        return self._replicas[step]

    def _of_replica(self, step: Step) -> tuple[str, ...]:
        name = self._steps[step]
        if name.startswith("compute_"):
            return f"tower_{name[len('compute_') :]}", f"{name}_in_tower"
        short = name[: -len("_step")] if name.endswith("_step") else name
        return f"{short}_tower", f"{short}_in_tower"

    def gradients_of(self, update: Update, several: bool) -> str:
        """The gradients of an update, ``several``: where a step has some."""
        if not several:
            return self.gradients
        if update not in self._gradients:
            self._gradients[update] = self._fresh(f"{update.name}_gradients")
        return self._gradients[update]

    def iterator(self, iterator: Iterator) -> str:
        """The name of an iterator, which its author may have given none."""
        if iterator not in self._iterators:
            own = iterator.name or self._fresh("iterator", "batches")
            self._iterators[iterator] = own
        return self._iterators[iterator]

    def metric(self, metric: RunningMetric) -> str:
        """The name of Keras's metric: that of its value, where something reads it."""
        if metric not in self._metrics:
            self._metrics[metric] = metric.value or self._fresh(f"{metric.update}_metric")
        return self._metrics[metric]

    def layer(self, call: ast.Call) -> str:
        """The name of a layer, by the call that made and applied it."""
        return self._layers[call]

    def schedule(self, call: ast.Call) -> str:
        """The name of a schedule, by the call that made it and asked for its value."""
        return self._schedules[call]

    def variables(self, variables: Variables) -> str:
        """What reaches the variables of a statement, or the layer that has them."""
        call = self._of_layers.get(variables)
        return variables.name if call is None else self._layers[call]

    def every(self, variables: Iterable[Variables]) -> str:
        """A list of all variables of some statements, trained or not."""
        layers = {one for one in variables if one.collected is Collected.LAYER}
        parts = [
            f"*{self.variables(one)}.variables" if one in layers else self.variables(one)
            for one in variables
        ]
        return f"[{', '.join(parts)}]"

    def spec(self, placeholder: Placeholder) -> str:
        return self._specs[placeholder]

    def optimizer(self, update: Update) -> str:
        return self._optimizers[update]

    def makes(self, update: Update) -> bool:
        """Whether an update's optimizer is made: a step of the program has it."""
        return update in self._optimizers

    def rate(self, update: Update) -> str:
        """What has the learning rate of an update whose steps have one of their own."""
        return self._rates.get(update, f"{self._optimizers[update]}.learning_rate")

    def averages(self, update: Update) -> str:
        """The list of the averages of what an update trains."""
        return self._averages[update]

    def trained(self, update: Update) -> str:
        return self._trained[update]

    def of_variables(self, update: Update) -> str:
        """The list of TF1's names of what an update trains, where a run makes some."""
        return self._names_of[update][0]

    def scopes(self, update: Update) -> str:
        """The scopes in which a loop makes variables of an update."""
        return self._names_of[update][1]

    def by_id(self, update: Update) -> str:
        """The names of what a network has, by the identity of its variables."""
        return self._names_of[update][2]

    def step(self, step: Step) -> str:
        return self._steps[step]

    @cached_property
    def _classes(self) -> set[str]:
        """The names of functions that become classes, which have other names."""
        assert self.program.layer_helpers is not None
        functions = (helper.function for helper in self.program.layer_helpers.found.values())
        return {one.name for one in functions if one.module is self.program.scope.module}

    @cached_property
    def _kept(self) -> set[str]:
        """Names that stand for something else than an update somewhere."""
        scopes = self._names.scopes
        going = {(scopes[self.program.scope.node], name) for name in self._gone}
        for client in self.program.clients:
            going |= {(scopes[client.node], name) for name in client.dropped}
            for statement in client.unpacked:
                parts = (n for n in walk(statement.targets[0]) if isinstance(n, ast.Name))
                going |= {(scopes[client.node], name.id) for name in parts}
        return {
            name.id
            for name, scope in self._names.scope_of_name.items()
            if (self._names.defining_scope(name.id, scope), name.id) not in going
        }

    def _optimizer(self, update: Update, several: bool) -> str:
        if "optim" in update.name and not several:
            return update.name  # the author's name for what trains
        return self._fresh(
            f"{update.name}_optimizer" if several else "optimizer", "keras_optimizer"
        )

    def _candidates(self, step: Step, several: bool) -> list[str]:
        values = [node.id for node in step.values if isinstance(node, ast.Name)]
        values = values if len(values) == len(step.values) else []
        found: list[str] = []
        assigning = [unit for unit in step.units if unit.assigns]
        copies = [unit for unit in assigning if unit.node in self.program.copies]
        others = [unit.node for unit in assigning if unit not in copies]
        made = [one.value for one in others if isinstance(one, ast.Assign)]
        if copies and not step.values and not step.updates:
            return [f"run_{name}" for unit in copies[:1] for name in sorted(given_by(unit))]
        if len(step.values) == len(made) == 1 and not step.updates:
            assert isinstance(made[0], ast.Call)
            assignment = self.program.assigning[made[0]]
            assert isinstance(assignment.variable, ast.Name)
            own = [f"run_{value}" for value in values]
            return [f"{assignment.kind}_{assignment.variable.id}", *own]
        if step.updates:
            update = step.updates[0]
            alone = several and len(step.updates) == 1
            found.append(f"{update.name}_step" if alone else "train_step")
            if values:
                found.append(f"train_and_compute_{'_and_'.join(values)}")
        elif sums := [unit for unit in copies if self.program.copies[unit.node].adds]:
            what = [*(name for unit in sums for name in sorted(given_by(unit)))]
            found.append("_and_".join([*what, *(f"compute_{value}" for value in values)]))
        elif 0 < len(values) < 3:
            found.append(f"compute_{'_and_'.join(values)}")
        else:
            found.append("evaluate")
            call = step.values[0] if len(step.values) == 1 else None
            if isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute)):
                func = call.func
                found.append(f"compute_{func.id if isinstance(func, ast.Name) else func.attr}")
        return found

    def fresh(self, *candidates: str) -> str:
        """A name that nothing has yet."""
        return self._fresh(*candidates)

    def _fresh(self, *candidates: str) -> str:
        for name in candidates:
            if name not in self._taken and self._is_free(name):
                self._taken.add(name)
                return name
        number = 2
        while True:
            name = f"{candidates[0]}_{number}"
            if name not in self._taken and self._is_free(name):
                self._taken.add(name)
                return name
            number += 1

    @cached_property
    def _attributes(self) -> set[str]:
        """The attributes and methods of objects whose constructor builds the graph."""
        owner = self.program.scope.owner
        if owner is None:
            return set()
        going = {
            target.attr
            for statement in self.program.exports
            if isinstance(statement, ast.Assign)
            and isinstance(target := statement.targets[0], ast.Attribute)
        }
        methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
        stored = {
            name
            for name, mentions in self._names.attributes.items()
            if any(not isinstance(one.ctx, ast.Load) for one in mentions)
        }
        return methods | (stored - going)

    def _is_free(self, name: str) -> bool:
        if name in self._attributes:
            return False
        if self._names.fresh(self._scope, name) == name or name in self._classes:
            return True
        return name == "train_step" and name in self._gone and name not in self._kept


def _of_layer(module: Module, made: MadeLayer, every: Iterable[MadeLayer]) -> list[str]:
    """What a layer may be called: by its author's name, or by that of its value.

    The latter where it is the only one with variables that gives such a value. A function that
    makes its layers once gives them its name.
    """
    told = [made.found.name] if made.found.name else []
    helper = made.found.helper
    if helper is not None:
        helpers = [one.found.helper for one in every if one.found.helper is not None]
        if [one.function.node for one in helpers].count(helper.function.node) == 1:
            told.append(made.found.stem)
    target = _target(module, made)
    targets = [_target(module, other) for other in every if other.variables.trainable]
    if made.variables.trainable and targets.count(target) == 1 and target and is_telling(target):
        told.append(f"{target}_layer")
    stem = made.found.stem
    if isinstance(
        made.found.layer, (Recurrent, Decoding)
    ):  # which may be the name of a module of cells
        stem = module.names.fresh(module.names.module_scope, stem, f"{stem}_layer")
    return [*told, stem]


def _target(module: Module, made: MadeLayer) -> str:
    """The name that a layer's value is given to; empty where it is given none."""
    parent = module.names.parents.get(made.found.call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return target.id if isinstance(target, ast.Name) else ""


def _of_schedule(module: Module, call: ast.Call) -> list[str]:
    parent = module.names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return [f"{target.id}_schedule", "schedule"] if isinstance(target, ast.Name) else ["schedule"]
