"""Datasets: what makes one, at once or in a function of the author's that gives it back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.expressions import Expressions

SOURCES = ("data.Dataset.from_tensor_slices", "data.Dataset.from_tensors", "data.Dataset.range",
            "data.Dataset.zip", "data.Dataset.from_generator", "data.TFRecordDataset",
            "data.TextLineDataset", "data.FixedLengthRecordDataset")  # fmt: skip
_METHODS = ("batch", "cache", "concatenate", "filter", "flat_map", "map",
            "padded_batch", "prefetch", "repeat", "shard", "shuffle", "skip", "take")  # fmt: skip

_PLACES = ("name_scope", "device")
_CONSTANTS = ("constant", "convert_to_tensor")  # of what Python knows


def is_dataset(module: Module, node: ast.AST, is_named: Callable[[ast.expr], bool]) -> bool:
    """Whether an expression makes a dataset; ``is_named`` tells which names are one."""
    if not isinstance(node, ast.Call):
        return False
    if name_of(module, node) in SOURCES:
        return True
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in _METHODS:
        return False
    return is_named(func.value) or is_dataset(module, func.value, is_named)


def gives_dataset(module: Module, node: ast.Lambda) -> bool:
    """`lambda name: tf.data.TextLineDataset(name).skip(1)`"""
    return is_dataset(module, node.body, lambda name: False)


class PipelineFunctions:
    """Functions of the run that make a dataset and give it back."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self._known: dict[ast.AST, int] = {}

    def of(self, module: Module, node: ast.AST | None, count: int = 1) -> Function | None:
        """The function that a call reaches, if that gives back a dataset, or so many of them."""
        if not isinstance(node, ast.Call):
            return None
        target = self.expressions.graph.target(module, node.func)
        if target is None or target.owner is not None or self._given(target) != count:
            return None
        return target

    def _given(self, function: Function) -> int:
        """How many datasets a function gives back; 0 where it gives something else."""
        if function.node not in self._known:
            self._known[function.node] = 0  # of one that calls itself
            names = self._datasets(function)
            body = function.node.body if isinstance(function.node, ast.FunctionDef) else []
            returned = [one.value for one in _statements(body) if isinstance(one, ast.Return)]
            counts = {self._count(function.module, one, names) for one in returned}
            self._known[function.node] = counts.pop() if len(counts) == 1 else 0
        return self._known[function.node]

    def _count(self, module: Module, node: ast.expr | None, names: set[str]) -> int:
        several = isinstance(node, ast.Tuple) and len(node.elts) > 1
        parts = node.elts if isinstance(node, ast.Tuple) and several else [node]
        known = all(one is not None and self._is(module, one, names) for one in parts)
        return len(parts) if known else 0

    def _is(self, module: Module, node: ast.expr, names: set[str]) -> bool:
        def is_named(one: ast.expr) -> bool:
            known = isinstance(one, ast.Name) and one.id in names
            return known or self.of(module, one) is not None

        return is_named(node) or is_dataset(module, node, is_named)

    def _datasets(self, function: Function) -> set[str]:
        """The names that are datasets wherever they are assigned, in a function."""
        names: set[str] = set()
        body = function.node.body if isinstance(function.node, ast.FunctionDef) else []
        while True:
            more = {
                target.id
                for statement in body
                for one in _assignments(statement)
                for target in one.targets
                if isinstance(target, ast.Name) and self._is(function.module, one.value, names)
            }
            if more <= names:
                return names
            names |= more

    def read(self, function: Function) -> dict[ast.AST, Function]:
        """The functions that a pipeline is made by, that function among them.

        Raises:
            Refused: it does more than to make a dataset of Python's own values.
        """
        module, node = function.module, function.node
        text = f"`{function.name}` does more than make a dataset"
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            raise Refused(module, node, text)
        names = self._datasets(function)
        found: dict[ast.AST, Function] = {node: function}
        for statement in _statements(node.body):
            if isinstance(statement, ast.Assign):
                if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
                    if self.expressions.of_module(module).builds(statement.value):
                        raise Refused(module, statement, text)
                own = {n.id for n in walk(statement.targets[0]) if isinstance(n, ast.Name)}
                if not own <= names and self._touches(module, statement.value):
                    raise Refused(module, statement, text, "make it of Python's own values")
            elif isinstance(statement, ast.Expr):
                if self._touches(module, statement):
                    raise Refused(module, statement, text)
            elif isinstance(statement, ast.With) and _is_place(module, statement):
                continue
            elif not isinstance(statement, (ast.Return, ast.If, ast.FunctionDef, ast.Pass)):
                if self._touches(module, statement) or names & {
                    n.id for n in walk(statement) if isinstance(n, ast.Name)
                }:
                    raise Refused(module, statement, text)
            found.update(self._builders(module, statement))
        return found

    def _touches(self, module: Module, node: ast.AST) -> bool:
        """Whether TensorFlow makes something in a statement that is no constant of its."""
        return any(
            name not in ("", *_CONSTANTS) and not name.startswith(SETTINGS)
            for part in walk(node)
            if isinstance(part, ast.Call)
            for name in [name_of(module, part)]
        ) or any(self._is_function(module, one) for one in walk(node) if isinstance(one, ast.Call))

    def _is_function(self, module: Module, call: ast.Call) -> bool:
        target = self.expressions.graph.target(module, call.func)
        return target is not None and self.expressions.touches_graph(target)

    def _builders(self, module: Module, statement: ast.stmt) -> dict[ast.AST, Function]:
        """What the functions that a statement mentions compute with.

        Raises:
            Refused: one does more.
        """
        if isinstance(statement, (ast.If, ast.FunctionDef)):
            return {}
        found: dict[ast.AST, Function] = {}
        for part in walk(statement):
            if isinstance(part, ast.Lambda) and not gives_dataset(module, part):
                found.update(self.expressions.of_module(module).read(part).builders)
            elif isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                target = self.expressions.graph.target(module, part)
                if target is None or not self.expressions.touches_graph(target):
                    continue
                if self._given(target):
                    found.update(self.read(target))
                    continue
                inside = self.expressions.of_module(module).of_function(target)
                found.update(inside.builders)
                plain = isinstance(module.names.parents[target.node], ast.Module)
                found.update({target.node: target} if plain else {})
        return found


def _statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Statements, and those in their branches and blocks."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from _statements([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.With):
            yield from _statements(statement.body)


def _is_place(module: Module, block: ast.With) -> bool:
    """`with tf.name_scope("input"):`, which says nothing of a dataset; TF2 has it too."""
    return all(
        item.optional_vars is None and name_of(module, item.context_expr) in _PLACES
        for item in block.items
    )


def _assignments(statement: ast.stmt) -> Iterable[ast.Assign]:
    return (one for one in _statements([statement]) if isinstance(one, ast.Assign))
