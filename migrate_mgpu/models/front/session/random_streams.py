"""Operations with a state of their own, which in TF1 is one, whatever runs them.

Random ones with seeds have a stream each; `tf.Print` counts what it has shown.

In a `tf.function` such an operation gives TF1's numbers, one after the other. It has a stream in
each function that it stands in, so that all runs which compute it must be of one step.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.api.graph import PRINTS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.program import is_late
from migrate_mgpu.models.front.session.scope import Maker
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Stage, Step, Unit

GRAPH_SEEDS = ("set_random_seed", "random.set_random_seed")
_GRAPHS = ("Graph", "reset_default_graph")


class StreamReader(StatementReader):
    """Checks a program that is read to its end."""

    def check(self) -> None:
        """Each stream is one in TF2 as well, and begins with the same seeds.

        Raises:
            Refused: one is not, or does not.
        """
        seeded = [unit for unit in self._units() if unit.streams]
        for unit in seeded:
            call = unit.streams[0]
            steps = [step for step in self.found.steps if unit in step.units]
            text = "a random operation with its own seed"
            if name_of(call.module, call.node) == PRINTS:
                text = "what shows its first values"
            if len(steps) > 1:
                text = f"{text} is computed by several steps, which have one state of it in TF1"
                raise Refused(call.module, call.node, text, "run it in one step, or without that")
            noise = any(unit is one.unit for update in self.found.updates for one in update.clips)
            if unit.stage is not Stage.WHOLE or (self.scope.towers is not None and not noise):
                raise Refused(call.module, call.node, f"{text} in a tower")
            if self._in_several_sessions(steps):
                text = f"{text} is computed in several sessions, each of which begins it anew"
                raise Refused(call.module, call.node, text, "run it in one session")
            if is_late(unit) and not steps:
                raise Refused(call.module, call.node, f"{text} is computed where it is run")
        if seeded:
            self._check_graph_seeds(seeded)

    def _in_several_sessions(self, steps: list[Step]) -> bool:
        """Whether steps may run in more than one session."""
        makers = (*self.scope.again, *self.scope.apart)
        found: set[Maker | None] = set()
        first = self.scope.session_node
        for run in self.found.runs if makers else ():
            if run.step in steps:
                above = {run.call, *self.names.ancestors(run.call)}
                own = [one for one in makers if not above.isdisjoint(self.scope.inside(one))]
                begins = isinstance(first, ast.FunctionDef) and first in above
                if not own and not begins and not self.runs.is_home(run.call):
                    return True  # a function that may be called in any
                found.add(own[0] if own else None)
        return len(found) > 1

    def _units(self) -> list[Unit]:
        inside = (unit for step in self.found.steps for unit in step.units)
        return list(dict.fromkeys([*inside, *self.found.units.values()]))

    def _check_graph_seeds(self, seeded: list[Unit]) -> None:
        """The seed of the graph counts as well: it is told before, once, and of this graph."""
        beside = sorted(self.state.beside - {self.module}, key=lambda one: one.path)
        told = [
            (module, call)
            for module in (self.module, *beside)
            for name in GRAPH_SEEDS
            for call in calls_of_names(module).get(name, ())
        ]
        if not told:
            return
        module, call = told[0]
        first = min(line_of(unit.node) for unit in seeded)
        text = "it cannot be determined which random operations the seed of the graph is for"
        graphs = any(calls_of_names(self.module).get(name) for name in _GRAPHS)
        if len(told) > 1 or module is not self.module or graphs:
            raise Refused(module, call, text, "set it once, at the top of the program")
        statement = self.names.statement(call)
        before = isinstance(statement, ast.Expr) and (
            statement in self.module.tree.body
            or any(entry.statement is statement for entry in self.scope.entries)
        )
        if not before or line_of(call) > first:
            raise Refused(module, call, text, "set it at the top of the program")
