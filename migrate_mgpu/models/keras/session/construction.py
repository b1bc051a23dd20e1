"""What a session's program makes once, beside its variables: layers, metrics, schedules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.models.front.session.program import SessionProgram
from migrate_mgpu.models.front.session.scope import Entry
from migrate_mgpu.models.keras.expressions import Context
from migrate_mgpu.models.keras.session.layers import LayerWriter
from migrate_mgpu.models.keras.session.metrics import MetricWriter
from migrate_mgpu.models.keras.session.names import StepNames
from migrate_mgpu.models.keras.session.rates import RateWriter
from migrate_mgpu.models.keras.session.variables import placeholder_text


class ConstructionWriter:
    """Writes what stands where a statement made a part of the graph that has a state."""

    def __init__(
        self,
        program: SessionProgram,
        names: StepNames,
        context: Context,
        metrics: MetricWriter,
        layers: LayerWriter,
        rates: RateWriter,
    ) -> None:
        self.program = program
        self.names = names
        self.context = context
        self.metrics = metrics
        self.layers = layers
        self.rates = rates

    def lines(self, entry: Entry, indent: str) -> list[str]:
        """The lines that make the layers and the schedules of a statement."""
        unnamed = [one for one in self.program.iterators if not one.name]
        own = [one for one in unnamed if one.statement is entry.statement]
        return [
            *(f"{indent}{self.names.iterator(one)} = {self.begun(one.source)}" for one in own),
            *self.metrics.made(entry.statement, indent),
            *self.layers.made(entry.statement, self.context, indent),
            *self.rates.made(entry.statement, self.context, indent),
            *(f"{indent}{one}" for one in self._fed(entry.statement)),
        ]

    def _fed(self, statement: ast.stmt) -> Iterator[str]:
        """What steps take that are fed the value of a statement, which others compute."""
        for one in self.program.placeholders:
            if one.unit is statement and one.computed is not None:
                yield placeholder_text(one, self.names.spec(one), False, self.context)

    def begun(self, dataset: ast.expr) -> str:
        """What draws from a dataset, from its beginning."""
        return f"iter({self.context.render(dataset)})"
