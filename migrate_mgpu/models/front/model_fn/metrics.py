"""The metrics of a model_fn, as Keras metrics of labels and the model's output."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import NeedsSteps, Refused
from migrate_mgpu.analysis.modes import EVAL
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.model_fn.losses import settings_of
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import reduces
from migrate_mgpu.models.ir import Computation
from migrate_mgpu.models.keras.expressions import METRICS, rule
from migrate_mgpu.models.types import Metric

# Keras's own average over the last axis first: of a list of numbers they make one.
_BY_ROWS = ("metrics.mean_squared_error", "metrics.mean_absolute_error")
# Metrics to which it is all the same what of two values are the labels.
_SYMMETRIC = {
    "accuracy", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
}  # fmt: skip
_CASTS = {"cast", "to_int32", "to_int64", "to_float", "identity"}


@record()
class MetricPlan:
    """The metrics by name as Keras's texts; classes and functions that those texts name."""

    texts: dict[str, str] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    functions: dict[str, Computation] = field(default_factory=dict)


def read_metrics(reading: Reading, tf: str) -> MetricPlan:
    """A Keras metric for each of ``eval_metric_ops``.

    Raises:
        Refused: a metric of another kind, or of something that is not the output.
    """
    found = MetricPlan()
    reader = _Reader(reading, tf)
    for name, (value, unit) in reading.metrics.items():
        mean = reader.mean(name, value, unit)
        if mean is None:
            found.texts[name] = reader.metric(name, value, unit)
            continue
        names = reading.module.names
        function = names.fresh(names.scopes[reading.function], f"{_identifier(name)}_of")
        while function in found.functions:
            function += "_2"
        found.functions[function] = mean
        quoted = f"{reading.module.source.quote}{name}{reading.module.source.quote}"
        found.texts[name] = f"{tf}.keras.metrics.MeanMetricWrapper({function}, name={quoted})"
    found.classes = list(dict.fromkeys(reader.classes))
    return found


def _identifier(name: str) -> str:
    text = "".join(c if c.isalnum() else "_" for c in name)
    return text if text.isidentifier() else f"metric_{text}"


class _Reader:
    def __init__(self, reading: Reading, tf: str) -> None:
        self.reading = reading
        self.module = reading.module
        self.flow = reading.flows[EVAL]
        self.tf = tf
        self.classes: list[str] = []

    def metric(self, name: str, value: ast.expr, unit: ast.stmt | None) -> str:
        """One metric's text."""
        found = rule(METRICS).metric(self.module, value, self.tf)
        if not isinstance(found, Metric):
            text = f"the metric {name!r} is not one of tf.metrics"
            raise Refused(self.module, value, text, "use a metric of tf.metrics")
        if found.weights is not None:
            raise NeedsSteps(self.module, value, f"the metric {name!r} is weighted")
        labels = "onehot"
        if found.labels is not None:
            labels = self._labels(found.labels, unit)
        relation = self._relation(found.predictions, unit)
        if relation is None and name_of(self.module, value).rpartition(".")[2] in _SYMMETRIC:
            relation = self._relation(found.labels, unit) if found.labels is not None else None
            labels = self._labels(found.predictions, unit)
        by_number = ""
        if name_of(self.module, value).startswith(_BY_ROWS) and self._is_list():
            by_number = found.plain
        quoted = f"{self.module.source.quote}{name}{self.module.source.quote}"
        form = found.text(labels, relation) if relation else None
        if by_number and form is not None:
            form = by_number
        if form is None:
            reason = f"the metric {name!r} does not look at the labels and the network's output"
            raise NeedsSteps(self.module, value, reason, "no Keras metric is known for it")
        made = found.classes.get((labels, relation or ""))
        if made is not None:
            self.classes.append(made)
        return form.format(name=quoted)

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

    def mean(self, name: str, value: ast.expr, unit: ast.stmt | None) -> Computation | None:
        """The values that a `tf.metrics.mean` averages, as a function of labels and output."""
        found = rule(METRICS).metric(self.module, value, self.tf)
        if not isinstance(found, Metric) or found.labels is not None or found.weights is not None:
            return None
        if self._relation(found.predictions, unit) is not None and found.keras:
            return None
        _, made = self.reading.output
        units = [
            statement
            for statement in self.flow.slice([found.predictions], unit) - {made}
            if statement not in self.reading.network
            and (
                self.flow.depends(statement, statement, "labels")
                or self.flow.depends(statement, statement, "features")
            )
        ]
        units += settings_of(self.flow, [found.predictions], unit, units, made)
        units.sort(key=lambda statement: statement.lineno)
        return Computation(found.predictions, None, units)

    def _labels(self, node: ast.expr, unit: ast.stmt | None) -> str:
        """``sparse`` for the labels themselves, ``onehot`` for their argmax."""
        value, where = self.flow.resolve(node, unit)
        if isinstance(value, ast.Name) and value.id == "labels":
            if not self.flow.definitions("labels", where):
                return "sparse"
        name = name_of(self.module, value) if value is not None else ""
        if isinstance(value, ast.Call) and value.args:
            inner = self._labels(value.args[0], where)
            if name in ("argmax", "math.argmax", "arg_max") and inner == "sparse":
                return "onehot"
            if name in _CASTS:
                return inner
        return "other"

    def _relation(self, node: ast.expr, unit: ast.stmt | None) -> str | None:
        """What an expression is of the network's output: ``identity``, ``argmax``, ..."""
        output, made = self.reading.output
        value, unit = self.flow.resolve(node, unit, made)
        assert value is not None
        node = value
        if isinstance(node, ast.Name):
            ends = node.id == output and self.flow.single(output, unit) is made
            return "identity" if ends else None
        if not isinstance(node, ast.Call):
            return self._comparison(node, unit)
        given = [*node.args, *(k.value for k in node.keywords)]
        inner = self._relation(given[0], unit) if given else None
        name = name_of(self.module, node)
        if inner is None:
            return None
        if name in ("argmax", "math.argmax", "arg_max"):
            return "argmax" if inner in ("identity", "softmax") else None
        if name in ("nn.softmax", "nn.sigmoid", "sigmoid", "math.sigmoid", "round", "math.round"):
            short = name.rpartition(".")[2]
            if inner == "identity":
                return short
            return "round_sigmoid" if (short, inner) == ("round", "sigmoid") else None
        if name in _CASTS:
            return inner
        if name in ("greater", "math.greater", "greater_equal") and inner == "sigmoid":
            limit = node.args[1] if len(node.args) > 1 else None
            if isinstance(limit, ast.Constant) and limit.value == 0.5:
                return "round_sigmoid"
        return None

    def _comparison(self, node: ast.expr, unit: ast.stmt | None) -> str | None:
        """`tf.nn.sigmoid(logits) > 0.5`."""
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Gt, ast.GtE)):
            limit = node.comparators[0]
            if isinstance(limit, ast.Constant) and limit.value == 0.5:
                if self._relation(node.left, unit) == "sigmoid":
                    return "round_sigmoid"
        return None
