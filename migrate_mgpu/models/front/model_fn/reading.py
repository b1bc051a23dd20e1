"""A model_fn as it is: its paths, its EstimatorSpecs, and the value that its network ends in."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cached_property

from migrate_mgpu.analysis.dataflow import Dataflow, items, loaded, stored
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import (
    EVAL,
    MODES,
    PREDICT,
    TRAIN,
    Modes,
    Path,
    path,
)
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.core.records import record, replaced
from migrate_mgpu.models.front.model_fn.twins import find_twins
from migrate_mgpu.models.front.network.layer_calls import LayerCalls

_SPEC = (
    "mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs",
    "training_chief_hooks", "training_hooks", "scaffold", "evaluation_hooks", "prediction_hooks",
)  # fmt: skip
_ROLES = ("features", "labels", "mode", "params", "config")
_GIVEN = ("features", "labels", "mode")


@record(frozen=True)
class Spec:
    """The EstimatorSpec of a mode: its arguments, and the statement that they stand in."""

    call: ast.Call
    unit: ast.stmt | None
    arguments: dict[str, ast.expr]


class Reading:
    """The facts of one model_fn.

    Raises:
        Refused: it is written in a form that is not understood, with the place.
    """

    def __init__(
        self,
        module: Module,
        function: ast.FunctionDef,
        bound: Collection[str] = (),
        optional: Collection[str] = (),
        trained: bool = True,
        minimized: ast.Name | None = None,
        texts: frozenset[str] = frozenset(),
    ) -> None:
        """``bound`` are parameters that something else than the Estimator gives.

        ``optional`` are those of them that may be None; ``trained``: the program trains it.
        ``minimized`` is what training minimizes where its spec reports another value: it is the
        loss of training then, and ``reported`` what the spec says. ``texts``: see `LayerCalls`.
        """
        self.optional = optional
        self.trained = trained
        self.module = module
        self.function = function
        self.layers = LayerCalls(texts)
        # Metrics that are the larger one of a mean and what it lacks to one: read as that mean.
        self.baselines: set[str] = set()
        # Settings by which there is a metric, and where they are asked for.
        self.conditions: dict[str, ast.If] = {}
        arguments = function.args
        self.parameters = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
        known = {*_ROLES, *bound, *with_default(function)}
        unknown = [name for name in self.parameters if name not in known]
        if arguments.vararg or arguments.kwarg or unknown:
            extra = unknown[0] if unknown else "*"
            raise Refused(module, function, f"model_fn takes `{extra}`", "give it by `params`")
        # What is known when the model is made.
        self.settings = [name for name in self.parameters if name not in _GIVEN]
        same = {TRAIN: TRAIN, EVAL: EVAL, PREDICT: PREDICT}
        self.modes = Modes(module, function, {"mode": same})
        self.paths: dict[str, Path] = {m: path(module, function, self.modes, m) for m in MODES}
        self.flows = {m: Dataflow(p, self.parameters) for m, p in self.paths.items()}
        self.specs = {m: spec for m in MODES if (spec := self._spec(m)) is not None}
        self.twins = find_twins(self.paths[TRAIN].units)
        if self.twins is not None:
            self.modes.flags.update(self.twins.flags)
        if not trained and not self.specs:
            raise Refused(module, function, "no EstimatorSpec is returned in any mode")
        if trained and TRAIN not in self.specs:
            text = "no EstimatorSpec is returned for training"
            raise Refused(module, function, text)
        self.reported: ast.expr | None = None
        if minimized is not None:
            spec = self.specs[TRAIN]
            self.reported = spec.arguments["loss"]
            self.specs[TRAIN] = replaced(spec, arguments={**spec.arguments, "loss": minimized})
        # What says of the network what training says, where there is none.
        self.base = next(mode for mode in MODES if mode in self.specs)
        self.flow = self.flows[self.base]

    def _spec(self, mode: str) -> Spec | None:
        found, flow = self.paths[mode], self.flows[mode]
        if found.result is None or _is_none(found.result):
            return None
        call, unit = flow.resolve(found.result, None)
        if isinstance(call, ast.Name) and self._is_never_given(call, flow, unit):
            return None  # this mode stops with an error
        unit = unit or found.end
        if not isinstance(call, ast.Call):
            raise Refused(self.module, found.result, "what model_fn returns cannot be analyzed")
        name = (self.module.names.qualname(call.func) or "").rpartition(".")[2]
        if name != "EstimatorSpec":
            text = f"model_fn returns a {name or 'value that cannot be analyzed'}"
            advice = "return a tf.estimator.EstimatorSpec"
            if isinstance(call.func, ast.Attribute) and call.func.attr == "create_estimator_spec":
                text = f"`{self.module.source.code(call.func)}` says what model_fn returns"
                advice += ", with the loss, the metrics and the predictions of the head written out"
            raise Refused(self.module, call, text, advice)
        arguments = dict(zip(_SPEC, call.args))
        for keyword in call.keywords:
            if keyword.arg is None:
                arguments.update(self._unpacked(keyword.value, flow, unit))
                continue
            arguments[keyword.arg] = keyword.value
        if mode == EVAL and "loss" in arguments:
            loss, _ = flow.resolve(arguments["loss"], unit)
            if isinstance(loss, ast.Constant) and loss.value is None:
                return None  # TF1 stops: an evaluation needs a loss
        needs = {TRAIN: "train_op", EVAL: "loss"}.get(mode)
        if not self.trained and needs is not None and needs not in arguments:
            return None  # it would stop there, where nothing asks for it
        return Spec(call, unit, arguments)

    def _unpacked(
        self, node: ast.expr, flow: Dataflow, unit: ast.stmt | None
    ) -> dict[str, ast.expr]:
        """The arguments that `**spec` gives, of a dictionary that is written out.

        Raises:
            Refused: it is none, or its values may be others by then.
        """
        value, where = flow.resolve(node, unit)
        found = {str(key): given for key, given in items(value).items()}
        names = {name.id for given in found.values() for name in loaded(given)}
        same = all(flow.definitions(name, where) == flow.definitions(name, unit) for name in names)
        if not found or not same:
            raise Refused(self.module, node, "EstimatorSpec gets its arguments from `**`")
        return found

    def _is_never_given(self, name: ast.Name, flow: Dataflow, unit: ast.stmt | None) -> bool:
        """Whether a variable of the model_fn has no value in a mode."""
        own = self.module.names.scopes[self.function].bindings
        given = flow.definitions(name.id, unit)
        return name.id in own and not given and name.id not in self.parameters

    def argument(self, mode: str, name: str) -> ast.expr | None:
        """An argument of a mode's spec; None where it is left out or None."""
        value = self.specs[mode].arguments.get(name) if mode in self.specs else None
        return None if value is None or _is_none(value) else value

    def resolved(self, mode: str, name: str) -> tuple[ast.expr | None, ast.stmt | None]:
        """An argument of a mode's spec behind its names, with the statement that it stands in."""
        if mode not in self.specs:
            return None, None
        return self.flows[mode].resolve(self.argument(mode, name), self.specs[mode].unit)

    # -- what the loss and the metrics look at ------------------------------

    @cached_property
    def metrics(self) -> dict[str, tuple[ast.expr, ast.stmt | None]]:
        """``eval_metric_ops`` by name, each with its statement; see ``baselines``.

        Raises:
            Refused: they are not written out as a dictionary.
        """
        value, unit = self.resolved(EVAL, "eval_metric_ops")
        if value is None:
            return {}
        found: dict[str, tuple[ast.expr, ast.stmt | None]] = {}
        for part, place in self._parts(value, unit):
            entries = items(part)
            if not entries and not (isinstance(part, ast.Dict) and not part.keys):
                raise Refused(self.module, value, "eval_metric_ops is not a dictionary literal")
            for key, metric in entries.items():
                resolved, where = self.flows[EVAL].resolve(metric, place)
                assert resolved is not None
                mean = _mean_of_baseline(resolved)
                if mean is not None:
                    resolved, where = self.flows[EVAL].resolve(mean, where)
                    assert resolved is not None
                    self.baselines.add(str(key))
                found[str(key)] = (resolved, where)
                if isinstance(place, ast.If):
                    self._condition(str(key), place)
        return found

    def _condition(self, name: str, statement: ast.If) -> None:
        """Notes the setting by which there is a metric.

        Raises:
            Refused: it is asked of a batch, or by a call.
        """
        test, flow = statement.test, self.flows[EVAL]
        asked = any(flow.depends(test, statement, one) for one in _GIVEN)
        if asked or any(isinstance(part, ast.Call) for part in walk(test)):
            text = f"when there is a metric {name!r} cannot be determined"
            raise Refused(self.module, test, text, "let a setting say so")
        self.conditions[name] = statement

    def _parts(
        self, value: ast.expr, unit: ast.stmt | None
    ) -> list[tuple[ast.expr, ast.stmt | None]]:
        """A dictionary, and those that are added to it by `d[key] = ...` and `d.update(...)`."""
        statements = (
            self.flows[EVAL].definitions(value.id, unit) if isinstance(value, ast.Name) else ()
        )
        if len(statements) < 2:
            return [(value, unit)]
        found: list[tuple[ast.expr, ast.stmt | None]] = []
        for statement in statements:
            part = _added(statement)
            if part is None:
                return [(value, unit)]
            found.append((part, statement))
        return found

    @property
    def output(self) -> tuple[str, ast.stmt]:
        """The variable that the network ends in, and the statement that gives it its value."""
        assert self.end is not None
        return self.end

    @cached_property
    def end(self) -> tuple[str, ast.stmt] | None:
        """The variable that the network ends in, and the statement that gives it its value.

        The last one through which everything goes that loss and metrics take from the
        features: the logits, as a rule. None where they look at several values of the network,
        or at the features, or not at the labels.
        """
        spec = self.specs[self.base]
        loss, unit = self.argument(self.base, "loss"), spec.unit
        if loss is None and self.base == PREDICT:
            return None
        if loss is None:
            raise Refused(self.module, spec.call, "the EstimatorSpec has no loss")
        train, evaluation = self.flow, self.flows[EVAL]
        if self.twins is not None or not train.depends(loss, unit, "labels"):
            return None  # called again by `reuse`, evaluation's loss is of the other network
        for candidate in reversed(self.paths[self.base].units):
            name = _assigned_name(candidate)
            if not name:
                continue
            if isinstance(candidate, ast.If) and train.single(name, None) is not candidate:
                continue
            if train.depends(candidate, candidate, "labels"):
                continue
            if not train.depends(candidate, candidate, "features"):
                continue
            if candidate not in train.slice([loss], unit):
                continue
            if train.depends(loss, unit, "features", candidate):
                continue
            if any(
                evaluation.depends(part, where, "features", candidate)
                for metric, where in self.metrics.values()
                for part in ast.iter_child_nodes(metric)
            ):
                continue
            if EVAL in self.specs and candidate not in self.paths[EVAL].units:
                continue
            return name, candidate
        return None

    @cached_property
    def network(self) -> set[ast.stmt]:
        """The statements that the output comes from, in any mode; the output's own among them."""
        _, unit = self.output
        found = {unit}
        for mode in MODES:
            if unit in self.paths[mode].units:
                found |= self.flows[mode].slice([unit], unit)
        return found


