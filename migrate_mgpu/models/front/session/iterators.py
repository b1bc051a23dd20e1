"""Datasets of a session's program, and the iterators that its steps draw from."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import Expressions
from migrate_mgpu.models.front.session.host_objects import Dataset, Iterator
from migrate_mgpu.models.front.session.program import GRAPH, SessionProgram
from migrate_mgpu.models.front.session.runs import RunReader

_SOURCES = ("data.Dataset.from_tensor_slices", "data.Dataset.from_tensors", "data.Dataset.range",
            "data.Dataset.zip")  # fmt: skip
_METHODS = ("batch", "cache", "concatenate", "filter", "map", "prefetch", "repeat", "shard",
            "shuffle", "skip", "take")  # fmt: skip
_MAKERS = ("make_one_shot_iterator", "make_initializable_iterator")


class IteratorReader:
    """Reads datasets of Python's own arrays, iterators that begin once, and what they give."""

    def __init__(self, found: SessionProgram, runs: RunReader, expressions: Expressions) -> None:
        self.module = found.scope.module
        self.found = found
        self.runs = runs
        self.expressions = expressions
        self._started: dict[Iterator, ast.stmt] = {}

    # -- datasets --------------------------------------------------------------------

    def made(self, statement: ast.Assign, target: ast.Name) -> Dataset | Iterator | None:
        """A dataset or an iterator that an assignment makes; None where it is another one.

        Raises:
            Refused: it is made in a way that is not understood.
        """
        value = statement.value
        if self._is_dataset(value):
            self._check(value)
            made = Dataset(target.id, statement)
            self.found.datasets.append(made)
            return made
        source = self._iterated(value)
        if source is None:
            return None
        if not self._is_dataset(source) and not self._is_named(source):
            raise Refused(self.module, source, "this cannot be recognized as a dataset")
        self._check(source)
        assert isinstance(value, ast.Call)
        again = "initializable" in ast.unparse(value.func)
        iterator = Iterator(target.id, statement, source, again)
        self.found.iterators.append(iterator)
        return iterator

    def _is_named(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self.runs.meaning(node), Dataset)

    def _is_dataset(self, node: ast.expr) -> bool:
        """Whether an expression makes a dataset."""
        if not isinstance(node, ast.Call):
            return False
        if name_of(self.module, node) in _SOURCES:
            return True
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in _METHODS:
            return False
        return self._is_named(func.value) or self._is_dataset(func.value)

    def _iterated(self, node: ast.expr) -> ast.expr | None:
        """What an iterator goes through."""
        if not isinstance(node, ast.Call):
            return None
        if name_of(self.module, node) in [f"data.{maker}" for maker in _MAKERS]:
            return node.args[0] if len(node.args) == 1 and not node.keywords else None
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _MAKERS:
            if not node.args and not node.keywords:
                return func.value
        return None

    def _check(self, node: ast.expr) -> None:
        """A dataset is made of Python's own values, and of functions that only compute."""
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                meaning = self.runs.meaning(part)
                if isinstance(meaning, GRAPH):
                    text = f"a dataset is made of `{part.id}`, a part of the graph"
                    raise Refused(self.module, part, text, "make it of the arrays themselves")
                if isinstance(meaning, Dataset):
                    self.runs.known.add(part)
                target = self.expressions.graph.target(self.module, part)
                if target is not None and self.expressions.touches_graph(target):
                    self.expressions.of_function(target)
                    self.found.builders[target.node] = target
            elif isinstance(part, ast.Lambda):
                self.found.builders.update(self.expressions.read(part).builders)

    # -- what steps draw ---------------------------------------------------------------

    def draws(self, node: ast.expr) -> bool:
        """Whether an expression is the next element of an iterator, of which it is told then.

        Raises:
            Refused: it is drawn in a way that is not understood.
        """
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr != "get_next":
            return False
        receiver = node.func.value
        if not isinstance(receiver, ast.Name):
            text = "the iterator that this comes from has no name"
            raise Refused(self.module, receiver, text, "give it one")
        if not isinstance(self.runs.meaning(receiver), Iterator):
            return False
        if node.args or node.keywords:
            raise Refused(self.module, node, "the arguments of `get_next` cannot be analyzed")
        if self.found.layers and self.found.scope.towers is None:
            raise Refused(self.module, node, "layers are fed by an iterator")
        self.runs.known.add(receiver)
        return True

    def begins(self, statement: ast.stmt) -> bool:
        """Whether a statement begins an iterator: `sess.run(iterator.initializer)`.

        Raises:
            Refused: it may begin anew.
        """
        found = [
            node
            for node in walk(statement)
            if isinstance(node, ast.Attribute)
            and node.attr == "initializer"
            and isinstance(node.value, ast.Name)
            and isinstance(self.runs.meaning(node.value), Iterator)
        ]
        if not found:
            return False
        call = statement.value if isinstance(statement, ast.Expr) else None
        node = found[0]
        if not isinstance(call, ast.Call) or call.args != [node] or call.keywords:
            text = "an iterator may be initialized more than once, or with fed values"
            raise Refused(self.module, node, text, "initialize it once, before the first step")
        func = call.func
        if not isinstance(func, ast.Attribute) or not self.runs.is_session(func.value):
            raise Refused(
                self.module, node, "how this iterator is initialized cannot be determined"
            )
        assert isinstance(node.value, ast.Name)
        iterator = self.runs.meaning(node.value)
        assert isinstance(iterator, Iterator)
        if self.found.runs or iterator in self._started or not self.runs.is_home(statement):
            text = "an iterator is initialized after something has run"
            raise Refused(self.module, node, text, "initialize it once, before the first step")
        self._started[iterator] = statement
        self.runs.known |= set(walk(statement))
        return True
