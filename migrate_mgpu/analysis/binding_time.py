"""When each name of a function has its value: as the model is made, or as it runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from migrate_mgpu.analysis.modes import Modes
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, walk

# What gives a name the value of an expression.
_SPREADING = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.If, ast.Expr, ast.withitem,
)  # fmt: skip


class BindingTimes:
    """The names of one function.

    ``tensors`` hold values that exist while the network runs, or depend on the mode:
    their statements belong into `call`. The others are settings: known when the model
    is made, they belong into `__init__`.
    """

    def __init__(
        self,
        statements: Iterable[ast.stmt],
        tensors: Iterable[str],
        modes: Modes,
        makes_tensors: Iterable[ast.AST],
        shapes: Collection[ast.AST] = (),
        plain: Collection[str] = (),
    ) -> None:
        """``shapes`` are mentions of tensors whose shape is asked for, as the model is made.

        ``plain`` are those of ``tensors`` that are Python's own values, chosen by the mode.
        """
        self.modes = modes
        self.plain = set(plain)
        self._shapes = set(shapes)
        self.tensors = set(tensors)
        self._makers = set(makes_tensors)
        self.assigned: set[str] = set()
        self.in_loops: set[str] = set()
        nodes = [node for statement in statements for node in walk(statement)]
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        # What a function's function does with names of its own, it does in `call`.
        self.tensors.update(function.name for function in functions)
        inside = {part for function in functions for part in walk(function)}
        nodes = [node for node in nodes if node not in inside]
        own = {  # a comprehension's names are its own
            name
            for node in nodes
            if isinstance(node, COMPREHENSIONS)
            for generator in node.generators
            for name in walk(generator.target)
        }
        self.own = own  # `_` of `[make() for _ in sizes]`, whatever another `_` is
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in own:
                self.assigned.add(node.id)
            if isinstance(node, (ast.For, ast.While)):
                for inner in walk(node):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        if inner not in own:
                            self.in_loops.add(inner.id)
        spreading = [node for node in nodes if isinstance(node, _SPREADING)]
        size = -1
        while size != len(self.tensors):
            size = len(self.tensors)
            for node in spreading:
                self._spread(node)

    def _spread(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            if node.value is not None and self.runs(node.value):
                self._assign(node)
        elif isinstance(node, ast.If) and self.runs(node.test):
            for inner in walk(node):  # which of them a name has, `call` decides
                if isinstance(inner, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                    self._assign(inner)
        elif isinstance(node, ast.For) and self.runs(node.iter):
            self._mark(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value  # layers.append(net)
            if isinstance(call.func, ast.Attribute) and any(self.runs(a) for a in call.args):
                owner = call.func.value
                if isinstance(owner, ast.Name) and owner.id in self.assigned:
                    self._mark(owner)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._mark(node.optional_vars)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self._mark(target)
            if isinstance(target, ast.Name) and self.chosen(node.value or node):
                self.plain.add(target.id)

    def _mark(self, target: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._mark(element)
            return
        while isinstance(target, (ast.Attribute, ast.Subscript, ast.Starred)):
            target = target.value
        if isinstance(target, ast.Name):
            self.tensors.add(target.id)

    def runs(self, node: ast.AST) -> bool:
        """Whether an expression has a value only while the network runs, or asks for the mode."""
        if self.modes.asks(node):
            return True
        return any(
            part in self._makers
            or (isinstance(part, ast.Name) and part.id in self.tensors and part not in self._shapes)
            for part in walk(node)
            if part not in self.own
        )

    def chosen(self, node: ast.AST) -> bool:
        """Whether an expression that runs is a value of Python's own, chosen by the mode."""
        return not any(
            part in self._makers
            or (isinstance(part, ast.Name) and part.id in self.tensors - self.plain)
            for part in walk(node)
        )

    def is_setting(self, statement: ast.stmt) -> bool:
        """Whether a simple statement only gives settings their values."""
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if not all(isinstance(name, (ast.Name, ast.Tuple)) for name in targets):
                return False
            names = {n.id for t in targets for n in walk(t) if isinstance(n, ast.Name)}
            return not names & self.tensors
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func  # sizes.append(n)
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                name = function.value.id
                return name in self.assigned and not self.runs(statement.value)
        return False
