"""What drives an Estimator, as code that drives a Keras model.

``drive(flow, model, graph)`` gives a ``Drive``: the edits of every module for the strategy,
the RunConfig, the construction and each train, evaluate and predict. All of it, or it
raises ``Refused``. The model_fn itself is not touched here.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.models.front.estimators.finding import is_shown
from migrate_mgpu.models.front.estimators.parts import INSIDE_STATEMENT, EstimatorFlow, Use
from migrate_mgpu.models.front.inputs.lengths import Lengths
from migrate_mgpu.models.front.keras_model.model import KerasPlan
from migrate_mgpu.models.front.model_fn.reading import with_default
from migrate_mgpu.models.front.rewriters import DrivingRewriter, ModelRewriter
from migrate_mgpu.models.keras.canned.estimator import CannedPlan
from migrate_mgpu.models.keras.canned.making import make
from migrate_mgpu.models.keras.driver import checkpoints
from migrate_mgpu.models.keras.driver.datasets import Datasets, taken
from migrate_mgpu.models.keras.driver.drive import Drive, check_named, mode_keys, text_of
from migrate_mgpu.models.keras.driver.exports import Exports
from migrate_mgpu.models.keras.driver.fitting import Fitting, Training, operand
from migrate_mgpu.models.keras.driver.hooks import ADVICE, Callbacks, Hooks
from migrate_mgpu.models.keras.driver.reads import substitute, written
from migrate_mgpu.models.keras.driver.results import adapt_results
from migrate_mgpu.models.keras.driver.rows import rows_of, walked_once
from migrate_mgpu.models.keras.driver.setup import Setup
from migrate_mgpu.models.keras.driver.stopping import model_stop, stopping
from migrate_mgpu.models.keras.inputs.inputs import Inputs
from migrate_mgpu.models.keras.model_to_estimator import place
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments
from migrate_mgpu.source.style import FileStyle


def drive(flow: EstimatorFlow, model: ModelPlan, graph: CallGraph) -> Drive:
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
        self.drive = Drive()
        self.setup = Setup(flow, self.drive, graph)
        self.hooks = Hooks(flow, graph, self.drive)
        self.callbacks: dict[Use, Callbacks] = {}
        self.tested: dict[Use, Callbacks] = {}  # of a train_and_evaluate's evaluation

    def run(self) -> Drive:
        if self.flow.config is not None:
            substitute(self.flow.config, self.values)
        self.setup.run()
        self.strategy = self.setup.strategy
        self.quiet = not self._shows_progress()
        if isinstance(self.model, KerasPlan):
            style = style_at(self.flow.module, self.flow.call)
            place(self.flow, self.model, self.strategy, style, self.drive)
        elif isinstance(self.model, CannedPlan):
            make(self.flow, self.model, self.strategy, self.drive)
        else:
            self._construction()
        self.saved = checkpoints.plan(self.flow, self.setup, self.model, self.inputs, self.drive)
        self.datasets = Datasets(self.flow, self.setup, self.inputs, self.drive)
        self.datasets.specs()
        self.fitting = Fitting(self.flow, self.model, self.graph, self.datasets, self.drive)
        self.fitting.saved, self.fitting.quiet = self.saved, self.quiet
        self.exports = Exports(self.flow, self.model, self.graph, self.drive, self.quiet)
        for use in self.flow.uses:
            if use.kind == "train":
                self._train(use)
            elif use.kind == "evaluate":
                self._evaluate(use)
            elif use.kind == "predict":
                self._predict(use)
            else:
                self._train_and_evaluate(use)
        self.exports.write(self.saved)
        self.exports.forget()
        for module, edits in self.inputs.edits.items():
            for edit in edits:
                self.drive.edit(module, edit)
        for module in list(dict.fromkeys([*self.flow.modules, *self.drive.edits])):
            mode_keys(module, self.model, self.drive)
            written(module, self.drive)
        for written_edits in (self.model.edits, self.drive.edits):
            check_named(written_edits, (self.flow.module, self.flow.call))
        self.drive.gone |= self.inputs.gone
        self.drive.moved |= self.inputs.moved
        return self.drive

    def _shows_progress(self) -> bool:
        """Whether TF1 showed the loss: a hook that logs, or TensorFlow's log at INFO."""
        phases = {"evaluate": "test", "predict": "predict"}
        for use in self.flow.uses:
            if use.kind == "train_and_evaluate":
                self.callbacks[use] = self.hooks.read(use, use.train_spec, "train")
                self.tested[use] = self.hooks.read(use, use.eval_spec, "test")
            else:
                self.callbacks[use] = self.hooks.read(use, None, phases.get(use.kind, "train"))
        self.hooks.check()
        shown = any(one.shown for one in (*self.callbacks.values(), *self.tested.values()))
        for module in self.flow.modules:
            for call in module.names.calls:
                if tensorflow_name(module, call.func) == "logging.set_verbosity":
                    level = tensorflow_name(module, call.args[0]) if call.args else ""
                    shown |= level in ("logging.INFO", "logging.DEBUG")
        return shown

    # -- the model ---------------------------------------------------------

    def _construction(self) -> None:
        """`with strategy.scope(): classifier = model_fn(params=params)`."""
        flow, module = self.flow, self.flow.module
        source, statement = module.source, flow.statement
        warm = flow.arguments.get("warm_start_from")
        if warm is not None:
            raise Refused(
                module, warm, "it starts from another model's checkpoint",
                "load the weights into the Keras model",
            )  # fmt: skip
        layout = Layout(source, statement)
        value = getattr(statement, "value", None)
        if value is not flow.call or not layout.owns_start:
            raise Refused(
                module, flow.call, "the Estimator is made in the middle of a statement",
                "give it a variable of its own", INSIDE_STATEMENT,
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
        if self.strategy is not None:
            lead += f"with {self.strategy}.scope():{source.newline}{base}"
        self.drive.edit(module, Edit(layout.start, layout.end, lead + text))
        self.drive.replaced(flow.module, flow.call, ModelRewriter)

    # -- driving -----------------------------------------------------------

    def _alone(self, use: Use) -> tuple[Layout, list[str]]:
        """The layout of a call that is a statement of its own, and what is written behind it.

        ``train`` gave the Estimator: a variable that only shows it shows the model.
        """
        module = use.module
        statement = module.names.statement(use.call)
        kept: list[str] = []
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        alone = isinstance(statement, ast.Expr) or isinstance(target, ast.Name)
        if isinstance(target, ast.Name):
            mentions = self.values.uses(module, use.call)
            if mentions and use.kind == "train":
                kept = [f"{target.id} = {use.shown}"]
            for mention in mentions:
                assert mention.node is not None
                parent = mention.module.names.parents[mention.node]
                shown = isinstance(parent, ast.Call) and is_shown(mention.module, parent)
                alone = alone and shown and bool(kept)
        if not alone or getattr(statement, "value", None) is not use.call:
            raise Refused(
                module, use.call, f"what `{use.kind}` returns is used",
                "call it in a statement of its own",
            )  # fmt: skip
        return Layout(module.source, statement), kept

    def _column(self, module: Module, node: ast.AST) -> int:
        source = module.source
        return source.place(source.span(node)[0])[1] - 1

    def _call(self, use: Use, method: str, arguments: list[str], tail: int = 0) -> str:
        module = use.module
        indent = module.source.indent_of(module.names.statement(use.call))
        head = f"{use.shown}.{method}"
        column = self._column(module, use.call)
        return FileStyle.of(module.source).call(head, arguments, indent, column, tail)

    def _train(self, use: Use) -> None:
        layout, kept = self._alone(use)
        node = use.arguments.get("input_fn")
        if node is None:
            raise Refused(use.module, use.call, "`train` without an input_fn")
        steps, total = use.arguments.get("steps"), use.arguments.get("max_steps")
        stop = stopping(self.values, self.flow, use)
        if stop is not None:
            steps, total = stop.amounts(self.values, use)
        training = Training(use, use.module, node, steps, total, self.callbacks[use])
        if stop is not None and self.fitting.deeper(training):
            # Of a model that is there already, TF1 trained one more step.
            text = "a StopAtStepHook where the model may have its steps already"
            raise Refused(stop.module, stop.node, text, "give train() its max_steps")
        self._statement(use, layout, [*self.fitting.lines(training), *kept])

    def _statement(self, use: Use, layout: Layout, lines: list[str]) -> None:
        """Lines in the place of a statement; its trailing comment stays."""
        newline = layout.source.newline
        kept = [c.text for c in comments(layout.source.code(layout.statement))]
        text = f"{newline}{layout.indent}".join([*kept, *lines])
        self.drive.edit(use.module, Edit(layout.start, layout.end, text))
        self.drive.replaced(use.module, use.call, DrivingRewriter)

    def _evaluate(self, use: Use) -> None:
        module, arguments = use.module, use.arguments
        if "checkpoint_path" in arguments:
            raise Refused(module, arguments["checkpoint_path"], "a checkpoint is evaluated")
        node = arguments.get("input_fn")
        if node is None:
            raise Refused(module, use.call, "`evaluate` without an input_fn")
        indent = module.source.indent_of(module.names.statement(use.call))
        pieces = [self.datasets.text(use, module, node, indent, 0, False)]
        steps = self._evaluated(use, module, arguments.get("steps"))
        if steps:
            pieces.append(f"steps={steps}")
        pieces += [*_given(self.callbacks[use]), "return_dict=True", *self._verbose]
        self._uneven(use)
        text = self._call(use, "evaluate", pieces)
        self._replace(use, adapt_results(self.values, use, self.model, self.drive, text))

    @property
    def _verbose(self) -> list[str]:
        return ["verbose=0"] if self.quiet else []

    def _predict(self, use: Use) -> None:
        module, arguments = use.module, use.arguments
        for name in ("checkpoint_path", "yield_single_examples"):
            if name in arguments:
                raise Refused(module, arguments[name], f"`{name}` of predict is not converted")
        node = arguments.get("input_fn")
        if node is None:
            raise Refused(module, use.call, "`predict` without an input_fn")
        if self.lengths.endless(module, node):
            raise Refused(
                module, node, "predict over an endless input: Keras would never return",
                "take() what is needed in the input function",
            )  # fmt: skip
        source, statement = module.source, module.names.statement(use.call)
        indent = source.indent_of(statement)
        pieces = [self.datasets.text(use, module, node, indent, 0, False), *self._verbose]
        if not self.model.predicts:
            if "predict_keys" in arguments:
                raise Refused(module, arguments["predict_keys"], "predictions without keys")
            text = self._call(use, "predict", pieces)
            self._replace(use, text if walked_once(use, self.values) else f"iter({text})")
            return
        layout = Layout(source, statement)
        names = module.names
        assigned = isinstance(statement, ast.Assign) and statement.value is use.call
        if assigned and isinstance(statement.targets[0], ast.Name):  # type: ignore[attr-defined]
            name = statement.targets[0].id  # type: ignore[attr-defined]
            self._replace(use, self._call(use, "predict", pieces))
            rows = rows_of(use, self.flow, self.values, name)
            self.drive.edit(module, layout.insert_after([f"{name} = {rows}"]))
            return
        name = names.fresh(names.scope_at(statement), "predictions", "predicted", "outputs")
        head = f"{use.shown}.predict"
        text = FileStyle.of(source).call(head, pieces, indent, len(indent) + len(name) + 3)
        self.drive.edit(module, layout.insert_before(_unindented(f"{name} = {text}", indent)))
        self._replace(use, rows_of(use, self.flow, self.values, name))

    def _replace(self, use: Use, text: str) -> None:
        start, end = use.module.source.span(use.call)
        self.drive.edit(use.module, Edit(start, end, text))
        self.drive.replaced(use.module, use.call, DrivingRewriter)

    def _train_and_evaluate(self, use: Use) -> None:
        module = use.module
        layout, _ = self._alone(use)
        stop = model_stop(self.flow)
        if stop is not None:
            text = "a StopAtStepHook of the model_fn beside a TrainSpec"
            raise Refused(stop.module, stop.node, text, "give TrainSpec its max_steps")
        train, evaluate = use.train_spec, use.eval_spec
        assert train is not None and evaluate is not None
        total = train.arguments.get("max_steps")
        dataset = self.datasets.named[train.call]
        node, callbacks = train.arguments["input_fn"], self.callbacks[use]
        training = Training(use, train.module, node, None, total, callbacks, dataset)
        indent = layout.indent + self.fitting.deeper(training)
        inner = indent + module.source.indent_unit
        given = self.datasets.named[evaluate.call] or (
            self.datasets.text(use, module, evaluate.arguments["input_fn"], inner, 0, False)
            + taken(evaluate)
        )
        steps = self._evaluated(use, evaluate.module, evaluate.arguments.get("steps"))
        training.between = self.fitting.between(training, given, steps)
        if training.between is not None and callbacks.counts:
            text = "an early stopping by steps, and evaluations while training"
            raise Refused(module, train.arguments["hooks"], text, ADVICE)
        if training.between is not None and self.tested[use].argument():
            text = "the hooks of evaluations while training"
            raise Refused(module, evaluate.arguments["hooks"], text, ADVICE)
        lines = self.fitting.lines(training)
        self._uneven(use)
        if training.between is None:
            pieces = [given, *([f"steps={steps}"] if steps else []), *_given(self.tested[use])]
            pieces += ["return_dict=True", *self._verbose]
            head = f"{use.shown}.evaluate"
            text = FileStyle.of(module.source).call(head, pieces, indent, len(indent))
            lines.append(self.fitting.deeper(training) + text)
            self.drive.note(
                module, use.call, "the model is evaluated once, after training; TF1 evaluated "
                "after checkpoints too, throttle_secs (600) apart",
            )  # fmt: skip
        deeper = self.fitting.deeper(training)
        lines += [deeper + line for line in self.exports.behind(use, self.saved, indent)]
        self._statement(use, layout, lines)
        if taken(evaluate):
            text = "EvalSpec evaluates 100 batches unless it says otherwise: take(100) says so now"
            self.drive.note(evaluate.module, evaluate.call, text)

    def _uneven(self, use: Use) -> None:
        """Measured on 2.21: only the first batch matters, and only in an evaluation."""
        config = self.flow.config
        made = [one.kind for strategy in config.train for one in strategy.made] if config else []
        if set(made) - {"OneDeviceStrategy"}:
            self.drive.note(
                use.module, use.call, "Keras 3 stops with an error where the first batch of an "
                "evaluation cannot be divided evenly among the replicas: let its size be a "
                "multiple of their number (Keras 2 takes any)",
            )  # fmt: skip

    def _evaluated(self, use: Use, module: Module, steps: ast.expr | None) -> str:
        """How many batches an evaluation takes: under eval_distribute each replica has its own."""
        if steps is None:
            return ""
        text = text_of(module, steps)
        config = self.flow.config
        if config is None or not config.eval or self.strategy is None:
            return text
        replicas = f"{self.datasets.strategy_at(use, use.module, use.call)}.num_replicas_in_sync"
        return f"{operand(steps, text)} * {replicas}"


def _given(callbacks: Callbacks) -> list[str]:
    """The argument for callbacks, if there are any."""
    text = callbacks.argument()
    return [f"callbacks={text}"] if text else []


def _unindented(text: str, indent: str) -> list[str]:
    """Lines for an insertion, which puts the indentation before each of them itself."""
    return [line.removeprefix(indent) for line in text.split("\n")]


__all__ = ["Drive", "drive"]
