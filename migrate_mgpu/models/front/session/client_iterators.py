"""Iterators of datasets beside a graph, whose elements are fetched alone and fed to it.

    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    model = Model()
    ...
    sess.run(iterator.initializer)
    x, y = sess.run(element)

Nothing of the graph is in them: TF2 goes through the dataset where the element is fetched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator as Iterable_
from collections.abc import Sequence

from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.eager_values import EagerValueReader
from migrate_mgpu.models.front.session.host_objects import OwnIterator
from migrate_mgpu.models.front.session.iterators import IteratorReader
from migrate_mgpu.models.front.session.pipelines import SOURCES
from migrate_mgpu.models.front.session.program import GraphClient, Role
from migrate_mgpu.models.front.session.state import Reading, StatementReader

_RUN = ("fetches", "feed_dict", "options", "run_metadata")


class ClientIteratorReader(StatementReader):
    """Reads them, by the client that makes them, before its runs are read."""

    def __init__(
        self, state: Reading, iterators: IteratorReader, eager_values: EagerValueReader
    ) -> None:
        super().__init__(state)
        self.iterators = iterators
        self.eager_values = eager_values
        self.roles: dict[ast.stmt, Role] = {}

    def read(self, client: GraphClient) -> None:
        """Takes in the iterators that a client makes in its own statements."""
        if self.scope.towers is not None:
            return
        home = self.names.scopes[client.node]
        statements = [one.statement for one in client.entries if not one.opens]
        for made in statements:
            if not isinstance(made, ast.Assign) or len(made.targets) != 1:
                continue
            source = self.iterators.iterated(made.value)
            if isinstance(source, ast.Name) and isinstance(made.value, ast.Call):
                found = self._iterator(made, source, statements, home)
                if found is not None:
                    self._take(found)

    def _take(self, found: OwnIterator) -> None:
        self.found.own_iterators.append(found)
        for statement in found.datasets:
            self.roles[statement] = Role.COMPUTED
        # One that begins by itself does so where it is made.
        self.roles[found.statement] = Role.GONE if found.begins else Role.COMPUTED
        self.roles[found.drawn] = Role.GONE
        for begun in found.begins:
            self.roles[begun] = Role.HOST
            assert isinstance(begun.value, ast.Call)
            self.runs.assigned.add(begun.value)
        self.runs.assigned |= {*found.runs}
        for run in (*found.runs, *found.begins):
            self.runs.known |= {*walk(run)}

    def _iterator(
        self, made: ast.Assign, source: ast.Name, statements: Sequence[ast.stmt], home: Scope
    ) -> OwnIterator | None:
        """An iterator of a dataset that has a name; None where it is used for something else."""
        target = made.targets[0]
        if not isinstance(target, ast.Name) or self.names.only_binding(target) is None:
            return None
        if self.names.scope_of_name[target] is not home or home.outer & {target.id, source.id}:
            return None
        datasets = self._datasets(source, made, statements, home)
        if datasets is None or self.names.defining_scope("iter", home) is not None:
            return None
        drawn: list[ast.Assign] = []
        begins: list[ast.Expr] = []
        for mention in self.names.mentions(target.id, home):
            if mention is target:
                continue
            statement = self.names.statement(mention)
            if self._draws(mention, statement) and statement in statements:
                assert isinstance(statement, ast.Assign)
                drawn.append(statement)
            elif self._begins(mention, statement, home):
                assert isinstance(statement, ast.Expr)
                begins.append(statement)
            else:
                return None
        assert isinstance(made.value, ast.Call)
        initialized = "initializable" in ast.unparse(made.value.func)
        if len(drawn) != 1 or initialized != bool(begins):
            return None
        runs = self._runs(drawn[0], home)
        if not runs:
            return None
        return OwnIterator(target.id, made, source, tuple(datasets), drawn[0], tuple(begins), runs)

    def _datasets(
        self, source: ast.Name, made: ast.stmt, statements: Sequence[ast.stmt], home: Scope
    ) -> list[ast.Assign] | None:
        """The statements that make a dataset, one after the other, above its iterator."""
        if self.names.scope_of_name[source] is not home or source.id not in home.bindings:
            return None
        found: list[ast.Assign] = []
        for binding in sorted(home.bindings[source.id], key=lambda one: position(one.node)):
            statement = self.names.statement(binding.node)
            if statement not in statements or position(statement) >= position(made):
                return None
            if not isinstance(statement, ast.Assign) or statement.targets != [binding.node]:
                return None
            known = source.id if found else ""
            if not self._is_plain(statement.value, known):
                return None
            found.append(statement)
        return found

    def _is_plain(self, node: ast.expr, known: str) -> bool:
        """Whether an expression makes a dataset of Python's own values, or of one by its name."""
        own: list[ast.expr] = []

        def is_named(one: ast.expr) -> bool:
            if isinstance(one, ast.Name) and one.id == known != "":
                own.append(one)
                return True
            return False

        if not self.iterators.makes_dataset(node, is_named):
            return False
        for part in walk(node):
            if isinstance(part, (ast.Lambda, ast.NamedExpr)):
                return False  # a function may compute with the graph's variables
            name = name_of(self.module, part) if isinstance(part, ast.Call) else ""
            if name in SOURCES or (isinstance(part, ast.Call) and self._is_method(part)):
                continue
            if isinstance(part, ast.Call) and not self.eager_values.is_plain(part):
                return False
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part not in own:
                if not self.eager_values.is_python(part):
                    return False
        return True

    def _is_method(self, call: ast.Call) -> bool:
        """`dataset.batch(8)`, without a function of the program's."""
        return self.iterators.makes_dataset(call, lambda one: True) and not any(
            self.graph.target(self.module, one) is not None
            for value in (*call.args, *(keyword.value for keyword in call.keywords))
            for one in walk(value)
            if isinstance(one, (ast.Name, ast.Attribute))
        )

    def _draws(self, mention: ast.Name, statement: ast.stmt) -> bool:
        """`element = iterator.get_next()`, or `x, y = ...`"""
        attribute = self.names.parents.get(mention)
        call = self.names.parents.get(attribute) if attribute is not None else None
        return (
            isinstance(attribute, ast.Attribute)
            and attribute.attr == "get_next"
            and isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and statement.value is call
            and isinstance(call, ast.Call)
            and not call.args
            and not call.keywords
        )

    def _begins(self, mention: ast.Name, statement: ast.stmt, home: Scope) -> bool:
        """`sess.run(iterator.initializer)`, in the scope that makes the iterator."""
        attribute = self.names.parents.get(mention)
        call = statement.value if isinstance(statement, ast.Expr) else None
        return (
            isinstance(attribute, ast.Attribute)
            and attribute.attr == "initializer"
            and isinstance(call, ast.Call)
            and self._is_run(call)
            and call.args == [attribute]
            and self.names.scope_of_name[mention] is home
        )

    def _is_run(self, call: ast.Call) -> bool:
        """Whether a call is `sess.run(fetches)`, and no more is given."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "run":
            return False
        return self.runs.is_session(func.value) and by_parameter(call, _RUN).keys() == {_RUN[0]}

    def _runs(self, drawn: ast.Assign, home: Scope) -> dict[ast.Call, bool]:
        """The runs that fetch the next element; of each, whether it gives a list of its parts.

        Nothing where the element is used in another way.
        """
        target = drawn.targets[0]
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names = [one.id for one in parts if isinstance(one, ast.Name)]
        if len(names) != len(parts) or len({*names}) != len(names) or home.outer & {*names}:
            return {}
        if any(len(home.bindings[name]) != 1 for name in names):
            return {}
        found: dict[ast.Call, bool] = {}
        mentions = {one for name in names for one in self.names.mentions(name, home)}
        mentions -= {*parts}
        for call in dict.fromkeys(self._around(one) for one in mentions):
            if call is None or not self._is_run(call):
                return {}
            fetched = call.args[0] if call.args else call.keywords[0].value
            listed = isinstance(fetched, (ast.List, ast.Tuple))
            shown = fetched.elts if isinstance(fetched, (ast.List, ast.Tuple)) else [fetched]
            if [getattr(one, "id", None) for one in shown] != names:
                return {}
            if listed != (target is not parts[0]):
                return {}  # one part alone, or a list of one
            found[call] = isinstance(fetched, ast.List)
        return found

    def _around(self, node: ast.AST) -> ast.Call | None:
        return next(_calls(self.names.ancestors(node)), None)


def _calls(nodes: Iterable_[ast.AST]) -> Iterable_[ast.Call]:
    return (one for one in nodes if isinstance(one, ast.Call))
