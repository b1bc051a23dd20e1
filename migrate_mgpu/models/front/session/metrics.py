"""Metrics of a session's program: what adds to each, and what tells its value."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.front.session.program import MetricValue, Role, RunningMetric
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.front.session.units import UnitReader
from migrate_mgpu.models.ir import Metric

# Those that Keras's metrics of the same arguments equal, whatever types these have.
_KINDS = ("accuracy", "mean", "mean_squared_error", "mean_absolute_error")


class MetricReader(StatementReader):
    """Reads statements that make metrics: `value, update = tf.metrics.accuracy(...)`."""

    def call(self, node: ast.AST) -> ast.Call | None:
        """The call that makes a metric in the value of a statement, if there is one."""
        inner = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(inner, ast.Call) and name_of(self.module, inner).startswith("metrics."):
            return inner
        return None

    def takes(self, call: ast.Call) -> tuple[ast.expr, ...]:
        """What a metric is computed of.

        Raises:
            Refused: no metric of Keras's equals it.
        """
        metric = self._metric(call)
        parts = (metric.labels, metric.predictions, metric.weights)
        return tuple(part for part in parts if part is not None)

    def read(
        self, statement: ast.Assign, target: ast.expr, call: ast.Call, units: UnitReader
    ) -> Role:
        """What a statement that makes a metric is: a unit that adds to it and gives its value.

        Raises:
            Refused: it does something else.
        """
        if self.scope.towers is not None or self.scope.resets:
            raise Refused(self.module, call, "a metric beside towers, or of several graphs")
        value, update = self._targets(statement, target)
        if update is None:
            text = "what adds to this metric has no name"
            raise Refused(self.module, call, text, "name both: `value, update = ...`")
        role = units.assigned(statement, update)
        self.state.only_binding(update)
        name = "" if value is None else value.id
        if value is not None and not self._is_read(value):
            name = ""
        made = RunningMetric(name, update.id, statement, self._metric(call))
        self.found.metrics[statement] = made
        if value is not None and name:
            self.state.only_binding(value)
            self.meanings[value.id] = MetricValue(made)
        return role

    def _metric(self, call: ast.Call) -> Metric:
        metric = read_metric(self.module, call)
        assert metric is not None
        if metric.kind not in _KINDS:
            text = f"`{self.module.source.code(call.func)}` is not supported in a session's program"
            raise Refused(self.module, call, text, "compute it of the values that steps give")
        return metric

    def _targets(
        self, statement: ast.Assign, target: ast.expr
    ) -> tuple[ast.Name | None, ast.Name | None]:
        """The names of a metric's value, and of what adds to it."""
        if isinstance(statement.value, ast.Subscript):
            index = constant(statement.value.slice)
            known = isinstance(target, ast.Name) and index == 1
            return None, target if known and isinstance(target, ast.Name) else None
        if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
            value, update = target.elts
            if isinstance(value, ast.Name) and isinstance(update, ast.Name):
                return value, update
        return None, None

    def _is_read(self, name: ast.Name) -> bool:
        mentions = self.names.mentions(name.id, self.home)
        return any(isinstance(mention.ctx, ast.Load) for mention in mentions)
