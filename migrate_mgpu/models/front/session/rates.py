"""Learning rates: numbers, what is fed, and what follows the steps."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS
from migrate_mgpu.models.front.optimizers import schedule_at
from migrate_mgpu.models.front.session.program import Role
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.units import UnitReader
from migrate_mgpu.models.ir import Collected, Optimizer, Placeholder, Unit, Variables


class RateReader(StatementReader):
    """Reads what the learning rates of optimizers are in a step."""

    def __init__(self, state: Reading, units: UnitReader) -> None:
        super().__init__(state)
        self.units = units
        self._inline: dict[ast.expr, Unit] = {}  # those that an optimizer's call computes

    def rate_of(self, optimizer: Optimizer) -> Placeholder | Unit | Variables | None:
        """What is fed as a learning rate, keeps it or computes it; None for a number."""
        value = optimizer.learning_rate.value
        found = self.meanings.get(value.id) if isinstance(value, ast.Name) else None
        if isinstance(found, (Placeholder, Unit)):
            return found
        if isinstance(found, Variables) and found.collected is Collected.ONE:
            return found if self.scope.towers is None else None  # not proved under a strategy
        if value is None or isinstance(value, ast.Name) or not self.units.is_graph(value):
            return None
        if value not in self._inline:
            self._inline[value] = self.units.unit(value, self.place)
        return self._inline[value]

    def by_itself(
        self,
        optimizer: Optimizer,
        rate: Placeholder | Unit | Variables | None,
        counts: Variables | None,
    ) -> bool:
        """Whether an optimizer can ask a schedule itself: it counts the same steps from zero.

        The schedule then stands where its value stood, and nothing else asks for that.
        """
        value = optimizer.learning_rate.value
        if counts is None or not isinstance(rate, Unit) or value is None:
            return False
        made = rate.node.value if isinstance(rate.node, ast.Assign) else value
        known = schedule_at(self.module, made) if isinstance(made, ast.Call) else None
        if known is None or not isinstance(known[1], ast.Name):
            return False
        if isinstance(value, ast.Name):
            mentions = self.names.mentions(value.id, self.home)
            if any(name is not value for name in mentions if isinstance(name.ctx, ast.Load)):
                return False
        counted = any(update.counts is counts for update in self.found.updates)
        if counted or self.meanings.get(known[1].id) is not counts:
            return False
        return self._from_zero(counts)

    def _from_zero(self, counts: Variables) -> bool:
        made = counts.made[0]
        first = made.arguments.get("initial_value")
        return made.kind in COUNTERS or (constant(first) == 0 and first is not None)

    def leave_to_optimizer(self, rate: Unit) -> None:
        """A schedule that its optimizer asks itself is no unit of a step."""
        made = rate.node
        if isinstance(made, ast.Assign):
            self.found.roles[rate.place] = Role.SCHEDULE
            del self.found.units[rate.place]
            assert isinstance(made.value, ast.Call)
            del self.found.schedules[made.value]
        else:
            assert isinstance(made, ast.Call)
            del self.found.schedules[made]
            self.found.own_schedules.add(made)

    def is_counter(self, node: ast.expr) -> bool:
        """Whether an expression is TF1's own global step."""
        return isinstance(node, ast.Call) and name_of(self.module, node) in COUNTERS
