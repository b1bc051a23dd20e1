"""The dimensions of what a dataset gives, where its last steps say them.

    dataset = dataset.map(read_image).shuffle(100)
    dataset = dataset.batch(128, drop_remainder=True)
    images, labels = dataset.make_one_shot_iterator().get_next()

`images` has 128 times the dimensions of the first value that `read_image` returns.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Optional, Protocol

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record

# What gives the same elements, or some of them.
_ALIKE = ("cache", "filter", "prefetch", "repeat", "shard", "shuffle", "skip", "take")
_ITERATORS = ("make_initializable_iterator", "make_one_shot_iterator")

Dimensions = list[Optional[int]]
Parts = list[Optional[Dimensions]]


@record(frozen=True, eq=False)
class At:
    """An expression, and what the parameters of the function around it are given."""

    module: Module
    node: ast.expr
    given: Mapping[str, At]

    def part(self, node: ast.expr) -> At:
        """Another expression of the same function."""
        return At(self.module, node, self.given)


class Tensors(Protocol):
    """What knows the dimensions of tensors."""

    graph: CallGraph
    entered: bool
    deepest: int

    def only_value(self, at: At) -> At | None: ...

    def returned(self, at: At, call: ast.Call) -> At | None: ...

    def number(self, at: At) -> int | None: ...

    def inside(self, function: Function, node: ast.expr, deep: int) -> Dimensions | None: ...


class Elements:
    """What datasets and their iterators give; ``shapes`` knows the tensors."""

    def __init__(self, shapes: Tensors) -> None:
        self.shapes = shapes

    def drawn(self, at: At, name: ast.Name, deep: int) -> Dimensions | None:
        """What a name is of `images, labels = iterator.get_next()`."""
        names = at.module.names
        binding = names.only_binding(name)
        if binding is None:
            return None
        target = names.parents[binding.node]
        statement = names.parents[target] if isinstance(target, ast.Tuple) else target
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            return None
        call = statement.value
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(func, ast.Attribute) or func.attr != "get_next":
            return None
        parts = self._of(at.part(func.value), deep)
        if parts is None:
            return None
        if not isinstance(target, ast.Tuple):
            return parts[0] if len(parts) == 1 else None
        if len(parts) != len(target.elts):
            return None
        return next((d for one, d in zip(target.elts, parts) if one is binding.node), None)

    def _of(self, at: At, deep: int) -> Parts | None:
        """The dimensions of an element's parts."""
        if deep > self.shapes.deepest:
            return None
        if isinstance(at.node, ast.Name):
            made = self.shapes.only_value(at)
            return self._of(made, deep + 1) if made is not None else None
        call = at.node
        if not isinstance(call, ast.Call):
            return None
        func = call.func
        if isinstance(func, ast.Attribute) and not name_of(at.module, call):
            if self.shapes.graph.target(at.module, func) is None:
                return self._of_method(at, call, func, deep)
        inside = self.shapes.returned(at, call)
        return self._of(inside, deep + 1) if inside is not None else None

    def _of_method(self, at: At, call: ast.Call, func: ast.Attribute, deep: int) -> Parts | None:
        if func.attr in _ALIKE or func.attr in _ITERATORS:
            return self._of(at.part(func.value), deep + 1)
        if func.attr == "map":
            mapped = by_parameter(call, ("map_func", "num_parallel_calls")).get("map_func")
            return self._mapped(at, mapped, deep) if mapped is not None else None
        if func.attr == "batch":
            told = by_parameter(call, ("batch_size", "drop_remainder"))
            parts, size = self._of(at.part(func.value), deep + 1), told.get("batch_size")
            if parts is None or size is None or len(told) != len(call.args) + len(call.keywords):
                return None
            whole = constant(told.get("drop_remainder")) is True
            number = self.shapes.number(at.part(size)) if whole else None
            return [None if part is None else [number, *part] for part in parts]
        return None

    def _mapped(self, at: At, function: ast.expr, deep: int) -> Parts | None:
        """What a function returns at its only end."""
        target = self.shapes.graph.target(at.module, function)
        if target is None or not isinstance(target.node, ast.FunctionDef):
            return None
        if target.node.decorator_list:
            return None
        ends = [one for one in walk(target.node) if isinstance(one, ast.Return)]
        value = ends[0].value if len(ends) == 1 and ends[0] is target.node.body[-1] else None
        if value is None:
            return None
        elements = value.elts if isinstance(value, ast.Tuple) else [value]
        if any(isinstance(one, (ast.Starred, ast.Dict, ast.List)) for one in elements):
            return None
        self.shapes.entered = True
        return [self._element(target, one, deep) for one in elements]

    def _element(self, function: Function, node: ast.expr, deep: int) -> Dimensions | None:
        return self.shapes.inside(function, node, deep + 1)
