"""The metrics of a model_fn: of the labels and the network's output, where they are."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import EVAL
from migrate_mgpu.api.metrics import METRICS, Derived
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.front.model_fn.label_use import read_label_use
from migrate_mgpu.models.front.model_fn.losses import settings_of
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import reduces
from migrate_mgpu.models.ir import Computation, Metric, Result

_CASTS = {"cast", "to_int32", "to_int64", "to_float", "identity"}
_DERIVING = {
    "nn.softmax": Derived.SOFTMAX,
    "nn.sigmoid": Derived.SIGMOID,
    "sigmoid": Derived.SIGMOID,
    "math.sigmoid": Derived.SIGMOID,
}


def read_metrics(reading: Reading) -> dict[str, Metric]:
    """The metric that each of ``eval_metric_ops`` is.

    Raises:
        Refused: it is none, or one that nothing equals.
    """
    found = {}
    for name, (value, _) in reading.metrics.items():
        metric = read_metric(reading.module, value)
        if metric is None:
            text = f"the metric {name!r} is not one of tf.metrics"
            raise Refused(reading.module, value, text, "use a metric of tf.metrics")
        if name in reading.baselines:
            if metric.kind != "mean" or metric.weights is not None:
                raise Refused(reading.module, value, f"which mean the metric {name!r} is of")
            metric = replaced(metric, kind="accuracy_baseline")
        found[name] = metric
    return found


def read_results(reading: Reading, metrics: dict[str, Metric]) -> dict[str, Result]:
    """What the metrics are given, as made of the labels and the network's output."""
    reader = _Reader(reading)
    return {name: reader.result(one, reading.metrics[name][1]) for name, one in metrics.items()}


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.module = reading.module
        self.flow = reading.flows[EVAL]

    def result(self, metric: Metric, unit: ast.stmt | None) -> Result:
        if metric.labels is None:
            return Result(metric, values=self._values(metric, unit))
        labels = self._of_labels(metric.labels, unit)
        outputs = self._of_output(metric.predictions, unit)
        row = METRICS.by_kind[metric.kind]
        if outputs is None and row.symmetric:
            labels = self._of_labels(metric.predictions, unit)
            outputs = self._of_output(metric.labels, unit)
        by_rows = not (row.by_number and self._is_list())
        return Result(metric, labels, outputs, by_rows=by_rows)

    def _is_list(self) -> bool:
        """Whether the network's output may be a number for each example, without an axis."""
        _, made = self.reading.output
        value = made.value if isinstance(made, ast.Assign) else None
        if value is None or self._is_layer(value):
            return value is None

        def resolve(node: ast.expr) -> ast.expr:
            found = self.flow.resolve(node, made)[0]
            return node if found is None or self._is_layer(found) else found

        return reduces(self.module, value, resolve)

    def _is_layer(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        found = self.reading.layers.read(self.module, node)
        return isinstance(node.func, ast.Call) or found is not None

    def _values(self, metric: Metric, unit: ast.stmt | None) -> Computation:
        """The values that a `tf.metrics.mean` averages, as a function of labels and output."""
        _, made = self.reading.output
        units = [
            statement
            for statement in self.flow.slice([metric.predictions], unit) - {made}
            if statement not in self.reading.network
            and (
                self.flow.depends(statement, statement, "labels")
                or self.flow.depends(statement, statement, "features")
            )
        ]
        units += settings_of(self.flow, [metric.predictions], unit, units, made)
        units.sort(key=lambda statement: statement.lineno)
        use = read_label_use(self.reading, metric.predictions, None, units)
        return Computation(metric.predictions, None, units, use)

    def _of_labels(self, node: ast.expr, unit: ast.stmt | None) -> Derived | None:
        """What an expression is of the labels: themselves or their argmax."""
        value, where = self.flow.resolve(node, unit)
        if isinstance(value, ast.Name) and value.id == "labels":
            if not self.flow.definitions("labels", where):
                return Derived.ITSELF
        name = name_of(self.module, value) if value is not None else ""
        if isinstance(value, ast.Call) and value.args:
            inner = self._of_labels(value.args[0], where)
            if name in ("argmax", "math.argmax", "arg_max") and inner is Derived.ITSELF:
                return Derived.ARGMAX
            if name in _CASTS:
                return inner
        return None

    def _of_output(self, node: ast.expr, unit: ast.stmt | None) -> Derived | None:
        """What an expression is of the network's output."""
        output, made = self.reading.output
        value, unit = self.flow.resolve(node, unit, made)
        assert value is not None
        node = value
        if isinstance(node, ast.Name):
            ends = node.id == output and self.flow.single(output, unit) is made
            return Derived.ITSELF if ends else None
        if not isinstance(node, ast.Call):
            return self._compared(node, unit)
        given = [*node.args, *(k.value for k in node.keywords)]
        inner = self._of_output(given[0], unit) if given else None
        name = name_of(self.module, node)
        if inner is None:
            return None
        if name in ("argmax", "math.argmax", "arg_max"):
            return Derived.ARGMAX if inner in (Derived.ITSELF, Derived.SOFTMAX) else None
        if name in _DERIVING:
            return _DERIVING[name] if inner is Derived.ITSELF else None
        if name in ("round", "math.round"):
            return Derived.CHOSEN if inner is Derived.SIGMOID else None
        if name in _CASTS:
            return inner
        if name in ("greater", "math.greater", "greater_equal") and inner is Derived.SIGMOID:
            limit = node.args[1] if len(node.args) > 1 else None
            if isinstance(limit, ast.Constant) and limit.value == 0.5:
                return Derived.CHOSEN
        return None

    def _compared(self, node: ast.expr, unit: ast.stmt | None) -> Derived | None:
        """`tf.nn.sigmoid(logits) > 0.5`."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Gt, ast.GtE)):
            limit = node.comparators[0]
            if isinstance(limit, ast.Constant) and limit.value == 0.5:
                if self._of_output(node.left, unit) is Derived.SIGMOID:
                    return Derived.CHOSEN
        return None
