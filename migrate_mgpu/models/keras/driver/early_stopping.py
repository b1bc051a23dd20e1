"""Hooks that stop a training early, as callbacks.

``make_early_stopping_hook`` asks the same function at the same steps.
``stop_if_no_increase_hook`` and its like read what evaluations wrote: the callback evaluates as
often as they looked.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.hooks import EARLY_STOPPING, NOT_BETTER
from migrate_mgpu.core.findings import EVALUATION
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.visibility import settled
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.models.model_plan import ModelPlan
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_SIGNATURE = ("estimator", "should_stop_fn", "run_every_secs", "run_every_steps")
_ADVICE = "write a tf.keras.callbacks.Callback that sets self.model.stop_training"


def stops_early(hook: Value) -> bool:
    """Whether a hook is made by ``make_early_stopping_hook``."""
    node = hook.node
    return isinstance(node, ast.Call) and tensorflow_name(hook.module, node.func) in EARLY_STOPPING


def not_better(hook: Value) -> bool:
    """Whether a hook is made by ``stop_if_no_increase_hook`` or its like."""
    node = hook.node
    return isinstance(node, ast.Call) and tensorflow_name(hook.module, node.func) in NOT_BETTER


@record(frozen=True)
class _Comparing:
    """A hook that looks at evaluations, and what it was given."""

    module: Module
    node: ast.Call
    given: dict[str, ast.expr]


class EarlyStopping:
    """Writes the classes of such hooks, each once."""

    def __init__(self, graph: CallGraph, changes: DriverEdits) -> None:
        self.graph = graph
        self.values = ValueFlow(graph)
        self.changes = changes
        self._uses: dict[ast.Call, DriverCall] = {}
        self._comparing: dict[DriverCall, _Comparing] = {}

    def compare(self, hook: Value, call: DriverCall) -> None:
        """Notes a hook that looks at evaluations: ``evaluate`` makes it a callback.

        Raises:
            Refused: what it looks at, or how often, cannot be determined.
        """
        module, node = hook.module, hook.node
        assert isinstance(node, ast.Call)
        self._once(module, node, call)
        _, word = NOT_BETTER[tensorflow_name(module, node.func)]
        signature = (
            "estimator", "metric_name", f"max_steps_without_{word}", "eval_dir", "min_steps",
            "run_every_secs", "run_every_steps",
        )  # fmt: skip
        given = arguments_of(module, node, signature)
        for name in ("eval_dir", "run_every_steps"):
            if name in given:
                raise Refused(module, given[name], f"`{name}` of an early stopping", _ADVICE)
        written = {k.arg for k in node.keywords} | set(signature[: len(node.args)])
        if "run_every_secs" in written and "run_every_secs" not in given:
            raise Refused(module, node, "how often an early stopping asks", _ADVICE)
        if not {"metric_name", signature[2]} <= given.keys():
            raise Refused(module, node, "what an early stopping compares", _ADVICE)
        given["patience"] = given.pop(signature[2])
        self._comparing[call] = _Comparing(module, node, given)

    def evaluate(self, call: DriverCall, pieces: list[str], model: ModelPlan) -> None:
        """Writes the callback that evaluates; ``pieces`` are the evaluation's arguments.

        Raises:
            Refused: there is no such evaluation, or it has no such metric.
        """
        found = self._comparing.get(call)
        if found is None:
            return
        module, node, given = found.module, found.node, found.given
        names = module.names
        metric = constant(given["metric_name"])
        spec = call.eval_spec
        if not pieces or spec is None:
            text = "an early stopping by evaluations that this training does not have"
            raise Refused(module, node, text, _ADVICE)
        same = spec.module is module and names.scope_at(spec.node) is names.scope_at(node)
        if not same or metric not in ("loss", *model.metrics):
            text = "which evaluation an early stopping looks at cannot be determined"
            raise Refused(module, node, text, _ADVICE)
        sign, word = NOT_BETTER[tensorflow_name(module, node.func)]
        statement = names.statement(node)
        name = names.fresh(
            names.scope_at(statement), f"StopWithout{word.title()}", f"StopAtNo{word.title()}"
        )
        self._check_time(module, node)
        least, patience, every = (
            self._interval(module, given[key]) if key in given else default
            for key, default in (("min_steps", "0"), ("patience", ""), ("run_every_secs", "60"))
        )
        style = FileStyle.of(module.source)
        unit = module.source.indent_unit
        now = f"time.time() < self.asked + {every}"
        early = now if least == "0" else f"step < {least} or {now}"
        head = "value = self.model.evaluate"
        result = f"{head}({', '.join(pieces)})[{style.string(str(metric))}]"
        body = [
            "def on_train_begin(self, logs=None):",
            f"{unit}self.asked = time.time()",
            f"{unit}self.best = self.best_step = None",
            "",
            "def on_train_batch_end(self, batch, logs=None):",
            f"{unit}step = int(self.model.optimizer.iterations)",
            f"{unit}if {early}:",
            f"{unit * 2}return",
            f"{unit}self.asked = time.time()",
            f"{unit}{result}",
            f"{unit}if self.best is None or value {sign} self.best:",
            f"{unit * 2}self.best, self.best_step = value, step",
            f"{unit}if step - self.best_step >= {patience}:",
            f"{unit * 2}self.model.stop_training = True",
        ]
        self.changes.needs(module, "time")
        lines = [unit + line if line else "" for line in body]
        self._write(module, node, name, lines)
        self.changes.note(
            module, node, f"`{name}` evaluates by itself, as often as the hook looked for what "
            "evaluations had written; those of earlier runs it does not read", EVALUATION,
        )  # fmt: skip

    def _once(self, module: Module, node: ast.Call, call: DriverCall) -> None:
        first = self._uses.setdefault(node, call)
        modules = list(self.graph.project.modules.values())
        if len(self._uses) > 1:
            raise Refused(module, node, "a second early stopping of one Estimator", _ADVICE)
        if first is not call or not self.graph.runs_once(call.module, call.node, modules):
            # Its timer goes on from one training to the next.
            raise Refused(module, node, "an early stopping of several trainings", _ADVICE)

    def _check_time(self, module: Module, node: ast.Call) -> None:
        names = module.names
        home = names.defining_scope("time", names.scope_at(names.statement(node)))
        bound = home.bindings["time"] if home is not None else []
        if any(binding.qualname != "time" for binding in bound):
            raise Refused(module, node, "`time` is not a module here", "give it another name")

    def _write(self, module: Module, node: ast.Call, name: str, lines: list[str]) -> None:
        """A class of callbacks above the statement that makes one."""
        layout = Layout(module.source, module.names.statement(node))
        if not layout.owns_start:
            raise Refused(module, node, "an early stopping in the middle of a line", _ADVICE)
        head = f"class {name}({root(module, node)}.keras.callbacks.Callback):"
        gap = [""] if layout.indent else ["", ""]
        above = module.source.line_text(module.source.place(layout.line_start)[0] - 1).strip()
        self.changes.edit(
            module, layout.insert_before([*(gap if above else []), head, *lines, *gap])
        )
        module.substitutes[node] = ast.Call(ast.Name(name, ast.Load()), [], [])
        self.changes.replaced(module, node, DrivingRewriter)
        self.changes.gone.update([*node.args, *node.keywords])

    def convert(self, hook: Value, call: DriverCall) -> bool:
        """Makes a hook a callback; whether it counts the batches of one ``fit``.

        Raises:
            Refused: the function, its interval, or how often the hook is used cannot be determined.
        """
        module, node = hook.module, hook.node
        assert isinstance(node, ast.Call)
        self._once(module, node, call)
        given = arguments_of(module, node, _SIGNATURE)
        asks = given.get("should_stop_fn")
        if asks is None:
            raise Refused(module, node, "an early stopping without should_stop_fn", _ADVICE)
        steps, seconds = given.get("run_every_steps"), given.get("run_every_secs")
        written = {k.arg for k in node.keywords} | set(_SIGNATURE[: len(node.args)])
        if (steps is None) == (seconds is None and "run_every_secs" in written):
            raise Refused(module, node, "how often an early stopping asks", _ADVICE)
        names = module.names
        statement = names.statement(node)
        name = names.fresh(names.scope_at(statement), "StopEarly", "StopOnCondition")
        asked = self._asked(module, asks)
        unit = module.source.indent_unit
        stop = "self.model.stop_training = True"
        lines: list[str] = []
        if steps is not None:
            every = self._interval(module, steps)
            test = asked if every == "1" else f"batch % {every} == 0 and {asked}"
            lines += [f"{unit}def on_train_batch_end(self, batch, logs=None):"]
            lines += [f"{unit * 2}if {test}:", f"{unit * 3}{stop}"]
        else:
            every = self._interval(module, seconds) if seconds is not None else "60"
            self._check_time(module, node)
            self.changes.needs(module, "time")
            lines += [
                f"{unit}def on_train_begin(self, logs=None):",
                f"{unit * 2}self.asked = 0",
                "",
                f"{unit}def on_train_batch_end(self, batch, logs=None):",
                f"{unit * 2}if time.time() >= self.asked + {every}:",
                f"{unit * 3}self.asked = time.time()",
                f"{unit * 3}if {asked}:",
                f"{unit * 4}{stop}",
            ]
        self._write(module, node, name, lines)
        return steps is not None

    def _asked(self, module: Module, node: ast.expr) -> str:
        """The question, where the training asks it."""
        if isinstance(node, ast.Lambda) and not ast.unparse(node.args):
            names = (n for n in ast.walk(node.body) if isinstance(n, ast.Name))
            if all(len(module.names.bindings_of(name)) < 2 for name in names):
                text = text_of(module, node.body)
                return f"({text})" if isinstance(node.body, (ast.BoolOp, ast.IfExp)) else text
        if isinstance(node, (ast.Name, ast.Attribute)) and settled(module, node):
            return f"{text_of(module, node)}()"
        raise Refused(module, node, "which function decides to stop cannot be determined", _ADVICE)

    def _interval(self, module: Module, node: ast.expr) -> str:
        value = constant(node)
        if isinstance(value, (int, float)) and value > 0:
            return text_of(module, node)
        if isinstance(node, ast.Name) and settled(module, node):
            return text_of(module, node)
        raise Refused(module, node, "how often an early stopping asks", _ADVICE)
