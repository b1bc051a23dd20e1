"""How a model_fn trains: the optimizer behind its train_op, and what happens to the gradients."""

from __future__ import annotations

import ast
from typing import Optional

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.dataflow import stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.optimizers import (
    CREATE_TRAIN_OP,
    OPTIMIZE_LOSS,
    OPTIMIZE_LOSS_PARAMETERS,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import AVERAGES
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.front.own_optimizers import own_class, read_own
from migrate_mgpu.models.ir import ClippedBy, Clipping, MovedAverages, Training

_GLOBAL_STEP = {"get_global_step", "get_or_create_global_step"}
_FOLLOWED = {
    "loss", "global_step", "learning_rate", "optimizer", "clip_gradients",
    "learning_rate_decay_fn", "name", "summaries", "colocate_gradients_with_ops", "variables",
}  # fmt: skip
_CREATED = {
    "total_loss", "optimizer", "global_step", "update_ops", "variables_to_train",
    "clip_gradient_norm", "summarize_gradients", "gate_gradients", "aggregation_method",
    "colocate_gradients_with_ops", "check_numerics",
}  # fmt: skip
# Arguments that say how gradients are computed, not what they are.
_SCHEDULING = {"gate_gradients", "aggregation_method", "colocate_gradients_with_ops", "name"}
_COMPUTE = ("loss", "var_list")
_MINIMIZE = ("loss", "global_step", "var_list")
_CLIP = ("t_list", "clip_norm")


# The expression that is the optimizer, and the statement that it stands in.
Made = tuple[ast.expr, Optional[ast.stmt]]


class ReportsOther(Refused):
    """What is minimized is not what the EstimatorSpec reports.

    ``minimized`` is the name of the former where the spec is made, if it has one there.
    """

    def __init__(self, module: Module, call: ast.Call, loss: ast.expr | None, keeps: bool) -> None:
        text = "the value that is minimized is not the loss of the EstimatorSpec"
        super().__init__(module, call, text, "report the loss that is minimized")
        self.minimized = loss if keeps and isinstance(loss, ast.Name) else None


class TrainingReader:
    """Follows a train_op to its optimizer."""

    def __init__(self, reading: Reading, graph: CallGraph) -> None:
        self.reading = reading
        self.graph = graph
        self.module: Module = reading.module
        self.flow = reading.flows[TRAIN]
        self.gone: set[ast.stmt] = set()
        self.updates = False
        self.scope: ast.expr | None = None
        self.clipping: Clipping | None = None
        self.beside: ast.expr | None = None  # what counts in a group with the step
        self.averages: MovedAverages | None = None
        self.condition: ast.expr | None = None  # by which the update operations run
        self.counted = 0  # how often a step adds one to the global step

    def read(self) -> Training:
        """How the model trains; its optimizers are read by ``read_optimizers``.

        Raises:
            Refused: the train_op is not one step of one optimizer on the loss.
        """
        value, unit = self.reading.resolved(TRAIN, "train_op")
        if value is None:
            call = self.reading.specs[TRAIN].call
            raise Refused(self.module, call, "the EstimatorSpec for training has no train_op")
        optimizer, place = self._operation(value, unit)
        if self.counted != 1:
            # TF1 counts `steps` by it: without, a training ends with its data only.
            text = "a training step does not add one to the global step"
            advice = "hand tf.train.get_global_step() to minimize(), once"
            raise Refused(self.module, value, text, advice)
        return Training(
            optimizer,
            place,
            self.clipping,
            self.gone,
            self.updates,
            self.scope,
            beside=self.beside,
            averages=self.averages,
            condition=self.condition,
        )

    def _operation(self, node: ast.expr, unit: ast.stmt | None) -> Made:
        value, where = self.flow.resolve(node, unit)
        assert value is not None
        if where is not None:
            self.gone.add(where)
        self._dependencies(where)
        if isinstance(value, ast.Name):
            chosen = self._chosen(value, where)
            if chosen is not None:
                value, where = chosen
                self._dependencies(where)
        name = name_of(self.module, value)
        if isinstance(value, ast.Call) and name == "group":
            return self._group(value, where)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr == "minimize":
                return self._minimize(value, where)
            if value.func.attr == "apply_gradients":
                return self._apply(value, where)
        if isinstance(value, ast.Call) and name == OPTIMIZE_LOSS:
            return self._optimize_loss(value, where)
        if isinstance(value, ast.Call) and name in CREATE_TRAIN_OP:
            return self._create_train_op(value, where, CREATE_TRAIN_OP[name])
        raise Refused(
            self.module, value, "the optimizer of this train_op cannot be determined",
            "make it by a class of tf.train in the model_fn, and minimize the loss there",
        )  # fmt: skip

    def _chosen(self, name: ast.Name, unit: ast.stmt | None) -> Made | None:
        """A step that a setting has wait for the update operations, or not: the one that waits."""
        statement = self.flow.single(name.id, unit)
        if not isinstance(statement, ast.If) or len(statement.orelse) != 1:
            return None
        waits, plain = statement.body[-1], statement.orelse[0]
        if not isinstance(waits, ast.With) or len(statement.body) != 1 or len(waits.body) != 1:
            return None
        inner = waits.body[0]
        if not isinstance(inner, ast.Assign) or ast.dump(inner) != ast.dump(plain):
            return None
        if any(isinstance(part, ast.Call) for part in ast.walk(statement.test)):
            return None
        self.gone |= {statement, inner, waits, plain}
        self.condition = statement.test
        return inner.value, inner

    def _group(self, call: ast.Call, unit: ast.stmt | None) -> Made:
        members: list[ast.expr] = []
        for argument in call.args:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            if isinstance(inner, (ast.List, ast.Tuple)):
                members += inner.elts
            else:
                members.append(inner)
        steps = [
            m
            for m in members
            if not self._is_update(m, unit)
            and not self._counts(m, unit)
            and not self._moves_averages(m, unit)
        ]
        if len(steps) != 1:
            text = "the train_op groups more than one step and the update operations"
            advice = "train by one optimizer; of averages of weights keep TF2's, by "
            advice += "tf.train.ExponentialMovingAverage in a callback"
            raise Refused(self.module, call, text, advice)
        return self._operation(steps[0], unit)

    def _is_update(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        """Whether a value is the collection of update operations."""
        value, where = self.flow.resolve(node, unit)
        if isinstance(value, ast.Call) and name_of(self.module, value) == "get_collection":
            given = [*value.args, *(k.value for k in value.keywords)]
            if any((self._qualname(a)).endswith("UPDATE_OPS") for a in given):
                self.updates = True
                if len(given) > 1 and not is_none(given[-1]):
                    self.scope = given[-1]
                if where is not None:
                    self.gone.add(where)
                return True
        return False

    def _moves_averages(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        """Whether a value is `ema.apply(variables)`, of all that are trained.

        In a group it reads the variables when the step begins, or just after the optimizer wrote
        one, by chance; a step that waits for it writes them later.
        """
        value, where = self.flow.resolve(node, unit)
        function = value.func if isinstance(value, ast.Call) else None
        if not isinstance(function, ast.Attribute) or function.attr != "apply":
            return False
        assert isinstance(value, ast.Call)
        made, place = self.flow.resolve(function.value, where)
        if not isinstance(made, ast.Call) or name_of(self.module, made) != AVERAGES:
            return False
        given = by_parameter(made, ("decay", "num_updates", "zero_debias", "name"))
        told = by_parameter(value, ("var_list",))
        plain = where is not None and place is not None and not self._waits(where)
        if {*given} != {"decay"} or not plain or {*told} - {"var_list"}:
            text = "how these averages move cannot be determined"
            raise Refused(self.module, value, text, "give them a decay, and nothing else")
        assert where is not None and place is not None
        if self.averages is not None:
            raise Refused(self.module, value, "a training step moves several averages")
        variables, asked = told.get("var_list"), where
        self._all_variables(variables, where)
        if isinstance(variables, ast.Name):
            _, found = self.flow.resolve(variables, where)
            if found is not None:
                asked = found
                self.gone.add(found)
        self.gone |= {where, place}
        self.averages = MovedAverages(made, given["decay"], asked)
        return True

    def _counts(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        """Whether a value is `tf.assign_add(global_step, 1)`, or assigns `global_step + 1`."""
        value, where = self.flow.resolve(node, unit)
        if not isinstance(value, ast.Call):
            return False
        arguments = value.args
        called = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        if called in ("assign", "assign_add"):
            if name_of(self.module, value) != called:  # global_step.assign_add(1)
                assert isinstance(value.func, ast.Attribute)
                arguments = [value.func.value, *arguments]
            if len(arguments) == 2 and not value.keywords:
                first, second = arguments
                adds = self._next_step if called == "assign" else self._is_one
                if self._is_global_step(first, where) and adds(second, where):
                    self.counted += 1
                    self.beside = value
                    if where is not None:
                        self.gone.add(where)
                    return True
        return False

    def _is_one(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        return constant(node) == 1

    def _next_step(self, node: ast.expr, unit: ast.stmt | None) -> bool:
        """`global_step + 1`."""
        value, where = self.flow.resolve(node, unit)
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
            return False
        if not self._is_global_step(value.left, where) or constant(value.right) != 1:
            return False
        if where is not None:
            self.gone.add(where)
        return True

    def _is_global_step(self, node: ast.expr | None, unit: ast.stmt | None) -> bool:
        value, _ = self.flow.resolve(node, unit)
        name = name_of(self.module, value) if value is not None else ""
        return name.rpartition(".")[2] in _GLOBAL_STEP

    def _count(
        self, node: ast.expr | None, unit: ast.stmt | None, optimizer: ast.expr | None = None
    ) -> None:
        """What an optimizer is given as the step to count: one of the program's own does not."""
        made, _ = self.flow.resolve(optimizer, unit)
        if isinstance(made, ast.Call) and own_class(self.module, made, self.graph) is not None:
            return
        if node is not None and not is_none(node):
            if not self._is_global_step(node, unit):
                raise Refused(self.module, node, "it is not known to be the global step")
            self.counted += 1

    def _qualname(self, node: ast.AST) -> str:
        return self.module.names.qualname(node) or ""

    def _dependencies(self, statement: ast.stmt | None) -> None:
        """`with tf.control_dependencies(update_ops):` around a step."""
        if statement is None:
            return
        for parent in self.module.names.ancestors(statement):
            if parent is self.reading.function:
                return
            if not isinstance(parent, ast.With):
                continue
            for item in parent.items:
                call = item.context_expr
                if name_of(self.module, call) != "control_dependencies":
                    continue
                assert isinstance(call, ast.Call)
                waits = call.args[0] if call.args else None
                known = waits is not None and (
                    self._is_update(waits, statement) or self._are_averages(waits, statement)
                )
                if not known:
                    text = "a training step waits for something other than the update operations"
                    advice = "let it wait for tf.get_collection(tf.GraphKeys.UPDATE_OPS) alone"
                    raise Refused(self.module, call, text, advice)

    def _waits(self, statement: ast.stmt) -> bool:
        """Whether something runs before what a statement makes."""
        return any(
            isinstance(parent, ast.With)
            and any(
                name_of(self.module, item.context_expr) == "control_dependencies"
                for item in parent.items
            )
            for parent in self.module.names.ancestors(statement)
        )

    def _are_averages(self, node: ast.expr, unit: ast.stmt) -> bool:
        """`[ema.apply(variables)]`, which a step waits for."""
        value, where = self.flow.resolve(node, unit)
        if not isinstance(value, (ast.List, ast.Tuple)) or len(value.elts) != 1:
            return False
        if not self._moves_averages(value.elts[0], where or unit):
            return False
        if where is not None and where is not unit:
            self.gone.add(where)
        assert self.averages is not None
        self.averages = replaced(self.averages, waited=True)
        return True

    # -- steps ----------------------------------------------------------------

    def _minimize(self, call: ast.Call, unit: ast.stmt | None) -> Made:
        self._check_arguments(call, unit, _MINIMIZE)
        given = by_parameter(call, _MINIMIZE)
        self._check_loss(call, given.get("loss"), unit)
        assert isinstance(call.func, ast.Attribute)
        self._count(given.get("global_step"), unit, call.func.value)
        return call.func.value, unit

    def _check_arguments(
        self, call: ast.Call, unit: ast.stmt | None, signature: tuple[str, ...]
    ) -> None:
        """What gradients are computed for: all variables, as Keras does."""
        assert isinstance(call.func, ast.Attribute)
        given = by_parameter(call, signature)
        if len(call.args) > len(signature):
            raise Refused(self.module, call, f"{call.func.attr}() is given many arguments by place")
        self._all_variables(given.pop("var_list", None), unit)
        for name, value in given.items():
            if name not in {*signature, *_SCHEDULING} and not is_none(value):
                raise Refused(self.module, value, f"{call.func.attr}() is given `{name}`")

    def _all_variables(self, node: ast.expr | None, unit: ast.stmt | None) -> None:
        """Whether a list is that of all trainable variables, or none is given."""
        if node is None or is_none(node):
            return
        value, _ = self.flow.resolve(node, unit)
        if isinstance(value, ast.Call) and not value.keywords:
            name, arguments = name_of(self.module, value), value.args
            if name == "trainable_variables" and not arguments:
                return
            if name == "get_collection" and len(arguments) == 1:
                if self._qualname(arguments[0]).endswith("GraphKeys.TRAINABLE_VARIABLES"):
                    return
        text = "only some of the variables are trained, or which ones cannot be determined"
        raise Refused(self.module, node, text, "make the layers that stay `trainable=False`")

    def _clip(
        self,
        by: ClippedBy,
        call: ast.Call,
        parameters: tuple[str, ...],
        known: tuple[str, ...] = ("name",),
    ) -> None:
        """Notes a clipping by the last of a function's parameters."""
        given = by_parameter(call, parameters)
        other = len(call.args) > len(parameters) or not {*given} <= {*parameters, *known}
        if self.clipping is not None or other:
            text = "gradients are clipped twice, or in a way that Keras does not support"
            raise Refused(self.module, call, text, "clip them once")
        if parameters[-1] not in given:
            raise Refused(self.module, call, "the limit of the gradients is not given")
        self.clipping = Clipping(by, given[parameters[-1]])

    def _check_loss(self, call: ast.Call, loss: ast.expr | None, unit: ast.stmt | None) -> None:
        """What is minimized must be what is reported."""
        reported, place = self.reading.resolved(TRAIN, "loss")
        value, where = self.flow.resolve(loss, unit)
        same = value is reported
        if isinstance(value, ast.Name) and isinstance(reported, ast.Name):  # `loss += ...`
            mine = self.flow.definitions(value.id, where)
            same = bool(mine) and mine == self.flow.definitions(reported.id, place)
        if not same:
            raise ReportsOther(self.module, call, loss, self._keeps(loss, unit))

    def _keeps(self, loss: ast.expr | None, unit: ast.stmt | None) -> bool:
        """Whether what is minimized has a name that means the same where the spec is made."""
        if not isinstance(loss, ast.Name):
            return False
        found = self.flow.definitions(loss.id, unit)
        spec = self.reading.specs[TRAIN]
        return bool(found) and found == self.flow.definitions(loss.id, spec.unit)

    def _apply(self, call: ast.Call, unit: ast.stmt | None) -> Made:
        given = by_parameter(call, ("grads_and_vars", "global_step"))
        pairs = given.get("grads_and_vars")
        assert isinstance(call.func, ast.Attribute)
        if pairs is None:
            raise Refused(self.module, call, "apply_gradients() without gradients")
        self._count(given.get("global_step"), unit, call.func.value)
        self._gradients(pairs, unit)
        return call.func.value, unit

    def _optimize_loss(self, call: ast.Call, unit: ast.stmt | None) -> Made:
        """`tf.contrib.layers.optimize_loss`: it runs the update operations, and may clip."""
        given = by_parameter(call, OPTIMIZE_LOSS_PARAMETERS)
        for name, value in given.items():
            if name not in _FOLLOWED and not is_none(value):
                text = f"optimize_loss is given `{name}`"
                raise Refused(self.module, value, text, "write the training step out")
        self._check_loss(call, given.get("loss"), unit)
        self._all_variables(given.get("variables"), unit)
        self.counted += 1  # the global step, whether it is given or not
        self.updates = True
        limit = given.get("clip_gradients")
        if limit is not None and not is_none(limit):
            if isinstance(limit, ast.Lambda) or self.module.names.qualname(limit):
                raise Refused(self.module, limit, "the gradients are clipped by a function")
            self.clipping = Clipping(ClippedBy.GLOBAL_NORM, limit)
        wanted, _ = self.flow.resolve(given.get("optimizer"), unit)
        value = given["optimizer"] if isinstance(wanted, ast.Call) else call
        return value, unit

    def _create_train_op(
        self, call: ast.Call, unit: ast.stmt | None, parameters: tuple[str, ...]
    ) -> Made:
        """`create_train_op` of `tf.contrib.training` or `slim.learning`.

        That it raises at a loss which is not finite, an Estimator does as well.
        """
        given = by_parameter(call, parameters)
        for name, value in given.items():
            if (name not in _CREATED or name == "update_ops") and not is_none(value):
                text = f"create_train_op is given `{name}`"
                raise Refused(self.module, value, text, "write the training step out")
        self._check_loss(call, given.get("total_loss"), unit)
        self._all_variables(given.get("variables_to_train"), unit)
        if "global_step" in given:
            self._count(given["global_step"], unit)
        else:
            self.counted += 1
        self.updates = True
        limit = given.get("clip_gradient_norm")
        if limit is not None and constant(limit) != 0:
            if constant(limit) is None:
                text = "whether create_train_op clips the gradients cannot be determined"
                raise Refused(self.module, limit, text, "write the limit as a number")
            self.clipping = Clipping(ClippedBy.NORM, limit)
        if "optimizer" not in given:
            raise Refused(self.module, call, "create_train_op is given no optimizer")
        return given["optimizer"], unit

    def _gradients(self, node: ast.expr, unit: ast.stmt | None) -> None:
        """Follows (gradient, variable) pairs, or the gradients alone, back to the loss."""
        if isinstance(node, ast.Name):
            statement = self.flow.single(node.id, unit)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
                self.gone.add(statement)
                self._gradients(statement.value, statement)
                return
        value, where = self.flow.resolve(node, unit)
        if where is not None:
            self.gone.add(where)
        name = name_of(self.module, value) if value is not None else ""
        if isinstance(value, ast.Call):
            function = value.func
            if isinstance(function, ast.Attribute) and function.attr == "compute_gradients":
                self._check_arguments(value, where, _COMPUTE)
                self._check_loss(value, by_parameter(value, _COMPUTE).get("loss"), where)
                return
            if name == "gradients":
                given = by_parameter(value, ("ys", "xs"))
                if len(value.args) <= 2 and {*given} <= {"ys", "xs", *_SCHEDULING}:
                    self._all_variables(given.get("xs", value), where)
                    self._check_loss(value, given.get("ys"), where)
                    return
            if isinstance(function, ast.Name) and function.id in ("zip", "list") and value.args:
                inner = value.args[0]
                self._gradients(inner.value if isinstance(inner, ast.Starred) else inner, where)
                return
            if name == "clip_by_global_norm":
                known = ("name", "use_norm") if self._own_norm(value, where) else ("name",)
                self._clip(ClippedBy.GLOBAL_NORM, value, _CLIP, known)
                self._gradients(by_parameter(value, _CLIP).get("t_list", value), where)
                return
        if isinstance(value, ast.Subscript) and constant(value.slice) == 0:
            if name_of(self.module, value.value) == "clip_by_global_norm":
                self._gradients(value.value, where)
                return
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)) and self._clipped(value):
            self._gradients(value.generators[0].iter, where)
            return
        raise Refused(
            self.module,
            value or node,
            "what happens to the gradients before they are applied cannot be analyzed",
            "clip them by tf.clip_by_global_norm, tf.clip_by_norm or tf.clip_by_value only",
        )

    def _own_norm(self, call: ast.Call, unit: ast.stmt | None) -> bool:
        """Whether `use_norm` is the norm of what is clipped, which TF1 would compute itself."""
        clipped = by_parameter(call, _CLIP)
        value, where = self.flow.resolve(clipped.get("use_norm"), unit)
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "global_norm":
            return False
        mine, yours = clipped.get("t_list"), by_parameter(value, ("t_list",)).get("t_list")
        if not isinstance(mine, ast.Name) or not isinstance(yours, ast.Name):
            return False
        if where is not None:
            self.gone.add(where)
        same = self.flow.definitions(mine.id, unit) == self.flow.definitions(yours.id, where)
        return mine.id == yours.id and same

    def _clipped(self, node: ast.ListComp | ast.GeneratorExp) -> bool:
        """`[(tf.clip_by_norm(g, 5.), v) for g, v in gradients]`, the same without pairs."""
        element = node.elt.elts[0] if isinstance(node.elt, ast.Tuple) else node.elt
        if isinstance(element, ast.IfExp):  # `None if g is None else ...`
            element = element.orelse if is_none(element.body) else element.body
        if len(node.generators) != 1 or not isinstance(element, ast.Call):
            return False
        tests = node.generators[0].ifs
        if not all(any(is_none(part) for part in ast.walk(test)) for test in tests):
            return False
        name = name_of(self.module, element)
        if name == "clip_by_norm":
            self._clip(ClippedBy.NORM, element, ("t", "clip_norm"))
            return True
        if name == "clip_by_value":
            given = by_parameter(element, ("t", "clip_value_min", "clip_value_max"))
            low, high = given.get("clip_value_min"), given.get("clip_value_max")
            if high is not None and _is_negative(low, high):
                if self.clipping is not None:
                    raise Refused(self.module, element, "the gradients are clipped twice")
                self.clipping = Clipping(ClippedBy.VALUE, high)
                return True
        return False


def _is_negative(node: ast.expr | None, other: ast.expr) -> bool:
    """Whether an expression is the negative of another one."""
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return ast.dump(node.operand) == ast.dump(other)


def read_optimizers(reading: Reading, training: Training, graph: CallGraph) -> None:
    """Reads the optimizers that are made on the way to the one that trains.

    Raises:
        Refused: it is not one of TensorFlow's, or made of another one.
    """
    module, flow, value = reading.module, reading.flow, training.value
    if value is None:
        return
    clipping = training.clipping
    nodes = [value, *([clipping.limit] if clipping is not None else [])]
    units = sorted(flow.slice(nodes, training.unit), key=lambda unit: unit.lineno)
    calls = (c for n in (value, *units) for c in ast.walk(n) if isinstance(c, ast.Call))
    made = ((call, read_optimizer(module, call) or read_own(module, call, graph)) for call in calls)
    training.optimizers = {call: one for call, one in made if one is not None}
    if not training.optimizers:
        text = "its optimizer is not one of tf.train"
        raise Refused(module, value, text, "no Keras optimizer is known for it")
    _check_wrapped(reading, training, value)
    if clipping is not None and len(training.optimizers) > 1:
        raise Refused(module, value, "several optimizers share a clipping")


def _check_wrapped(reading: Reading, training: Training, value: ast.expr) -> None:
    """The optimizer itself is what trains, not something that is made of it."""
    found = training.optimizers
    if value in found:
        return
    wrong: ast.AST | None = None if isinstance(value, ast.Name) else value
    if isinstance(value, ast.Name):
        for statement in reading.flows[TRAIN].definitions(value.id, training.unit):
            for node in ast.walk(statement):
                if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                    continue
                if value.id in stored(node)[0]:
                    arms = [node.value]
                    if isinstance(node.value, ast.IfExp):
                        arms = [node.value.body, node.value.orelse]
                    wrong = next((arm for arm in arms if arm not in found), wrong)
    if wrong is not None:
        text = "the optimizer that trains is made of another one, or by a function"
        raise Refused(reading.module, wrong, text, "make it in model_fn by its own class")
