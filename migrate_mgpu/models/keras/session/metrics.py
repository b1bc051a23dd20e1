"""Metrics of a session's program: Keras's, made once, which steps add to."""

from __future__ import annotations

import ast
from functools import partial

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.keras.expressions import Context, Replacement
from migrate_mgpu.models.keras.metrics import metric_object
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.source.style import FileStyle


class MetricWriter:
    """Writes metrics, what adds to them in a step, and what begins them anew."""

    def __init__(self, program: SessionProgram, names: StepNames, style: FileStyle) -> None:
        self.program = program
        self.names = names
        self.style = style

    def uses(self) -> dict[ast.AST, Replacement]:
        """What stands where a metric was made and named: its value."""
        found: dict[ast.AST, Replacement] = {}
        for statement, metric in self.program.metrics.items():
            assert isinstance(statement, ast.Assign)
            found[statement.value] = partial(_text, f"{self.names.metric(metric)}.result()")
            found[statement.targets[0]] = partial(_text, metric.update)
        return found

    def made(self, statement: ast.AST, indent: str) -> list[str]:
        """The line that makes the metric of a statement."""
        metric = self.program.metrics.get(statement)
        if metric is None:
            return []
        told = metric.value or metric.update
        text = metric_object(metric.metric, told, self.style)
        return [f"{indent}{self.names.metric(metric)} = {text}"]

    def added(self, statement: ast.AST, context: Context, draws: bool) -> list[str]:
        """The lines of a step that add to the metric of a statement.

        ``draws``: from an iterator, at whose end TF1 adds nothing.

        Raises:
            Refused: Keras may count one value more.
        """
        metric = self.program.metrics.get(statement)
        if metric is None:
            return []
        given = [metric.metric.labels, metric.metric.predictions]
        shown = [context.render(part) for part in given if part is not None]
        if metric.metric.weights is not None:
            shown.append(f"sample_weight={context.render(metric.metric.weights)}")
        line = f"{self.names.metric(metric)}.update_state({', '.join(shown)})"
        if not draws:
            return [line]
        # How many values there are may be known before there are any.
        told = (metric.metric.predictions, metric.metric.labels)
        names = [part.id for part in told if isinstance(part, ast.Name)]
        if not names:
            text = "a metric is of values without names, and the data may end"
            raise Refused(context.module, metric.statement, text, "give the values names")
        indent = context.module.source.indent_unit
        return [f"with {context.tf}.control_dependencies([{names[0]}]):", f"{indent}{line}"]

    def begun(self) -> list[str]:
        """The statements that begin all metrics anew."""
        return [f"{self.names.metric(one)}.reset_state()" for one in self.program.metrics.values()]


def _text(text: str, context: Context) -> str:
    del context
    return text