def _assigned_name(statement: ast.stmt) -> str:
    """The one name that a statement gives its value, by an `if` in each of its arms; else empty."""
    certain, maybe = stored(statement)
    if isinstance(statement, ast.Assign):
        named = isinstance(statement.targets[0], ast.Name) and len(certain) == 1
        return next(iter(certain)) if named else ""
    if not isinstance(statement, ast.If) or not statement.orelse or len(maybe) != 1:
        return ""
    arms = [arm for arm in (statement.body, statement.orelse) if not isinstance(arm[-1], ast.Raise)]
    given = arms and all(any(_assigned_name(inner) for inner in arm) for arm in arms)
    return next(iter(maybe)) if given and not certain else ""


def with_default(function: ast.AST) -> set[str]:
    """The parameters that a caller of a function may leave out."""
    if not isinstance(function, ast.FunctionDef):
        return set()
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args]
    found = {a.arg for a in every[len(every) - len(arguments.defaults) :]}
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults)
    return found | {a.arg for a, default in pairs if default is not None}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _added(statement: ast.stmt) -> ast.expr | None:
    """The dictionary that a statement makes, or adds to one, under a condition as well."""
    if isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse:
        inner = statement.body[0]
        sets = isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Subscript)
        return _added(inner) if sets else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return ast.copy_location(ast.Dict([target.slice], [statement.value]), statement.value)
        return statement.value if isinstance(target, ast.Name) else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr != "update":
        return None
    if len(call.args) == 1 and not call.keywords:
        return call.args[0]
    if call.args or any(k.arg is None for k in call.keywords):
        return None
    keys: list[ast.expr | None] = [ast.Constant(k.arg) for k in call.keywords]
    return ast.copy_location(ast.Dict(keys, [k.value for k in call.keywords]), call)


def _mean_of_baseline(node: ast.expr) -> ast.Name | None:
    """The `m` in ``(tf.maximum(m[0], 1 - m[0]), m[1])``."""
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
        return None
    value, update = node.elts
    mean = update.value if isinstance(update, ast.Subscript) else None
    if not isinstance(mean, ast.Name) or not isinstance(value, ast.Call) or value.keywords:
        return None
    name = value.func.attr if isinstance(value.func, ast.Attribute) else ""
    one = f"{mean.id}[0]"
    wanted = {f"1 - {one}", f"1.0 - {one}"}
    given = [ast.unparse(part) for part in value.args]
    same = name == "maximum" and len(given) == 2 and given[0] == one and given[1] in wanted
    return mean if same and ast.unparse(update) == f"{mean.id}[1]" else None
