"""Iterators that methods begin anew, of the object whose constructor makes them.

`sess.run(self.train_init)`, where the constructor has `self.train_init = train_init` of
`iterator.make_initializer(train_data)`: the object keeps the dataset in its place, and the
iterator.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.host_objects import (
    Dataset,
    Iterator,
    IteratorStart,
)
from migrate_mgpu.models.front.session.iterators import IteratorReader
from migrate_mgpu.models.front.session.origins import Export, Whole, exports
from migrate_mgpu.models.front.session.program import GraphClient
from migrate_mgpu.models.front.session.state import Reading, StatementReader


class KeptIteratorReader(StatementReader):
    """Reads the statements of methods that begin an iterator of the object."""

    def __init__(self, state: Reading, iterators: IteratorReader) -> None:
        super().__init__(state)
        self.iterators = iterators
        self._exports: list[Export] | None = None

    def begins(self, client: GraphClient, statement: ast.stmt) -> bool:
        """Whether a statement begins an iterator of the object, and no more.

        One that begins some among other things is told of these, and stays.

        Raises:
            Refused: the object can keep neither the iterator nor its dataset.
        """
        if self.scope.owner is None:
            return False
        own = self.names.scopes[client.node]
        begun = [
            one
            for one in walk(statement)
            if isinstance(one, ast.Expr) and self.names.scope_at(one) is own
            if self._begins(client, one)
        ]
        return statement in begun

    def _begins(self, client: GraphClient, statement: ast.Expr) -> bool:
        call = statement.value
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
            return False
        if func.attr != "run" or len(call.args) != 1 or call.keywords:
            return False
        start = self.iterators.started_by(call.args[0])
        if start is None or not self.runs.is_session(func.value):
            return False
        holder = self._holder(client, call.args[0])
        if not holder or start.iterator.each or self.scope.towers is not None:
            text = "an iterator is initialized by what is not seen to have it"
            raise Refused(self.module, statement, text, "initialize it in a method of its object")
        self._keeps(start.iterator.name, call)
        source = start.source
        if isinstance(source, ast.Name):
            self._keeps(source.id, call)
            self._keeps(ast.unparse(start.iterator.source), call)  # which steps are traced with
        elif not self._is_given(source):
            text = "an iterator begins anew, and its dataset has no name"
            raise Refused(self.module, statement, text, "give the dataset a name")
        self.found.restarts[statement] = IteratorStart(start.iterator, source, holder)
        self.runs.assigned.add(call)
        self.runs.known |= {*walk(call)}
        return True

    def _holder(self, client: GraphClient, node: ast.expr) -> str:
        """The object: `self`, of the method that begins it, or `model` of `model.train_init`."""
        for part in walk(node):
            if isinstance(part, ast.Name) and self.origins.of(part) is Whole.OBJECT:
                return part.id
        method = client.node
        own = isinstance(method, ast.FunctionDef) and (
            self.names.parents.get(method) is self.scope.owner
        )
        if not own or not isinstance(method, ast.FunctionDef) or method.decorator_list:
            return ""
        return method.args.args[0].arg if method.args.args else ""

    def _is_given(self, source: ast.expr) -> bool:
        """Whether a dataset is an attribute in which the constructor keeps what it is given."""
        return isinstance(source, ast.Attribute) and source.attr in self.origins.given

    def _keeps(self, name: str, node: ast.AST) -> None:
        """The object has what its constructor has a name for, or is to have it by that name.

        Raises:
            Refused: an attribute of that name is something else.
        """
        if name in self.found.attributes:
            return
        if self._exports is None:
            self._exports = exports(self.scope, self.origins.given)
        meanings = [(one, self.runs.meaning(one.value)) for one in self._exports]
        for one, meaning in meanings:
            if isinstance(meaning, (Dataset, Iterator)) and ast.unparse(one.value) == name:
                self.found.attributes[name] = one.target.attr
                return
        kinds = (Dataset, Iterator, IteratorStart)
        place = next(
            (one.statement for one, meaning in meanings if isinstance(meaning, kinds)), None
        )
        taken = (
            one
            for one in self.names.attributes.get(name, ())
            if not self.origins.is_of_another(self.module, one)
        )
        if place is None or any(taken):
            text = f"`{name}`, which a method begins an iterator by, is no attribute of its object"
            raise Refused(self.module, node, text, f"keep it: `self.{name} = {name}`")
        self.found.kept.setdefault(place, []).append(name)
        self.found.attributes[name] = name
