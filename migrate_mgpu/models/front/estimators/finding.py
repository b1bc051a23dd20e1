"""The Estimators of a run: how each is made, configured, distributed, fed and driven.

``find_estimators(project, graph)`` gives one ``EstimatorFlow`` for each Estimator that is
made. What is not understood stands in its ``problems``: a flow with one is not converted.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import showing
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.project import Project
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.hooks import EARLY_STOPPING, NOT_BETTER
from migrate_mgpu.models.front.estimators.alternatives import find_alternatives
from migrate_mgpu.models.front.estimators.folders import shared_folders
from migrate_mgpu.models.front.estimators.parts import (
    ADDED_METRICS,
    CANNED,
    CONTRIB_CANNED,
    CONTRIB_LEARN,
    CUSTOM,
    KERAS,
    EstimatorFlow,
    RunConfig,
    constructed,
)
from migrate_mgpu.models.front.estimators.receivers import share_receivers
from migrate_mgpu.models.front.estimators.run_config_functions import helper_settings
from migrate_mgpu.models.front.estimators.settings import configures
from migrate_mgpu.models.front.estimators.signatures import (
    CANNED_KINDS,
    EXPORTS,
    METHODS,
    SIGNATURES,
    adds_metrics,
)
from migrate_mgpu.models.front.estimators.specs import find_exporters, find_spec
from migrate_mgpu.models.front.strategies import read_choice
from migrate_mgpu.models.ir import EXPORT, TRAIN_AND_EVALUATE, DriverCall, Driving, Query


def find_estimators(project: Project, graph: CallGraph) -> list[EstimatorFlow]:
    """Every Estimator that the run makes, in source order."""
    finder = _Finder(graph)
    found: list[EstimatorFlow] = []
    for module in project.modules.values():
        if "stimator" not in module.source.text and "learn." not in module.source.text:
            continue
        for call in module.names.calls:
            flow = finder.flow(module, call)
            if flow is not None:
                found.append(flow)
    find_alternatives(found)
    shared_folders(found, graph)
    share_receivers(found, graph)
    return found


class _Finder:
    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.values = ValueFlow(graph)

    def flow(self, module: Module, call: ast.Call) -> EstimatorFlow | None:
        """The flow of an Estimator that a call makes; None for any other call."""
        name = tensorflow_name(module, call.func)
        head, _, last = name.rpartition(".")
        if name == "keras.estimator.model_to_estimator" or last == "model_to_estimator":
            flow = EstimatorFlow(module, call, KERAS, last)
        elif not head.startswith(
            ("estimator", "contrib.learn", "contrib.tpu", "contrib.estimator")
        ):
            return None
        elif last == "Estimator" or last == "TPUEstimator":
            flow = EstimatorFlow(module, call, CUSTOM, last)
        elif last.endswith(("Classifier", "Regressor", "Estimator")):
            flow = EstimatorFlow(module, call, CANNED, last)
        else:
            return None
        known = head == "estimator" and (last == "Estimator" or last in CANNED_KINDS)
        if not known and name != "keras.estimator.model_to_estimator":
            shown = f"tf.{name}"
            advice = {
                KERAS: "train the Keras model itself under the strategy's scope",
                CANNED: "write its network as a Keras model",
            }.get(flow.kind, "make it a tf.estimator.Estimator first")
            key = CONTRIB_LEARN if name == "contrib.learn.Estimator" else ""
            if head == "contrib.learn" and last in CANNED_KINDS:
                key = CONTRIB_CANNED
            flow.problem(module, call, f"`{shown}` is not converted", advice, key)
            return flow
        try:
            flow.arguments = arguments_of(module, call, SIGNATURES[last])
            if flow.kind == CUSTOM:
                self._model_fn(flow)
            taker = module.names.taker(call)
            if flow.kind == CANNED and taker is not None and adds_metrics(module, taker):
                flow.added = taker
            self._config(flow)
            self._driving(flow)
        except Refused as refused:
            flow.problems.append(refused.diagnostic)
        return flow

    # -- the model ---------------------------------------------------------

    def _model_fn(self, flow: EstimatorFlow) -> None:
        node = flow.arguments.get("model_fn")
        if node is None:
            raise Refused(flow.module, flow.call, "this Estimator has no model_fn")
        origins = self.values.definitions(flow.module, node)
        if len(origins) != 1 or origins[0].node is None:
            raise Refused(flow.module, node, "which model_fn it gets is decided elsewhere")
        module, origin = origins[0].module, origins[0].node
        if isinstance(origin, ast.Call) and module.names.qualname(origin.func) == (
            "functools.partial"
        ):
            if len(origin.args) != 1 or any(k.arg is None for k in origin.keywords):
                raise Refused(module, origin, "a partial model_fn with arguments by position")
            flow.bound = {k.arg: k.value for k in origin.keywords if k.arg}
            origin = origin.args[0]
        if isinstance(origin, ast.Lambda):
            origin = self._lambda(flow, module, origin)
        if flow.bound and isinstance(node, ast.Name):
            text = "the arguments of its model_fn are stored in a variable"
            raise Refused(flow.module, node, text, "give them where the Estimator is made")
        if flow.bound and module is not flow.module:
            text = "its model_fn is given arguments in another file"
            raise Refused(module, origin, text, "give them where the Estimator is made")
        flow.spelled = origin
        function = self.graph.target(module, origin)
        if function is None or not isinstance(function.node, ast.FunctionDef):
            raise Refused(
                flow.module,
                node,
                "its model_fn is not a function that the run defines",
                "give the Estimator a function by its name",
            )
        self._visible(flow, node, function)
        flow.function = function

    def _visible(self, flow: EstimatorFlow, node: ast.expr, function: Function) -> None:
        """A function inside of another one is made by a call that the migrated code cannot make."""
        home = self.graph.enclosing(function.module, function.node)
        if home is not None and home.node not in flow.module.names.ancestors(flow.call):
            text = f"its model_fn is made by {home.name}, which does more than return it"
            advice = "give the Estimator a function of the module, by functools.partial"
            raise Refused(flow.module, node, text, advice)

    def _lambda(self, flow: EstimatorFlow, module: Module, node: ast.Lambda) -> ast.expr:
        """The function in `lambda features, labels, mode: f(features, labels, mode, rate=0.1)`."""
        call, given = node.body, node.args
        own = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
        function = self.graph.target(module, call.func) if isinstance(call, ast.Call) else None
        if function is None or given.vararg or given.kwarg or given.defaults:
            raise Refused(module, node, "its model_fn is a lambda that cannot be analyzed")
        assert isinstance(call, ast.Call)
        positions = function.parameters()
        if len(call.args) > len(positions) or any(isinstance(a, ast.Starred) for a in call.args):
            raise Refused(
                module, call, "which argument of the model_fn this is cannot be determined"
            )
        for name, value in by_parameter(call, positions).items():
            if name == "**":
                raise Refused(module, value, "the model_fn gets its arguments from `**`")
            if isinstance(value, ast.Name) and value.id in own:
                if value.id != name:
                    text = f"the model_fn gets the Estimator's {value.id} as `{name}`"
                    raise Refused(module, value, text, "call the parameter by its own name")
                continue
            if any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(value)):
                raise Refused(module, value, "the lambda changes what the Estimator gives")
            flow.bound[name] = value
        flow.wrapped = call
        return call.func

    # -- the configuration -------------------------------------------------

    def _config(self, flow: EstimatorFlow) -> None:
        node = flow.arguments.get("config")
        if node is None:
            return
        for value in self.values.definitions(flow.module, node):
            self._configured(flow, value)
        for one in flow.config.all:
            for name, choices in (
                ("train_distribute", flow.distribution.training),
                ("eval_distribute", flow.distribution.evaluation),
            ):
                if name in one.arguments:
                    choices.append(read_choice(self.values, one.module, one.arguments[name]))
        for one in flow.config.all:
            self._only_configures(flow, one)

    def _configured(self, flow: EstimatorFlow, value: Value) -> None:
        module, node, config = value.module, value.node, flow.config
        if value.is_none:
            return
        assert node is not None
        if isinstance(node, ast.Call):
            found = constructed(module, node, "RunConfig")
            if found is not None:
                if "learn" in tensorflow_name(module, node.func) and not _is_plain(node):
                    raise Refused(
                        module, node, "tf.contrib.learn has its own RunConfig",
                        "use tf.estimator.RunConfig",
                    )  # fmt: skip
                config.made.append(helper_settings(found, self.values))
                return
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr == "replace":
                if node.args or any(k.arg is None for k in node.keywords):
                    raise Refused(module, node, "`replace` gets something that is not a keyword")
                arguments = {k.arg: k.value for k in node.keywords if k.arg}
                folder = arguments.get("model_dir")
                if is_none(folder):
                    del arguments["model_dir"]  # as if none were given
                if not any(one.node is node for one in config.replaced):
                    config.replaced.append(RunConfig("replace", module, node, arguments))
                    for inner in self.values.definitions(module, function.value):
                        if inner.node is not node:
                            self._configured(flow, inner)
                if folder is not None and is_none(folder) and config.values("model_dir"):
                    raise Refused(module, folder, "`replace` takes the model_dir away again")
                return
        raise Refused(
            module, node, "how the Estimator is configured here cannot be analyzed",
            "make its config by tf.estimator.RunConfig(...), in a function that the program calls",
        )  # fmt: skip

    def _only_configures(self, flow: EstimatorFlow, one: RunConfig) -> None:
        """A RunConfig goes away: nothing may use it but Estimators."""
        for mention in self.values.uses(one.module, one.node):
            module, node, config = mention.module, mention.node, flow.config
            assert node is not None
            parent = module.names.parents[node]
            if isinstance(parent, ast.Attribute):
                if any(other.node.func is parent for other in config.replaced):
                    continue
                config.reads.append(Query(module, parent, parent.attr))
                continue
            if configures(module, node):
                continue
            made_here = {other.node for other in config.all}
            shown = {origin.node for origin in self.values.definitions(module, node)}
            if showing(module, node) is not None and shown <= made_here:
                config.printed.append(mention)
                continue
            if isinstance(parent, ast.Expr):
                continue
            raise Refused(module, node, "the RunConfig is used for more than an Estimator here")

    # -- what is done with it ----------------------------------------------

    def _driving(self, flow: EstimatorFlow) -> None:
        for mention in self.values.uses(flow.module, flow.made):
            module, node = mention.module, mention.node
            assert node is not None
            self._mentioned(flow, module, node)
            for origin in self.values.definitions(module, node):
                if origin.node is not flow.made and not origin.is_none:
                    flow.doubts.append((module, node, origin.node))

    def _mentioned(self, flow: EstimatorFlow, module: Module, node: ast.expr) -> None:
        parent, driving = module.names.parents[node], flow.driving
        if isinstance(parent, ast.Expr) or showing(module, node) is not None:
            return
        if isinstance(parent, ast.Attribute):
            self._asked(driving, module, parent)
            return
        call = module.names.taker(node)
        if call is None:
            raise Refused(
                module, node, "how the Estimator is used here cannot be analyzed",
                "call train, evaluate, predict or train_and_evaluate of a variable that holds it",
            )  # fmt: skip
        name = tensorflow_name(module, call.func)
        if name == "estimator.train_and_evaluate":
            driving.calls.append(self._train_and_evaluate(module, call, node))
        elif not (is_shown(module, call) or name in (*EARLY_STOPPING, *NOT_BETTER)):
            shown = module.source.code(call.func)
            advice = _INSTEAD.get(name.rpartition(".")[2], _OTHERWISE)
            key = ADDED_METRICS if flow.kind == CANNED and adds_metrics(module, call) else ""
            raise Refused(module, node, f"the Estimator is passed to `{shown}(...)`", advice, key)

    def _asked(self, driving: Driving, module: Module, attribute: ast.Attribute) -> None:
        name, call = attribute.attr, module.names.parents[attribute]
        if name == "model_dir" and isinstance(attribute.ctx, ast.Load):
            driving.queries.append(Query(module, attribute, name))
            return
        if isinstance(call, ast.Call) and call.func is attribute:
            if name in ("latest_checkpoint", "eval_dir"):
                driving.queries.append(Query(module, call, name))
                return
            if name == "get_variable_value" and _is_step(module, call):
                driving.queries.append(Query(module, call, "global_step"))
                return
            if name in METHODS or name in EXPORTS:
                exports = name in EXPORTS
                arguments = arguments_of(module, call, (EXPORTS if exports else METHODS)[name])
                kind = EXPORT if exports else name
                one = DriverCall(kind, module, call, arguments, attribute.value)
                (driving.exports if exports else driving.calls).append(one)
                return
        raise Refused(
            module, attribute, f"`{name}` of an Estimator has no known form in Keras",
            "do it with the Keras model after the migration",
        )  # fmt: skip

    def _train_and_evaluate(self, module: Module, call: ast.Call, node: ast.expr) -> DriverCall:
        arguments = arguments_of(module, call, SIGNATURES[TRAIN_AND_EVALUATE])
        given = arguments.get("train_spec"), arguments.get("eval_spec")
        train = find_spec(self.values, module, call, given[0], "TrainSpec")
        evaluate = find_spec(self.values, module, call, given[1], "EvalSpec")
        exporters = tuple(find_exporters(self.values, evaluate))
        return DriverCall(
            TRAIN_AND_EVALUATE, module, call, arguments, node, train, evaluate, exporters
        )


# What does in TF2 what a function does with an Estimator.
_OTHERWISE = "give it the Keras model by hand, or what it needs of an export, after the migration"
_EARLY = "use tf.keras.callbacks.EarlyStopping, and let fit evaluate by validation_data"
_INSTEAD = {
    "stop_if_no_increase_hook": _EARLY,
    "stop_if_no_decrease_hook": _EARLY,
    "stop_if_higher_hook": _EARLY,
    "stop_if_lower_hook": _EARLY,
    "add_metrics": "write the metrics into the model_fn's eval_metric_ops",
    "from_estimator": "export a SavedModel, which is converted, and load that",
    "Experiment": "call tf.estimator.train_and_evaluate",
}

# What tf.contrib.learn's RunConfig calls as tf.estimator's does, with the same defaults.
_SHARED = {
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_secs",
    "save_checkpoints_steps", "keep_checkpoint_max", "keep_checkpoint_every_n_hours",
    "log_step_count_steps", "session_config",
}  # fmt: skip


def _is_plain(call: ast.Call) -> bool:
    """Whether a RunConfig of tf.contrib.learn's says nothing that tf.estimator's does not."""
    return not call.args and all(keyword.arg in _SHARED for keyword in call.keywords)


def is_shown(module: Module, call: ast.Call) -> bool:
    """`print(type(estimator))`: it says what the program has, whatever that is."""
    names = module.names
    around = [p for p in (call, *names.ancestors(call)) if isinstance(p, ast.Call)]
    prints = [(names.qualname(p.func) or "") for p in around]
    known = any(
        name == "builtins.print" or name.startswith("logging.") or ".logging." in name
        for name in prints
    )
    return known and prints[0] in ("builtins.type", "builtins.print", "builtins.str")


def _is_step(module: Module, call: ast.Call) -> bool:
    """`get_variable_value('global_step')`."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if len(given) != 1:
        return False
    named = tensorflow_name(module, given[0]) == "GraphKeys.GLOBAL_STEP"
    return named or constant(given[0]) == "global_step"


__all__ = [
    "CANNED",
    "CUSTOM",
    "KERAS",
    "EstimatorFlow",
    "find_estimators",
    "is_shown",
]
