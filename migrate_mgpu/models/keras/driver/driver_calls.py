"""What drives an Estimator, as code that drives a Keras model.

``write_driver(flow, model, graph)`` gives ``DriverEdits``: those of every module for the strategy,
the RunConfig, the construction and each train, evaluate and predict. All of it, or it
raises ``Refused``. The model_fn itself is not touched here.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import root, style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.findings import EVALUATION
from migrate_mgpu.models.front.estimators.finding import is_shown
from migrate_mgpu.models.front.estimators.parts import CUSTOM, INSIDE_STATEMENT, EstimatorFlow
from migrate_mgpu.models.front.estimators.settings import read_checkpoints
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.model_fn.reading import with_default
from migrate_mgpu.models.front.rewriters import DrivingRewriter, ModelRewriter
from migrate_mgpu.models.ir import EVALUATE, PREDICT, TRAIN, TRAIN_AND_EVALUATE, DriverCall
from migrate_mgpu.models.keras.canned.estimator import CannedPlan
from migrate_mgpu.models.keras.canned.making import make
from migrate_mgpu.models.keras.driver.checkpoints import write_checkpoints
from migrate_mgpu.models.keras.driver.datasets import Datasets, taken
from migrate_mgpu.models.keras.driver.driver_edits import (
    DriverEdits,
    mode_keys,
    text_of,
)
from migrate_mgpu.models.keras.driver.exports import Exports
from migrate_mgpu.models.keras.driver.fitting import Fitting, Training, operand
from migrate_mgpu.models.keras.driver.hooks import ADVICE, Callbacks, Hooks, forget_value
from migrate_mgpu.models.keras.driver.reads import substitute, written
from migrate_mgpu.models.keras.driver.results import (
    adapt_results,
    evaluated,
    returned,
    without_evaluation,
)
from migrate_mgpu.models.keras.driver.rows import (
    asks_for_none,
    is_closed,
    listed,
    rows_of,
    walked_once,
)
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.driver.stopping import model_stop, stopping
from migrate_mgpu.models.keras.inputs.inputs import Inputs
from migrate_mgpu.models.keras.model_to_estimator import KerasPlan, place
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.models.properties import strategies_of
from migrate_mgpu.source.source import BlockEdit, Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle


def write_driver(flow: EstimatorFlow, model: ModelPlan, graph: CallGraph) -> DriverEdits:
    """The driving code of an Estimator whose model_fn became ``model``.

    Raises:
        Refused: the first statement that stands in the way.
    """
    if flow.problems:
        raise Refused.because(flow.problems[0])
    return _Driver(flow, model, graph).run()


class _Driver:
    def __init__(self, flow: EstimatorFlow, model: ModelPlan, graph: CallGraph) -> None:
        self.flow = flow
        self.model = model
        self.graph = graph
        self.values = ValueFlow(graph)
        params = (flow.module, flow.params) if flow.params is not None else None
        self.inputs = Inputs(graph, params=params)
        self.lengths = Lengths(graph)
        self.changes = DriverEdits()
        self.setup = Setup(flow, self.changes, graph)
        self.hooks = Hooks(flow, graph, self.changes)
        self.callbacks: dict[DriverCall, Callbacks] = {}
        self.tested: dict[DriverCall, Callbacks] = {}  # of a train_and_evaluate's evaluation

    def run(self) -> DriverEdits:
        substitute(self.flow.config, self.values)
        self.checkpoints = read_checkpoints(self.flow, self.values)
        self.setup.run()
        self.strategy = self.setup.strategy
        self.quiet = not self._shows_progress()
        if isinstance(self.model, KerasPlan):
            style = style_at(self.flow.module, self.flow.call)
            place(self.flow, self.model, self.strategy, style, self.changes)
        elif isinstance(self.model, CannedPlan):
            make(self.flow, self.model, self.strategy, self.changes)
        else:
            self._construction()
        self.datasets = Datasets(self.flow, self.setup, self.inputs, self.changes)
        self.datasets.specs()
        self._texts()
        self.saved = write_checkpoints(
            self.flow, self.checkpoints, self.setup, self.model, self.datasets, self.changes
        )
        self.fitting = Fitting(self.flow, self.model, self.graph, self.datasets, self.changes)
        self.fitting.saved, self.fitting.quiet = self.saved, self.quiet
        self.exports = Exports(self.flow, self.model, self.graph, self.changes, self.quiet)
        for call in self.flow.driving.calls:
            if call.kind == TRAIN:
                self._train(call)
            elif call.kind == EVALUATE:
                self._evaluate(call)
            elif call.kind == PREDICT:
                self._predict(call)
            else:
                self._train_and_evaluate(call)
        self.exports.write(self.saved)
        self.exports.forget()
        self._forget_warm_start()
        self.inputs.unread(self.flow.module)
        self.hooks.classes.forget(self.flow.module)
        for module, edits in self.inputs.edits.items():
            for edit in edits:
                self.changes.edit(module, edit)
        for module in list(dict.fromkeys([*self.flow.modules, *self.changes.edits])):
            mode_keys(module, self.model, self.changes)
            written(module, self.changes)
        self.changes.gone |= self.inputs.gone
        self.changes.moved |= self.inputs.moved
        return self.changes

    def _shows_progress(self) -> bool:
        """Whether TF1 showed the loss: a hook that logs, or TensorFlow's log at INFO."""
        phases = {"evaluate": "test", "predict": "predict"}
        for call in self.flow.driving.calls:
            if call.kind == TRAIN_AND_EVALUATE:
                self.callbacks[call] = self.hooks.read(call, call.train_spec, "train")
                self.tested[call] = self.hooks.read(call, call.eval_spec, "test")
            else:
                self.callbacks[call] = self.hooks.read(call, None, phases.get(call.kind, "train"))
        self.hooks.check()
        shown = any(one.shown for one in (*self.callbacks.values(), *self.tested.values()))
        for module in self.flow.modules:
            for node in module.names.calls:
                if tensorflow_name(module, node.func) == "logging.set_verbosity":
                    level = tensorflow_name(module, node.args[0]) if node.args else ""
                    shown |= level in ("logging.INFO", "logging.DEBUG")
        return shown

    # -- the model ---------------------------------------------------------

    def _forget_warm_start(self) -> None:
        """The variable that only said which checkpoint the model starts from."""
        module, given = self.flow.module, self.flow.arguments.get("warm_start_from")
        made = module.names.only_value(given) if isinstance(given, ast.Name) else None
        if isinstance(given, ast.Name) and made is not None and self.checkpoints.start is not None:
            self.changes.gone |= {given, made} - {self.checkpoints.start.node}
            forget_value(self.changes, module, given)

    def _construction(self) -> None:
        """`with strategy.scope(): classifier = model_fn(params=params)`."""
        flow, module = self.flow, self.flow.module
        source, statement = module.source, flow.statement
        warm = self.checkpoints.start
        if warm is not None and not self.model.warm:
            raise Refused(
                warm.module, warm.node, "it starts from another model's checkpoint",
                "load the weights into the Keras model",
            )  # fmt: skip
        layout = Layout(source, statement)
        value = statement_value(statement)
        if value is not flow.call or not layout.owns_start:
            raise Refused(
                module, flow.call, "the Estimator is made in the middle of a statement",
                "assign it to a separate variable", INSIDE_STATEMENT,
            )  # fmt: skip
        assert flow.function is not None and isinstance(self.model.function, ast.FunctionDef)
        head = source.code(flow.arguments["model_fn"])
        if flow.bound and flow.spelled is not None:
            head = source.code(flow.spelled)
        elif not head.replace(".", "").replace("_", "").isalnum():
            head = flow.function.name
        given: dict[str, ast.expr] = dict(flow.bound)
        if flow.params is not None:
            given["params"] = flow.params
        optional = with_default(self.model.function)
        passed = [name for name in self.model.parameters if name in given or name not in optional]
        missing = [name for name in passed if name not in given]
        if missing:
            raise Refused(
                module, flow.call, f"the model_fn uses `{missing[0]}`, which nothing gives it",
                "give the Estimator params",
            )  # fmt: skip
        indent = layout.indent
        unit = source.indent_unit if self.strategy is not None else ""
        start, end = source.span(flow.call)
        before = source.text[layout.start : start]
        base = indent + unit
        pieces = [
            f"{name}={text_of(module, given[name], base=base + source.indent_unit)}"
            for name in passed
        ]
        text = before + FileStyle.of(source).call(head, pieces, base, len(base) + len(before))
        text += source.text[end : layout.end]
        kept = [c.text for c in comments(source.code(flow.call)) if c.text not in text]
        lead = "".join(f"{comment}{source.newline}{indent}" for comment in kept)
        header = ""
        if self.strategy is not None:
            header = f"with {self.strategy}.scope():{source.newline}{base}"
        edit = Edit(layout.start, layout.end, lead + header + text)
        if header and not lead:
            edit = BlockEdit(edit.start, edit.end, edit.new, header)
        self.changes.edit(module, edit)
        self.changes.replaced(flow.module, flow.call, ModelRewriter)

    # -- driving -----------------------------------------------------------

    def _alone(self, call: DriverCall) -> tuple[Layout, list[str]]:
        """The layout of a call that is a statement of its own, and what is written behind it.

        ``train`` gave the Estimator: a variable that only shows it shows the model.
        """
        module = call.module
        statement = module.names.statement(call.node)
        kept: list[str] = []
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        alone = isinstance(statement, ast.Expr) or isinstance(target, ast.Name)
        if isinstance(target, ast.Name):
            mentions = self.values.uses(module, call.node)
            if mentions and call.kind == TRAIN:
                kept = [f"{target.id} = {self.changes.receiver(call)}"]
            for mention in mentions:
                assert mention.node is not None
                parent = mention.module.names.parents[mention.node]
                shown = isinstance(parent, ast.Call) and is_shown(mention.module, parent)
                alone = alone and shown and bool(kept)
        if not alone or statement_value(statement) is not call.node:
            raise Refused(
                module, call.node, f"what `{call.kind}` returns is used",
                "call it in a separate statement",
            )  # fmt: skip
        return Layout(module.source, statement), kept

    def _column(self, module: Module, node: ast.AST) -> int:
        source = module.source
        return source.place(source.span(node)[0])[1] - 1

    def _call(self, call: DriverCall, method: str, arguments: list[str], tail: int = 0) -> str:
        module = call.module
        indent = module.source.indent_of(module.names.statement(call.node))
        head = f"{self.changes.receiver(call)}.{method}"
        column = self._column(module, call.node)
        return FileStyle.of(module.source).call(head, arguments, indent, column, tail)

    def _train(self, call: DriverCall) -> None:
        layout, kept = self._alone(call)
        node = call.arguments.get("input_fn")
        if node is None:
            raise Refused(call.module, call.node, "`train` without an input_fn")
        steps, total = call.arguments.get("steps"), call.arguments.get("max_steps")
        stop = stopping(self.values, self.flow, call)
        if stop is not None:
            steps, total = stop.amounts(self.values, call)
        training = Training(call, call.module, node, steps, total, self.callbacks[call])
        self.hooks.early.evaluate(call, [], self.model)
        if stop is not None and self.fitting.deeper(training):
            # Of a model that is there already, TF1 trained one more step.
            text = "a StopAtStepHook where the model may have its steps already"
            raise Refused(stop.module, stop.node, text, "give train() its max_steps")
        self._statement(call, layout, [*self.fitting.lines(training), *kept])

    def _statement(self, call: DriverCall, layout: Layout, lines: list[str]) -> None:
        """Lines in the place of a statement; its trailing comment stays."""
        newline = layout.source.newline
        kept = [c.text for c in comments(layout.source.code(layout.statement))]
        first, *rest = [*kept, *lines]
        text = newline.join([first, *(layout.indent + line if line else "" for line in rest)])
        self.changes.edit(call.module, Edit(layout.start, layout.end, text))
        self.changes.replaced(call.module, call.node, DrivingRewriter)

    def _evaluate(self, call: DriverCall) -> None:
        module, arguments = call.module, call.arguments
        if "checkpoint_path" in arguments:
            raise Refused(module, arguments["checkpoint_path"], "a checkpoint is evaluated")
        node = arguments.get("input_fn")
        if node is None:
            raise Refused(module, call.node, "`evaluate` without an input_fn")
        indent = module.source.indent_of(module.names.statement(call.node))
        pieces = [self.datasets.text(call, module, node, indent, 0, False)]
        steps = self._evaluated(call, module, arguments.get("steps"))
        if steps:
            pieces.append(f"steps={steps}")
        pieces += [*_callbacks_argument(self.callbacks[call]), "return_dict=True", *self._verbose]
        self._uneven(call)
        text = self._call(call, "evaluate", pieces)
        self._replace(call, adapt_results(self.values, call, self.model, self.changes, text))

    @property
    def _verbose(self) -> list[str]:
        return ["verbose=0"] if self.quiet else []

    def _predict(self, call: DriverCall) -> None:
        module, arguments = call.module, call.arguments
        for name, same in (("checkpoint_path", None), ("yield_single_examples", True)):
            given = arguments.get(name)
            said = isinstance(given, ast.Constant) and given.value is same
            if given is not None and not said:
                raise Refused(module, given, f"`{name}` of predict is not converted")
        node = arguments.get("input_fn")
        if node is None:
            raise Refused(module, call.node, "`predict` without an input_fn")
        self._taken_by_next(call)
        plain = self.model.predicts and self.strategy is None and "predict_keys" not in arguments
        if self.lengths.endless(module, node):
            if plain:
                self._replace(call, self._one_by_one(call, node))
                return
            raise Refused(
                module, node, "predict over an endless input: Keras would never return",
                "take() what is needed in the input function",
            )  # fmt: skip
        if plain and self.flow.kind == CUSTOM and self.lengths.padded(module, node):
            # Keras joins the batches' predictions, which may have several lengths.
            self._replace(call, self._one_by_one(call, node))
            return
        source, statement = module.source, module.names.statement(call.node)
        indent = source.indent_of(statement)
        pieces = [self.datasets.text(call, module, node, indent, 0, False), *self._verbose]
        if not self.model.predicts:
            if "predict_keys" in arguments:
                raise Refused(module, arguments["predict_keys"], "predictions without keys")
            text = self._call(call, "predict", pieces)
            if isinstance(self.model, KerasPlan):
                shown = FileStyle.of(source).string(str(self.model.model.output))
                text = listed(call, self.values, f"{{{shown}: row}} for row in {text}")
                self._replace(call, text)
                return
            if not walked_once(call, self.values):
                closed = is_closed(call, self.values)
                text = f"(row for row in {text})" if closed else f"iter({text})"
            self._replace(call, text)
            return
        if asks_for_none(call, self.flow, self.model):
            asked = source.code(arguments["predict_keys"])
            text = (
                f"TF1 raises a ValueError where these are asked for: no prediction's name is a "
                f"part of {asked}; here all of them are given"
            )
            self.changes.note(module, call.node, text)
        layout = Layout(source, statement)
        names = module.names
        assigned = isinstance(statement, ast.Assign) and statement.value is call.node
        if assigned and isinstance(statement.targets[0], ast.Name):  # type: ignore[attr-defined]
            name = statement.targets[0].id  # type: ignore[attr-defined]
            self._replace(call, self._call(call, "predict", pieces))
            rows = rows_of(call, self.flow, self.model, self.values, name)
            self.changes.edit(module, layout.insert_after([f"{name} = {rows}"]))
            return
        name = names.fresh(names.scope_at(statement), "predictions", "predicted", "outputs")
        head = f"{self.changes.receiver(call)}.predict"
        text = FileStyle.of(source).call(head, pieces, indent, len(indent) + len(name) + 3)
        self.changes.edit(module, layout.insert_before(_unindented(f"{name} = {text}", indent)))
        self._replace(call, rows_of(call, self.flow, self.model, self.values, name))

    def _taken_by_next(self, call: DriverCall) -> None:
        """`predictions.next()`, as Python 2 asks a generator for a row."""
        for mention in self.values.uses(call.module, call.node):
            assert mention.node is not None
            names, source = mention.module.names, mention.module.source
            method = names.parents[mention.node]
            asked = names.parents.get(method)
            if isinstance(method, ast.Attribute) and method.attr == "next":
                if isinstance(asked, ast.Call) and mention.node is not call.node:
                    start, end = source.span(asked)
                    text = f"next({source.code(mention.node)})"
                    self.changes.edit(mention.module, Edit(start, end, text))

    def _one_by_one(self, call: DriverCall, node: ast.expr) -> str:
        """The examples one by one, predicted when they are asked for, as in TF1."""
        names, indent = (
            call.module.names,
            call.module.source.indent_of(call.module.names.statement(call.node)),
        )
        scope = names.scope_at(call.node)
        batch = names.fresh(scope, "batch", "predicted_batch")
        rows = names.fresh(scope, "rows", "predicted_rows")
        row = names.fresh(scope, "row", "predicted_row")
        made = self.datasets.text(call, call.module, node, indent, 0, False)
        tf = root(call.module, call.node)
        features = f"{tf}.keras.utils.unpack_x_y_sample_weight({batch})[0]"
        parts = [
            f"dict(zip({rows}, {row}))",
            f"for {batch} in {made}",
            f"for {rows} in [{self.changes.receiver(call)}.predict_on_batch({features})]",
            f"for {row} in zip(*{rows}.values())",
        ]
        source = call.module.source
        inner = source.newline + indent + source.indent_unit
        return f"({inner}{inner.join(parts)}{source.newline}{indent})"

    def _replace(self, call: DriverCall, text: str) -> None:
        names, node = call.module.names, call.node
        method = names.parents[node]
        asked = names.parents.get(method)
        if isinstance(method, ast.Attribute) and method.attr == "next":
            if isinstance(asked, ast.Call) and asked.func is method and not asked.args:
                node, text = asked, f"next({text})"  # as Python 2 asked for a row
        self.changes.edit(call.module, Edit(*call.module.source.span(node), text))
        self.changes.replaced(call.module, call.node, DrivingRewriter)

    def _train_and_evaluate(self, call: DriverCall) -> None:
        module = call.module
        taken_by = returned(self.values, call)
        layout = Layout(module.source, module.names.statement(call.node))
        stop = model_stop(self.flow)
        if stop is not None:
            text = "a StopAtStepHook of the model_fn beside a TrainSpec"
            raise Refused(stop.module, stop.node, text, "give TrainSpec its max_steps")
        train, evaluate = call.train_spec, call.eval_spec
        assert train is not None and evaluate is not None
        total = train.arguments.get("max_steps")
        dataset = self.datasets.named[train.node]
        node, callbacks = train.arguments["input_fn"], self.callbacks[call]
        training = Training(call, train.module, node, None, total, callbacks, dataset)
        indent = layout.indent + self.fitting.deeper(training)
        inner = indent + module.source.indent_unit
        given = self.datasets.named[evaluate.node] or (
            self.datasets.text(call, module, evaluate.arguments["input_fn"], inner, 0, False)
            + taken(evaluate)
        )
        steps = self._evaluated(call, evaluate.module, evaluate.arguments.get("steps"))
        training.between = self.fitting.between(training, given, steps)
        dataset = self.datasets.named[evaluate.node]
        pieces = [dataset, *([f"steps={steps}"] if steps else [])]
        pieces += ["return_dict=True", "verbose=0"]
        self.hooks.early.evaluate(
            call, pieces if dataset and self.strategy is None else [], self.model
        )
        if training.between is not None and callbacks.counts:
            text = "an early stopping by steps, and evaluations while training"
            raise Refused(module, train.arguments["hooks"], text, ADVICE)
        if training.between is not None and self.tested[call].argument():
            text = "the hooks of evaluations while training"
            raise Refused(module, evaluate.arguments["hooks"], text, ADVICE)
        if taken_by is not None and (training.between is not None or call.exporters):
            text = "what `train_and_evaluate` returns is used, "
            text += "of evaluations while training" if training.between else "with its exports"
            raise Refused(module, call.node, text, "evaluate after training, in its own statement")
        lines = self.fitting.lines(training)
        if taken_by is not None and self.fitting.deeper(training):
            lines.insert(0, without_evaluation(taken_by))
        self._uneven(call)
        if training.between is None:
            pieces = [
                given,
                *([f"steps={steps}"] if steps else []),
                *_callbacks_argument(self.tested[call]),
            ]
            pieces += ["return_dict=True", *self._verbose]
            head = f"{self.changes.receiver(call)}.evaluate"
            begin = "" if taken_by is None else f"{taken_by.pair or taken_by.results} = "
            column = len(indent) + len(begin)
            text = FileStyle.of(module.source).call(head, pieces, indent, column)
            results = [text]
            if taken_by is not None:
                results = evaluated(call, taken_by, text, indent, self.changes, self.model)
            lines += [self.fitting.deeper(training) + line for line in results]
            throttle = evaluate.arguments.get("throttle_secs")
            seconds = text_of(evaluate.module, throttle) if throttle is not None else "600"
            self.changes.note(
                module, call.node, "the model is evaluated once, after training; TF1 evaluated "
                f"after checkpoints too, at least throttle_secs ({seconds}) apart", EVALUATION,
            )  # fmt: skip
        deeper = self.fitting.deeper(training)
        behind = self.exports.behind(call, self.saved, indent)
        lines += [deeper + line if line else line for line in behind]
        self._statement(call, layout, lines)
        if taken(evaluate):
            text = "EvalSpec evaluates 100 batches by default: take(100) says so now"
            self.changes.note(evaluate.module, evaluate.node, text, EVALUATION)

    def _uneven(self, call: DriverCall) -> None:
        """Measured on 2.21: only the first batch matters, and only in an evaluation."""
        strategies = strategies_of(self.flow.distribution.training)
        if any(strategy.kind != "one_device" for strategy in strategies):
            self.changes.note(
                call.module, call.node, "Keras 3 stops with an error where the first batch of an "
                "evaluation cannot be divided evenly among the replicas: let its size be a "
                "multiple of their number (Keras 2 takes any)",
            )  # fmt: skip

    def _texts(self) -> None:
        """Measured on 2.21: before it builds a model, Keras takes the mean of what replicas get.

        What a model uses is no text (its columns and calls were asked); what it leaves unused
        may be one.
        """
        if isinstance(self.model, KerasPlan):
            return  # it is given its inputs alone
        strategies = strategies_of(self.flow.distribution.training)
        if any(strategy.kind != "one_device" for strategy in strategies):
            self.changes.note(
                self.flow.module, self.flow.call, "Keras 3 stops with an error where the input "
                "functions give several replicas a text that the model does not use: leave it "
                "out of the features (Keras 2 takes any)",
            )  # fmt: skip

    def _evaluated(self, call: DriverCall, module: Module, steps: ast.expr | None) -> str:
        """How many batches an evaluation takes: under eval_distribute each replica has its own."""
        if steps is None:
            return ""
        if not self.flow.distribution.evaluation or self.strategy is None:
            return self.fitting.optional(call.module, module, steps)
        text = self.fitting.whole(call.module, module, steps)
        replicas = f"{self.datasets.strategy_at(call, call.module, call.node)}.num_replicas_in_sync"
        fraction = self.fitting.counts.may_be_fraction(module, steps)
        return f"{text if fraction else operand(steps, text)} * {replicas}"


def _callbacks_argument(callbacks: Callbacks) -> list[str]:
    """The argument for callbacks, if there are any."""
    text = callbacks.argument()
    return [f"callbacks={text}"] if text else []


def _unindented(text: str, indent: str) -> list[str]:
    """Lines for an insertion, which puts the indentation before each of them itself."""
    return [line.removeprefix(indent) for line in text.split("\n")]
