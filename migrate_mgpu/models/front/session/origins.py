"""What parts of a graph, and its session, are called outside of the scope that builds it.

A name of that scope is known in functions within it; besides, what the scope returns has names
where it is called, and what a function is given has those of its parameters.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from typing import Union

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.scope import SessionScope


class Whole(enum.Enum):
    """What is no single part of a graph."""

    SESSION = enum.auto()
    RETURNED = enum.auto()  # all that the scope returns


@record(frozen=True)
class Named:
    """A name of the scope that builds the graph."""

    name: str


Origin = Union[Whole, Named]


class Origins:
    """Follows expressions to names of the scope that builds, or to the session."""

    def __init__(self, graph: CallGraph, scope: SessionScope) -> None:
        self.module = scope.module
        self.names = scope.module.names
        self.graph = graph
        self.scope = scope
        self.home = self.names.scopes[scope.node]
        self.session_home = self.names.scopes[scope.session_node]
        self.exported = _exported(scope)
        self._parameters: dict[tuple[ast.AST, str], Origin | None] = {}

    def of(self, node: ast.expr) -> Origin | None:
        """What an expression stands for; None where that is neither of both."""
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript) and self.of(node.value) is Whole.RETURNED:
            return self._export(constant(node.slice))
        if isinstance(node, ast.Call):
            target = self.graph.target(self.module, node.func)
            if target is not None and target.node is self.scope.node:
                one = self.exported.get(None)
                return self.of(one) if one is not None else Whole.RETURNED
        return None

    def _export(self, key: object) -> Origin | None:
        found = self.exported.get(key) if isinstance(key, (int, str)) else None
        return self.of(found) if found is not None else None

    def _name(self, node: ast.Name) -> Origin | None:
        scope = self.names.scope_of_name.get(node)
        home = self.names.defining_scope(node.id, scope) if scope is not None else None
        if home is None:
            return None
        if home is self.session_home and node.id == self.scope.name:
            return Whole.SESSION
        if home is self.home:
            return Named(node.id)
        bindings = home.bindings[node.id]
        if len(bindings) != 1:
            return None
        if bindings[0].kind == "parameter":
            return self._parameter(home, node.id)
        value = bindings[0].value
        if value is not None:
            return self.of(value)
        return self._unpacked(bindings[0].node)

    def _unpacked(self, node: ast.AST) -> Origin | None:
        """One of the names of ``x, y = build()``."""
        statement = self.names.statement(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, (ast.Tuple, ast.List)) or node not in target.elts:
            return None
        if isinstance(statement.value, (ast.Tuple, ast.List)):
            if len(statement.value.elts) == len(target.elts):
                return self.of(statement.value.elts[target.elts.index(node)])
            return None
        if self.of(statement.value) is not Whole.RETURNED:
            return None
        return self._export(target.elts.index(node))

    def _parameter(self, home: Scope, name: str) -> Origin | None:
        """What a parameter is in every call of its function."""
        key = home.node, name
        if key not in self._parameters:
            self._parameters[key] = None  # ends recursion
            found = {self.of(value) if value is not None else None for value in self._given(*key)}
            self._parameters[key] = found.pop() if len(found) == 1 else None
        return self._parameters[key]

    def _given(self, function: ast.AST, name: str) -> Iterator[ast.expr | None]:
        if not isinstance(function, ast.FunctionDef):
            return
        known = Function(self.module, function)
        for reference in self.graph.references(known):
            if reference.call is None or reference.module is not self.module:
                yield None
            else:
                yield given(known, reference.call).get(name)

    # -- functions ------------------------------------------------------------------

    def runs(self, function: Function, seen: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function, or one that it calls, runs something in the session."""
        if function.module is not self.module or function.node in seen:
            return False
        for call in (n for n in walk(function.node) if isinstance(n, ast.Call)):
            if call is self.scope.session:
                return True
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("run", "eval"):
                if call.func.attr == "eval" or self.of(call.func.value) is Whole.SESSION:
                    return True
            target = self.graph.target(self.module, call.func)
            if target is not None and self.runs(target, seen | {function.node}):
                return True
        return False


def given(function: Function, call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives a function's parameters, by their names; nothing where that is unclear."""
    parameters = function.parameters()
    if any(isinstance(a, ast.Starred) for a in call.args) or len(call.args) > len(parameters):
        return {}
    if any(keyword.arg is None for keyword in call.keywords):
        return {}
    found = dict(zip(parameters, call.args))
    found.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    return found


def _exported(scope: SessionScope) -> dict[object, ast.expr]:
    """What the scope that builds returns at its end: by index or by key, or all of it (None)."""
    last = scope.entries[-1].statement if scope.entries else None
    value = last.value if isinstance(last, ast.Return) else None
    if isinstance(value, (ast.Tuple, ast.List)):
        return dict(enumerate(value.elts))
    if isinstance(value, ast.Dict):
        keys = [constant(key) for key in value.keys]
        return dict(zip(keys, value.values)) if all(isinstance(k, str) for k in keys) else {}
    return {None: value} if value is not None else {}
