"""Variables that a session gives values of Python's own, between steps."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.host_objects import Assignment
from migrate_mgpu.models.front.session.program import GRAPH, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.ir import Collected, Variables

_KINDS = ("assign", "assign_add", "assign_sub")


class AssignmentReader:
    """Reads statements that run the assignment of a value, and nothing else."""

    def __init__(self, found: SessionProgram, runs: RunReader, expressions: Expressions) -> None:
        self.module = found.scope.module
        self.found = found
        self.runs = runs
        self.expressions = expressions
        self._early: list[ast.Call] = []  # in functions that stand above what initializes

    def read(self, statement: ast.stmt) -> None:
        """Reads the assignments in a statement, and explains the names in them.

        Raises:
            Refused: one comes before the variables have their first values.
        """
        for part in walk(statement):
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
                found = self._assignment(part.value)
                if found is None or found.call in self.runs.assigned:
                    continue
                if not self.runs.initialized:
                    if self.runs.is_home(found.call):
                        raise self._refused(found.call)
                    self._early.append(found.call)
                self.runs.assigned.add(found.call)
                self.runs.known |= {found.variable, *self._sessions(found.call)}
                self.found.assignments.append(found)

    def finish(self) -> None:
        """What assigns runs behind what initializes, wherever it stands.

        Raises:
            Refused: TF1 may have given a variable its first value after that.
        """
        begun = self.runs.begun
        for call in self._early:
            if begun is None or not self.runs.comes_later(begun, call):
                raise self._refused(call)

    def _refused(self, call: ast.Call) -> Refused:
        return Refused(self.module, call, "a variable is assigned before it is initialized")

    def _assignment(self, call: ast.Call) -> Assignment | None:
        func = call.func
        if not isinstance(func, ast.Attribute):
            return None
        made: ast.expr | None = None
        if func.attr == "eval" and not call.args and not call.keywords:
            made = func.value
        elif func.attr == "run" and len(call.args) == 1 and not call.keywords:
            made = call.args[0] if self.runs.is_session(func.value) else None
        found = self.made(made) if isinstance(made, ast.Call) else None
        if found is None or self.expressions.builds(found.value):
            return None
        if any(
            isinstance(part, ast.Name) and isinstance(self.runs.meaning(part), GRAPH)
            for part in walk(found.value)
        ):
            return None
        return replaced(found, call=call)

    def made(self, made: ast.Call) -> Assignment | None:
        """`tf.assign(rate, 0.1)`, `rate.assign(0.1)`: of a variable with a name of its own."""
        if made.keywords:
            return None
        variable: ast.expr | None = None
        value: ast.expr | None = None
        kind = name_of(self.module, made)
        if kind in _KINDS and len(made.args) == 2:
            variable, value = made.args
        elif isinstance(made.func, ast.Attribute) and made.func.attr in _KINDS:
            kind = made.func.attr
            if len(made.args) == 1:
                variable, value = made.func.value, made.args[0]
        if not isinstance(variable, (ast.Name, ast.Attribute)) or value is None:
            return None
        meaning = self.runs.meaning(variable)
        if not isinstance(meaning, Variables) or meaning.collected is not Collected.ONE:
            return None
        return Assignment(made, variable, kind, value)

    def _sessions(self, call: ast.Call) -> set[ast.AST]:
        assert isinstance(call.func, ast.Attribute)
        return {call.func.value}
