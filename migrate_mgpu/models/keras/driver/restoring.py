"""The statements that make a model's variables and restore its latest checkpoint into them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.analysis.style import root
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.ir import Checkpoints
from migrate_mgpu.models.keras.canned.combined import also_built
from migrate_mgpu.models.keras.driver.checkpoint_insertion import InsertionPoint, known
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.style import FileStyle

_WHY = "# The variables must exist before a checkpoint can be restored into them."
_BEGUN = "# The variables must exist before they can get a checkpoint's values."
_LISTS = "# Keras 3 leaves the layers of a list out, where only the model is named."
# Each Estimator of TF1's saves it, and nothing of Keras's is called so.
_STEP = "global_step"
_OF_TF1 = "a TF1 checkpoint: `migrate-mgpu checkpoint` converts it"


@record()
class Manager:
    """The manager of a model's checkpoints, by the name that it gets.

    ``first``: the model has its latest checkpoint before anything else names it. ``prefix`` is of
    names that another model's checkpoints may have.
    """

    name: str
    receiver: str
    prefix: str = ""
    callback: str = ""  # the variable of one that saves while `fit` trains, if that is wanted
    first: bool = False

    @property
    def save(self) -> str:
        """The statement that saves when a training ends, named by the step as TF1's were.

        A checkpoint of the same step that the callback saved is the same one then.
        """
        interval = ", check_interval=False" if self.callback else ""
        return f"{self.name}.save({self.receiver}.optimizer.iterations{interval})"


class Restoring:
    """Writes these statements for one model; ``folder`` is the expression of its folder, if any.

    ``lists``: the model keeps layers in lists. ``begins`` are
    calls of its methods for what it begins with. Lines have no indentation of the place where they
    will stand, which is what their length is measured by.
    """

    def __init__(
        self,
        flow: EstimatorFlow,
        checkpoints: Checkpoints,
        setup: Setup,
        point: InsertionPoint,
        manager: Manager,
        folder: str,
        lists: bool,
        trains: bool,
        model: ModelPlan,
        begins: Sequence[str],
    ) -> None:
        self.flow = flow
        self.begins = begins
        self.model = model
        self.point = point
        self.manager = manager
        self.folder = folder
        self.lists = lists
        module = point.module
        self.style = FileStyle.of(module.source)
        self.unit = module.source.indent_unit
        self.tf = root(module, point.statement)
        names = module.names
        scope = names.scope_at(point.statement)
        self.checkpoint = point.owner + names.fresh(
            scope, f"{manager.prefix}checkpoint", "restored"
        )
        self.reader = names.fresh(scope, "reader", "checkpoint_reader")
        self.extra = ["max_to_keep=5"]
        keep, every = checkpoints.keep, checkpoints.every
        if keep is not None:
            self.extra = ["max_to_keep=None"]
            if constant(keep.node) != 0:
                limit = known(point, setup.values, keep, "keep_checkpoint_max")
                self.extra = [f"max_to_keep={text_of(module, limit)}"]
        if every is not None and trains:
            steps = known(point, setup.values, every, "save_checkpoints_steps")
            manager.callback = point.owner + names.fresh(
                scope, f"{manager.prefix}saving", "saving_callback"
            )
            self.extra += [
                f"step_counter={manager.receiver}.optimizer.iterations",
                f"checkpoint_interval={text_of(module, steps)}",
            ]

    def made(self, features: str) -> list[str]:
        """The calls that make a model's variables of the shapes and types of its features."""
        receivers = [self.manager.receiver]
        if self.model.averages:  # what is saved has them from the first step on
            receivers.append(f"{self.manager.receiver}.averages")
        return [made_of(self.tf, one, features) for one in receivers]

    def at_once(
        self, made: Sequence[str], indent: str, strategy: str | None, scoped: bool
    ) -> list[str]:
        """All of them, in one place; ``made`` calls the model, which makes its variables.

        ``scoped``: what stands above is in the strategy's scope already.
        """
        step = self.unit if strategy is not None else ""
        lines = [self._why]
        if strategy is not None and scoped:
            lines[0] = step + lines[0]
        elif strategy is not None:
            lines.append(f"with {strategy}.scope():")
        lines += [step + line for line in self._variables(made, indent + step)]
        kept = ""
        if self.lists and self.folder:
            lines.append(_LISTS)
            kept = f", weights={self.manager.receiver}.weights"
        return [*lines, *self._managing(indent, kept), *self._restore(indent)]

    def managing(self, indent: str) -> list[str]:
        """What there is once, above a function that restores."""
        return self._managing(indent, "")

    def function(self, name: str, features: str, indent: str) -> list[str]:
        """A function that makes the variables, of ``features``, and restores into them."""
        made = self.made(features)
        lines = [self._why, *self._variables(made, indent + self.unit)]
        if self.lists and self.folder:
            lines += [_LISTS, f"{self.checkpoint}.weights = {self.manager.receiver}.weights"]
        lines += self._restore(indent + self.unit)
        return [f"def {name}({features}):", *(self.unit + line for line in lines)]

    @property
    def _why(self) -> str:
        return _WHY if self.folder else _BEGUN

    def _variables(self, made: Sequence[str], indent: str) -> list[str]:
        receiver = self.manager.receiver
        if not self.model.labels:
            made = [self.style.fitted(one, indent, len(indent), nested=True) for one in made]
        lines = [line.removeprefix(indent) for one in made for line in one.split("\n")]
        if self.model.trains:
            lines.append(f"{receiver}.optimizer.build({receiver}.trainable_variables)")
        return [*lines, *also_built(self.flow, receiver, self.style)]

    def _managing(self, indent: str, kept: str) -> list[str]:
        if not self.folder:
            return []
        found, receiver = self.manager, self.manager.receiver
        lines = [f"{self.checkpoint} = {self.tf}.train.Checkpoint(model={receiver}{kept})"]
        column = len(indent) + len(found.name) + 3
        head = f"{self.tf}.train.CheckpointManager"
        given = [self.checkpoint, self.folder, *self.extra]
        made = self.style.call(head, given, indent, column)
        # What is inserted gets its indentation from the statement below it.
        lines += [line.removeprefix(indent) for line in f"{found.name} = {made}".split("\n")]
        if found.callback:
            head = f"{found.callback} = {self.tf}.keras.callbacks.LambdaCallback"
            step = f"{receiver}.optimizer.iterations"
            saves = f"on_train_batch_end=lambda batch, logs: {found.name}.save({step})"
            made = self.style.call(head, [saves], indent, len(indent))
            lines += [line.removeprefix(indent) for line in made.split("\n")]
        return lines

    def _restore(self, indent: str) -> list[str]:
        latest, unit, style = f"{self.manager.name}.latest_checkpoint", self.unit, self.style
        inside = indent + 2 * unit
        stops = style.call("raise ValueError", [style.string(_OF_TF1)], inside, len(inside))
        first = [f"{self.manager.receiver}.{call}" for call in self.begins]
        if not self.folder:
            return first
        return [
            f"if {latest}:",
            f"{unit}{self.reader} = {self.tf}.train.load_checkpoint({latest})",
            f"{unit}if {self.reader}.has_tensor({style.string(_STEP)}):",
            *(2 * unit + line.removeprefix(inside) for line in stops.split("\n")),
            f"{unit}{self.checkpoint}.restore({latest}).assert_existing_objects_matched()",
            *(["else:", *(unit + line for line in first)] if first else []),
        ]


def made_of(tf: str, receiver: str, features: str) -> str:
    """The call that makes a model's variables of the shapes and types of its features."""
    return f"{tf}.function({receiver}).get_concrete_function({features})"


def named_before(point: InsertionPoint, node: ast.expr) -> bool:
    """Whether each local name in an expression has its value where the model is made."""
    names = point.module.names
    scope = names.scope_at(point.statement)
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name in names.scope_of_name:
            defined = names.defining_scope(name.id, names.scope_of_name[name])
            if defined is not scope or defined is None:
                continue
            for binding in defined.bindings[name.id]:
                if binding.kind == "parameter":
                    continue
                if line_of(binding.node) >= point.statement.lineno:
                    return False
    return True
