"""Variables that a session gives values of Python's own, between steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.host_objects import Assignment
from migrate_mgpu.models.front.session.program import GRAPH, AllVariables, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader
from migrate_mgpu.models.ir import Collected, Variables

_READS = ("value", "read_value")
_KINDS = ("assign", "assign_add", "assign_sub")


class AssignmentReader:
    """Reads statements that run the assignment of a value, and nothing else."""

    def __init__(self, found: SessionProgram, runs: RunReader, expressions: Expressions) -> None:
        self.module = found.scope.module
        self.names = self.module.names
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
                self.runs.known.update(self._variables(found.value))
                for name in (found.variable, *self._turns(found.value)):
                    self.runs.known.update(self._lists(name))
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
        made = self._ran(call)
        found = self.made(made) if made is not None else None
        if found is None or self.expressions.builds(found.value):
            return None
        taken = {*self._variables(found.value)}
        if any(
            isinstance(part, ast.Name)
            and isinstance(self.runs.meaning(part), GRAPH)
            and part not in taken
            for part in walk(found.value)
        ):
            return None
        for name in (found.variable, *self._turns(found.value)):
            self._check_turn(name)
        return replaced(found, call=call, read=tuple(self._reads(found.value)))

    def _reads(self, value: ast.expr) -> Iterator[ast.Call]:
        """The calls in a value that read what a loop over a list of variables gives a name."""
        for part in walk(value):
            func = part.func if isinstance(part, ast.Call) and not part.args else None
            if isinstance(part, ast.Call) and isinstance(func, ast.Attribute) and not part.keywords:
                if func.attr in _READS and self._lists(func.value):
                    yield part

    def _variables(self, value: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
        """The variables that a value is, or is computed of: they have theirs where it stands."""
        for part in walk(value):
            if isinstance(part, (ast.Name, ast.Attribute)):
                meaning = self.runs.meaning(part)
                if isinstance(meaning, Variables) and meaning.collected is Collected.ONE:
                    yield part

    def _ran(self, call: ast.expr) -> ast.Call | None:
        """The call whose result a session is asked for, where that is all."""
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
            return None
        made: ast.expr | None = None
        if func.attr == "eval" and not call.args and not call.keywords:
            made = func.value
        elif func.attr == "run" and len(call.args) == 1 and not call.keywords:
            made = call.args[0] if self.runs.is_session(func.value) else None
        return made if isinstance(made, ast.Call) else None

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
        one = isinstance(meaning, Variables) and meaning.collected is Collected.ONE
        if not one and not self._lists(variable):
            return None
        return Assignment(made, variable, kind, value)

    def _turns(self, value: ast.expr) -> Iterator[ast.Name]:
        """The names in a value that a loop over a list of variables gives."""
        for part in walk(value):
            if isinstance(part, ast.Name) and self._lists(part):
                yield part

    def _lists(self, node: ast.expr) -> list[ast.expr]:
        """The lists of variables that a name has one of in each turn; none where it has more.

        `for p, q in zip(self.params, other.params)`
        """
        if not isinstance(node, ast.Name) or self.runs.is_home(node):
            return []
        found = [self._list_of(binding.node) for binding in self.names.bindings_of(node)]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else []

    def _list_of(self, target: ast.AST) -> ast.expr | None:
        """The list of variables that a loop gives a name the items of."""
        loop = self.names.statement(target)
        if not isinstance(loop, ast.For):
            return None
        source: ast.expr | None = loop.iter if loop.target is target else None
        pairs = isinstance(loop.iter, ast.Call) and self.names.qualname(loop.iter.func)
        if pairs == "builtins.zip" and isinstance(loop.target, ast.Tuple):
            assert isinstance(loop.iter, ast.Call)
            given = dict(zip(loop.target.elts, loop.iter.args))
            source = None if loop.iter.keywords else given.get(target)  # type: ignore[call-overload]
        meaning = self.runs.meaning(source) if source is not None else None
        if isinstance(meaning, AllVariables) and meaning.chosen:
            return source
        if not isinstance(meaning, Variables):
            return None
        several = meaning.listed or meaning.collected is Collected.ITEMS
        return source if several else None

    def _check_turn(self, name: ast.expr) -> None:
        """What a loop over variables gives a name is only assigned, and read for that.

        Raises:
            Refused: it is used in another way.
        """
        if not self._lists(name):
            return
        assert isinstance(name, ast.Name)
        for mention in self.names.mentions(name.id, self.names.scope_of_name[name]):
            statement = self.names.statement(mention)
            if isinstance(mention.ctx, ast.Load) and not self._only_assigns(statement):
                text = f"`{name.id}`, a variable of a list, is used in another way here"
                raise Refused(self.module, mention, text, "only assign it here", "listed-variable")

    def _only_assigns(self, statement: ast.stmt) -> bool:
        made = self._ran(statement.value) if isinstance(statement, ast.Expr) else None
        return made is not None and self.made(made) is not None

    def _sessions(self, call: ast.Call) -> set[ast.AST]:
        assert isinstance(call.func, ast.Attribute)
        return {call.func.value}
