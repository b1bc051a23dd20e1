"""The metrics that `tf.estimator.add_metrics` adds to a canned Estimator: its function, read.

TF1 gives that function the labels as they are fed and the Estimator's predictions by their names.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.heads import HEADS, Task
from migrate_mgpu.api.metrics import METRICS, Derived
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import ADD_METRICS, adds_metrics
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.ir import Head, Result

_ADVICE = "write the metrics into `compile` by hand"
_GIVEN = ("labels", "predictions")
_SAME = ("cast", "to_float", "identity", "convert_to_tensor")
_SHAPES = ("squeeze", "reshape")
# What a head's predictions are of the logits, by their names.
_PREDICTIONS: Mapping[Task, Mapping[str, Derived]] = {
    Task.NUMBER: {"predictions": Derived.ITSELF},
    Task.TWO_CLASSES: {"logistic": Derived.SIGMOID, "class_ids": Derived.POSITIVE},
    Task.CLASSES: {"class_ids": Derived.ARGMAX},
}


@record(frozen=True, eq=False)
class AddedMetrics:
    """Metrics by their names, and the function that made them, which goes."""

    results: Mapping[str, Result]
    function: ast.FunctionDef


def read_added_metrics(flow: EstimatorFlow, graph: CallGraph, head: Head) -> AddedMetrics | None:
    """What is added to an Estimator; None where nothing is.

    Raises:
        Refused: a function that does more, or a metric that Keras has not.
    """
    if flow.added is None:
        return None
    given = arguments_of(flow.module, flow.added, ADD_METRICS).get("metric_fn")
    function = graph.target(flow.module, given) if given is not None else None
    unclear = "which metrics are added to the Estimator cannot be determined"
    if function is None or not isinstance(function.node, ast.FunctionDef):
        raise Refused(flow.module, given or flow.added, unclear, _ADVICE)
    if function.module is not flow.module or function.owner or function.node.decorator_list:
        raise Refused(flow.module, given or flow.added, unclear, _ADVICE)
    if head.weights is not None or head.words is not None:
        text = "metrics that are added to an Estimator with weights or words for its classes"
        raise Refused(flow.module, flow.added, text, _ADVICE)
    for reference in graph.references(function):
        taker = reference.module.names.taker(reference.node)
        if taker is None or not adds_metrics(reference.module, taker):
            text = f"`{function.name}` is used for more than the Estimator's metrics"
            raise Refused(reference.module, reference.node, text, _ADVICE)
    return _Reader(flow.module, function, HEADS.by_kind[head.kind].task).read(head)


class _Reader:
    def __init__(self, module: Module, function: Function, task: Task) -> None:
        assert isinstance(function.node, ast.FunctionDef)
        self.module = module
        self.function = function
        self.node = function.node
        self.task = task

    def read(self, head: Head) -> AddedMetrics:
        parameters = self.function.parameters()
        if not set(parameters) <= set(_GIVEN):
            text = f"`{self.node.name}` asks for more than labels and predictions"
            raise Refused(self.module, self.node, text, _ADVICE)
        *body, last = self.node.body
        for statement in body:
            shown = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            if not shown and not plain:
                self._unclear(statement)
        value = self._value(last.value) if isinstance(last, ast.Return) else None
        if not isinstance(value, ast.Dict):
            self._unclear(last)
        assert isinstance(value, ast.Dict)
        known = HEADS.by_kind[head.kind].results
        found: dict[str, Result] = {}
        for key, node in zip(value.keys, value.values):
            name = constant(key)
            if not isinstance(name, str) or name in known or name == "loss":
                self._unclear(key or node)
            found[str(name)] = self._result(self._value(node) or node)
        return AddedMetrics(found, self.node)

    def _unclear(self, node: ast.AST) -> None:
        text = f"what `{self.node.name}` adds to the metrics cannot be determined"
        raise Refused(self.module, node, text, _ADVICE)

    def _value(self, node: ast.expr | None) -> ast.expr | None:
        """What a variable of the function stands for; any other expression is itself."""
        if not isinstance(node, ast.Name):
            return node
        value = self.module.names.only_value(node)
        return node if value is None else self._value(value)

    def _result(self, node: ast.expr) -> Result:
        metric = read_metric(self.module, node)
        if metric is None or metric.weights is not None or metric.labels is None:
            self._unclear(node)
        assert metric is not None and metric.labels is not None
        labels = self._of_labels(metric.labels)
        outputs = self._of_predictions(metric.predictions)
        forms = METRICS.by_kind[metric.kind].forms
        if labels is None or outputs is None or (labels, outputs) not in forms:
            self._unclear(node)
        return Result(metric, labels, outputs)

    def _of_labels(self, node: ast.expr) -> Derived | None:
        value = self._value(node)
        if isinstance(value, ast.Name):
            return Derived.ITSELF if value.id == "labels" else None
        if isinstance(value, ast.Call) and name_of(self.module, value) in _SAME and value.args:
            return self._of_labels(value.args[0])
        return None

    def _of_predictions(self, node: ast.expr) -> Derived | None:
        """What an expression is of the logits."""
        value = self._value(node)
        if isinstance(value, ast.Subscript):
            of = self._value(value.value)
            key = constant(value.slice)
            if isinstance(of, ast.Name) and of.id == "predictions" and isinstance(key, str):
                return _PREDICTIONS[self.task].get(key)
            return None
        name = name_of(self.module, value) if value is not None else ""
        if not isinstance(value, ast.Call) or name not in (*_SAME, *_SHAPES):
            return None
        given = arguments_of(self.module, value, ("input", "shape", "name"))
        inner = next((given[one] for one in ("input", "tensor", "x") if one in given), None)
        if inner is None or (name in _SHAPES and not self._is_vector(name, value)):
            return None
        return self._of_predictions(inner)

    def _is_vector(self, name: str, call: ast.Call) -> bool:
        """Whether a column of predictions becomes a number for each example."""
        if name == "squeeze":
            given = arguments_of(self.module, call, ("input", "axis", "name"))
            return constant(given.get("axis")) in (1, -1)
        shape = arguments_of(self.module, call, ("tensor", "shape", "name")).get("shape")
        numbers = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else []
        return [constant(number) for number in numbers] == [-1]
