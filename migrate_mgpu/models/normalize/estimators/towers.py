"""`tf.contrib.estimator.replicate_model_fn` and `TowerOptimizer` as a strategy.

A tower for each device takes its part of the batch, and the mean of their gradients is applied:
what Keras does with a whole batch under a MirroredStrategy. The strategy that is written here
(``TowerStrategy``) exists in no TensorFlow: the rewriter of strategies makes a MirroredStrategy
of it, and the Estimator is driven with whole batches.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.style import root
from migrate_mgpu.api.strategies import TOWERS
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments

_REPLICATE = "contrib.estimator.replicate_model_fn"
_OPTIMIZER = "contrib.estimator.TowerOptimizer"
_PARAMETERS = ("model_fn", "loss_reduction", "devices")
# The towers' gradients are summed up with SUM, else they are averaged.
_MEANS = ("MEAN", "SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_BATCH_SIZE", "SUM_OVER_NONZERO_WEIGHTS")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where it is not clear which model_fn is replicated, or how."""
    if flow.function is None:
        return _Replicated(flow).edits()
    module = flow.function.module
    for call in module.names.calls:
        if tensorflow_name(module, call.func) == _OPTIMIZER:
            edit = _unwrapped(module, call)
            if edit is not None:
                return {module: [edit]}
    return {}


class _Replicated:
    """The Estimator whose model_fn is, or may be, a replicated one."""

    def __init__(self, flow: EstimatorFlow) -> None:
        self.flow = flow
        self.module = flow.module
        self.found: list[Edit] = []
        self.functions: set[str] = set()
        self.replicates = False

    def edits(self) -> dict[Module, list[Edit]]:
        given = self.flow.arguments.get("model_fn")
        if given is None:
            return {}
        strategy = self._inline(given) if not isinstance(given, ast.Name) else self._named(given)
        if strategy is None or len(self.functions) != 1:
            return {}
        source = self.module.source
        self.found.append(Edit(*source.span(given), self.functions.pop()))
        self.found.append(self._configured(strategy))
        return {self.module: self.found}

    def _inline(self, given: ast.expr) -> str | None:
        """The strategy of a model_fn that is replicated in the Estimator's call."""
        text = self._text(given)
        return text if self.replicates else None

    def _named(self, given: ast.Name) -> str | None:
        """The variable of the strategy, which takes the place of the model_fn's."""
        names, source = self.module.names, self.module.source
        home = names.defining_scope(given.id, names.scope_of_name[given])
        if home is None or home is not names.scope_at(self.flow.statement):
            return None
        mentions = names.mentions(given.id, home)
        if [m for m in mentions if isinstance(m.ctx, ast.Load)] != [given]:
            return None
        strategy = names.fresh(home, "strategy", "distribution", "tower_strategy")
        for binding in home.bindings[given.id]:
            if binding.kind != "assign" or binding.value is None:
                return None
            statement = names.statement(binding.node)
            plain = isinstance(statement, ast.Assign) and statement.value is binding.value
            text = self._text(binding.value)
            if not plain or len(statement.targets) != 1 or text is None:  # type: ignore[attr-defined]
                return None
            self.found.append(Edit(*source.span(statement), f"{strategy} = {text}"))
        return strategy if self.replicates else None

    def _text(self, node: ast.expr) -> str | None:
        """The strategy that stands for a model_fn: None for a plain one; None where unclear."""
        source = self.module.source
        if isinstance(node, ast.IfExp):
            body, orelse = self._text(node.body), self._text(node.orelse)
            if body is None or orelse is None:
                return None
            return f"{body} if {source.code(node.test)} else {orelse}"
        if isinstance(node, ast.Call):
            if tensorflow_name(self.module, node.func) != _REPLICATE or len(node.args) > 3:
                return None
            arguments = by_parameter(node, _PARAMETERS)
            function = arguments.pop("model_fn", None)
            if function is None or not set(arguments) <= set(_PARAMETERS):
                return None
            reduction = arguments.get("loss_reduction")
            if reduction is not None:
                last = tensorflow_name(self.module, reduction).rpartition(".")[2]
                if last not in _MEANS:
                    return None
            if self._text(function) != "None":
                return None
            self.replicates = True
            devices = source.code(arguments["devices"]) if "devices" in arguments else ""
            return f"{root(self.module, node)}.distribute.{TOWERS}({devices})"
        if isinstance(node, (ast.Name, ast.Attribute)):
            self.functions.add(source.code(node))
            return "None"
        return None

    def _configured(self, strategy: str) -> Edit:
        """The Estimator's config with the strategy."""
        source, call = self.module.source, self.flow.call
        config = self.flow.arguments.get("config")
        given = f"train_distribute={strategy}"
        tf = root(self.module, call)
        if config is not None and is_none(config):
            return Edit(*source.span(config), f"{tf}.estimator.RunConfig({given})")
        if config is None:
            ends = [source.span(a)[1] for a in (*call.args, *(k.value for k in call.keywords))]
            return Edit(max(ends), max(ends), f", config={tf}.estimator.RunConfig({given})")
        end = source.span(config)[1]
        return Edit(end, end, f".replace({given})")


def _unwrapped(module: Module, call: ast.Call) -> Edit | None:
    """A `TowerOptimizer(optimizer)` as the optimizer; None where that is made by a function."""
    source, names = module.source, module.names
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Lambda):
        return None
    inner = call.args[0]
    statement = names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    same = isinstance(target, ast.Name) and isinstance(inner, ast.Name) and target.id == inner.id
    if not same or statement_value(statement) is not call:
        if isinstance(inner, ast.Name):
            values = [binding.value for binding in names.bindings_of(inner)]
            if not all(isinstance(value, ast.Call) for value in values):
                return None  # a function, perhaps
        elif not isinstance(inner, ast.Call):
            return None
        return Edit(*source.span(call), source.code(inner))
    gone: ast.stmt = statement
    parent = names.parents[statement]
    if isinstance(parent, ast.If) and parent.body == [statement] and not parent.orelse:
        if not _only_asks(parent.test):
            return None
        gone = parent
    layout = Layout(source, gone)
    if not layout.owns_lines or len(names.block(gone)) == 1:
        return None
    return Edit(start_with_comments(source.text, layout.line_start), layout.next_line, "")


def _only_asks(test: ast.expr) -> bool:
    """Whether nothing is lost with a test: it calls nothing but `params.get`."""
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call)]
    return all(isinstance(c.func, ast.Attribute) and c.func.attr == "get" for c in calls)
