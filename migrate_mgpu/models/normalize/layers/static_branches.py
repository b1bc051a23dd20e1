"""What Python asks of a tensor's shape where the graph is built, and the program says.

    x = tf.placeholder(tf.float32, [None, 784])
    if len(x.get_shape()) == 2:
        side = int(np.sqrt(x.get_shape().as_list()[1]))
        image = tf.reshape(x, [-1, side, side, 1])
    else:
        raise ValueError('no such input')

becomes `side = int(np.sqrt(784))` and what is made of it: no other arm can run.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator
from typing import Union

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import is_session, session_calls
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm
from migrate_mgpu.models.normalize.layers.element_shapes import At
from migrate_mgpu.models.normalize.layers.static_shapes import Shapes
from migrate_mgpu.models.normalize.layers.static_sizes import made_of, outer
from migrate_mgpu.source.source import Edit

Number = Union[int, float, bool]

_DEEP = 20
_OPERATORS: dict[type[ast.AST], Callable[..., Number]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.USub: operator.neg, ast.Not: operator.not_,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "builtins.int": int, "builtins.float": float, "builtins.abs": abs, "math.sqrt": math.sqrt,
    "numpy.sqrt": math.sqrt,
}  # fmt: skip
_OF_NUMBERS = ("numpy.", "math.")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits; none where nothing asks a shape, or none is seen."""
    text = module.source.text
    if ("get_shape" not in text and ".shape" not in text) or not session_calls(module):
        return []
    asked = _Asked(module, graph)
    for home in _homes(module):
        edits = [*asked.arms(home)] or [*asked.numbers(home)]
        if edits:
            return edits
    return []


def _homes(module: Module) -> Iterator[ast.AST]:
    """The code that runs once and has a placeholder, or a session."""
    yield module.tree
    for node in module.tree.body:
        calls = (one for one in walk(node) if isinstance(one, ast.Call))
        if isinstance(node, ast.FunctionDef) and any(
            name_of(module, one) in PLACEHOLDERS or is_session(module, one) for one in calls
        ):
            yield node


class _Asked:
    """The numbers of shapes that a module's code asks for."""

    def __init__(self, module: Module, graph: CallGraph) -> None:
        self.module = module
        self.names = module.names
        self.shapes = Shapes(module, graph)
        self.found = False  # whether a shape was asked for

    def arms(self, home: ast.AST) -> Iterator[Edit]:
        """The arms that run, of conditions that ask a shape."""
        settled: set[ast.AST] = set()
        for node in self._of(home):
            if isinstance(node, ast.If) and not is_inside(self.module, node, settled):
                self.found = False
                value = self._number(node.test, 0)
                edit = taken_arm(self.module, node, bool(value)) if value is not None else None
                if edit is not None and self.found:
                    settled.add(node)
                    yield edit

    def numbers(self, home: ast.AST) -> Iterator[Edit]:
        """The numbers in place of what is asked, where NumPy or Python compute with it."""
        for node in self._of(home):
            if not isinstance(node, ast.Subscript) or not self._is_given(node):
                continue
            number = self.shapes.asked(At(self.module, node, {}))
            if number is not None:
                yield Edit(*self.module.source.span(outer(self.module, node)), str(number))

    def _of(self, home: ast.AST) -> Iterator[ast.AST]:
        """The parts of a scope's own code."""
        scope = self.names.scopes[home]
        nodes = home.body if isinstance(home, (ast.Module, ast.FunctionDef)) else []
        for node in (part for one in nodes for part in walk(one)):
            if self.names.scope_at(node) is scope:
                yield node

    def _is_given(self, node: ast.expr) -> bool:
        """Whether a number is asked for by a function of NumPy's, or by a condition."""
        around: ast.AST | None = outer(self.module, node)
        while isinstance(around := self.names.parents.get(around or node), ast.expr):
            if isinstance(around, ast.Call):
                name = self.names.qualname(around.func) or ""
                return name.startswith(_OF_NUMBERS) and not name.startswith("numpy.random")
            if isinstance(around, ast.Compare):
                return True
        return False

    def _number(self, node: ast.expr, deep: int) -> Number | None:
        """What an expression is, of numbers and of a tensor's shape."""
        value = constant(node)
        if isinstance(value, (int, float)):
            return value
        if deep > _DEEP:
            return None
        if isinstance(node, ast.Name):
            made = made_of(self.module, node)
            return self._number(made, deep + 1) if made is not None else None
        if isinstance(node, ast.Subscript):
            return self._seen(self.shapes.asked(At(self.module, node, {})))
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, deep)
        if isinstance(node, ast.Call):
            return self._of_call(node, deep)
        if isinstance(node, ast.BinOp):
            return self._computed(node.op, deep, node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            return self._computed(node.op, deep, node.operand)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._computed(node.ops[0], deep, node.left, *node.comparators)
        return None

    def _seen(self, number: int | None) -> int | None:
        self.found = self.found or number is not None
        return number

    def _of_attribute(self, node: ast.Attribute, deep: int) -> Number | None:
        """`x.get_shape()[1].value`, `x.shape.ndims`"""
        if node.attr == "value" and isinstance(node.value, ast.Subscript):
            return self._number(node.value, deep + 1)
        return self._rank(node.value) if node.attr in ("ndims", "rank") else None

    def _rank(self, shape: ast.expr) -> int | None:
        known = self.shapes.shape(At(self.module, shape, {}))
        return self._seen(len(known)) if known is not None else None

    def _of_call(self, call: ast.Call, deep: int) -> Number | None:
        name = self.names.qualname(call.func) or ""
        if len(call.args) != 1 or call.keywords:
            return None
        if name == "builtins.len":
            return self._rank(call.args[0])
        made = _FUNCTIONS.get(name)
        given = self._number(call.args[0], deep + 1) if made is not None else None
        try:
            return made(given) if made is not None and given is not None else None
        except (ValueError, OverflowError):
            return None

    def _computed(self, sign: ast.AST, deep: int, *nodes: ast.expr) -> Number | None:
        known = [self._number(one, deep + 1) for one in nodes]
        made = _OPERATORS.get(type(sign))
        if made is None or None in known:
            return None
        try:
            return made(*known)
        except (ZeroDivisionError, OverflowError):
            return None
