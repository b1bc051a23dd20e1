"""``make_early_stopping_hook`` as a callback that asks the same function at the same steps."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import root
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.hooks import EARLY_STOPPING
from migrate_mgpu.models.front.estimators.visibility import settled
from migrate_mgpu.models.front.rewriters import DrivingRewriter
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits, text_of
from migrate_mgpu.source.statements import Layout

_SIGNATURE = ("estimator", "should_stop_fn", "run_every_secs", "run_every_steps")
_ADVICE = "write a tf.keras.callbacks.Callback that sets self.model.stop_training"


def stops_early(hook: Value) -> bool:
    """Whether a hook is made by ``make_early_stopping_hook``."""
    node = hook.node
    return isinstance(node, ast.Call) and tensorflow_name(hook.module, node.func) in EARLY_STOPPING


class EarlyStopping:
    """Writes the classes of such hooks, each once."""

    def __init__(self, graph: CallGraph, changes: DriverEdits) -> None:
        self.graph = graph
        self.values = ValueFlow(graph)
        self.changes = changes
        self._uses: dict[ast.Call, DriverCall] = {}

    def convert(self, hook: Value, call: DriverCall) -> bool:
        """Makes a hook a callback; whether it counts the batches of one ``fit``.

        Raises:
            Refused: the function, its interval, or how often the hook is used cannot be determined.
        """
        module, node = hook.module, hook.node
        assert isinstance(node, ast.Call)
        first = self._uses.setdefault(node, call)
        modules = list(self.graph.project.modules.values())
        if len(self._uses) > 1:
            raise Refused(module, node, "a second early stopping of one Estimator", _ADVICE)
        if first is not call or not self.graph.runs_once(call.module, call.node, modules):
            # Its timer goes on from one training to the next.
            raise Refused(module, node, "an early stopping of several trainings", _ADVICE)
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
        layout = Layout(module.source, statement)
        if not layout.owns_start:
            raise Refused(module, node, "an early stopping in the middle of a line", _ADVICE)
        asked = self._asked(module, asks)
        tf = root(module, node)
        unit = module.source.indent_unit
        stop = "self.model.stop_training = True"
        lines = [f"class {name}({tf}.keras.callbacks.Callback):"]
        if steps is not None:
            every = self._interval(module, steps)
            test = asked if every == "1" else f"batch % {every} == 0 and {asked}"
            lines += [f"{unit}def on_train_batch_end(self, batch, logs=None):"]
            lines += [f"{unit * 2}if {test}:", f"{unit * 3}{stop}"]
        else:
            every = self._interval(module, seconds) if seconds is not None else "60"
            home = names.defining_scope("time", names.scope_at(statement))
            bound = home.bindings["time"] if home is not None else []
            if any(binding.qualname != "time" for binding in bound):
                raise Refused(module, node, "`time` is not a module here", "give it another name")
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
        gap = [""] if layout.indent else ["", ""]
        above = module.source.line_text(module.source.place(layout.line_start)[0] - 1).strip()
        edit = layout.insert_before([*(gap if above else []), *lines, *gap])
        self.changes.edit(module, edit)
        module.substitutes[node] = ast.Call(ast.Name(name, ast.Load()), [], [])
        self.changes.replaced(module, node, DrivingRewriter)
        self.changes.gone.update([*node.args, *node.keywords])
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
