"""When the functions that make a program's sessions run, one after the other.

In TF2 there is one value of each variable: the session that gives first values must be the first,
and must be made once; others begin with a checkpoint's, and are no part of each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.arms import are_arms
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, position, walk
from migrate_mgpu.models.front.session.origins import method_calls
from migrate_mgpu.models.front.session.scope import Home, Maker, runs_in_line
from migrate_mgpu.models.front.session.state import StatementReader

_ADVICE = "restore a checkpoint first, in the session that comes later"


class SessionOrder(StatementReader):
    """Checks it, before anything is known of what the sessions run."""

    _first: Sequence[tuple[Module, ast.AST]] = ()

    def check(self) -> None:
        """Each session has the values in TF2 that it had in TF1.

        Raises:
            Refused: that is not seen.
        """
        first = self.scope.session_node
        if not self.runs_once(self.scope.session):
            text = "its session may be made more than once, each with its own values"
            raise Refused(self.module, self.scope.session, text)
        if not self.scope.apart:
            return
        for node in self.scope.holders:
            others = {one for one in self.scope.holders if one is not node}
            inside: ast.AST = node
            if isinstance(node, ast.Module):
                makers = (self.scope.maker, *self.scope.apart)
                inside = next(one for one in makers if self._holder(one) is node)
            call = self._reaches(inside, others, set())
            if call is not None:
                text = "a session may be made within another one, each with its own values"
                raise Refused(self.module, call, text)
        self._first = self._way(first)
        for block in self.scope.apart:
            if self.is_alone(block):
                continue
            node = self._holder(block)
            calls: list[tuple[Module, ast.AST]] | None = [(self.module, block)]
            if isinstance(node, ast.FunctionDef):
                calls = self._calls(node)
            later = calls is not None and all(self._is_later(*one, {node}) for one in calls)
            if not later:
                text = "this session may begin before the one that gives the variables their values"
                raise Refused(self.module, block, text, _ADVICE)

    def runs_once(self, node: ast.AST) -> bool:
        """Whether the code at a node of the module runs at most once, for each graph."""
        around = self.scope.session_node
        if self.scope.own and self.scope.owner is not None and isinstance(around, ast.FunctionDef):
            if runs_in_line(self.module, node, around):
                return True
            if not self._runs_once(self.module, around.body[0]):
                return False  # there may be several objects
        return self._runs_once(self.module, node)

    def comes_later(self, first: ast.AST, node: ast.AST) -> bool:
        """Whether what runs once has run wherever a node is reached, or never does then."""
        kept, way = self._first, self._way(_around(self.module, first))
        self._first = [(self.module, first), *way]
        later = self._is_later(self.module, node, set())
        self._first = kept
        return later

    def comes_later_or_never(self, first: ast.AST, node: ast.AST) -> bool:
        """The same, for each call of the function that has a node: or only one of both runs."""
        if self.comes_later(first, node):
            return True
        around = _around(self.module, node)
        calls = self._calls(around) if isinstance(around, ast.FunctionDef) else None
        return bool(calls) and all(
            module is self.module and (self.comes_later(first, call) or self.are_apart(call, first))
            for module, call in calls or ()
        )

    def are_apart(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether a process that comes to one of two nodes never comes to the other.

        The functions that have them are called in arms of a condition that it meets once.
        """
        own, others = self._ways_to(one), self._ways_to(other)
        return all(
            any(
                module is there and are_arms(module, call, node) and self._runs_once(module, call)
                for module, call in way
                for there, node in second
            )
            for way in own
            for second in others
        )

    def _ways_to(self, node: ast.AST) -> list[list[tuple[Module, ast.AST]]]:
        """The call of the function that has a node, and so on, for each call."""
        around = _around(self.module, node)
        calls = self._calls(around) if isinstance(around, ast.FunctionDef) else []
        return [[one, *self._way_on(*one)] for one in calls or ()] or [[(self.module, node)]]

    def _way_on(self, module: Module, call: ast.AST) -> list[tuple[Module, ast.AST]]:
        around = _around(module, call)
        return self._way(around, module)

    def is_alone(self, maker: Maker) -> bool:
        """Whether the process makes no other session where a statement makes one."""
        if maker not in self.scope.apart or not self.runs_once(maker):
            return False
        others = [one for one in (self.scope.maker, *self.scope.apart) if one is not maker]
        return all(
            any(
                module is other and are_arms(module, call, there)
                for module, call in own
                for other, there in way
            )
            for own in self._ways(maker)
            for one in others
            for way in self._ways(one)
        )

    def _ways(self, maker: ast.stmt) -> list[list[tuple[Module, ast.AST]]]:
        """What makes a session, the call of the function that has it, and so on, for each call."""
        node, made = self._holder(maker), (self.module, maker)
        calls = self._calls(node) if isinstance(node, ast.FunctionDef) else []
        return [[made, one, *self._way(_around(*one))] for one in calls or ()] or [[made]]

    def _holder(self, maker: ast.stmt) -> Home:
        """The function, or the module, that makes a session."""
        return next(one for one in self.names.ancestors(maker) if one in self.scope.holders)

    # -- calls of functions and methods ------------------------------------------------

    def _calls(
        self, node: ast.FunctionDef, module: Module | None = None
    ) -> list[tuple[Module, ast.AST]] | None:
        """The calls of a function, or of a method; None where it may be called in another way."""
        function = Function(module or self.module, node)
        if function.owner is None or node.name == "__init__":
            found = self.graph.references(function)
            if any(one.call is None for one in found):
                return None
            return [(one.module, one.node) for one in found]
        calls = method_calls(self.graph, function.owner, node.name)
        return None if calls is None else list(calls)

    def _runs_once(self, module: Module, node: ast.AST) -> bool:
        """Whether the code at a node runs at most once, where a method may have it."""
        method = next(
            (p for p in module.names.ancestors(node) if isinstance(p, ast.FunctionDef)), None
        )
        owned = method is not None and isinstance(module.names.parents.get(method), ast.ClassDef)
        if method is None or not owned or method.name == "__init__":
            return self.graph.runs_once(module, node)
        child = node
        for parent in module.names.ancestors(node):
            if isinstance(parent, (ast.For, ast.While)) and child in parent.body:
                return False
            if isinstance(parent, (ast.Lambda, ast.comprehension, *COMPREHENSIONS)):
                return False
            if parent is method:
                break
            child = parent
        calls = self._calls(method, module)
        if not calls or not self.graph.one_runs(calls):
            return False
        return all(
            method not in other.names.ancestors(call) and self._runs_once(other, call)
            for other, call in calls
        )

    def _way(self, node: Home, home: Module | None = None) -> list[tuple[Module, ast.AST]]:
        """The one call of a function that runs once, that of the function around it, and so on."""
        found: list[tuple[Module, ast.AST]] = []
        module = home or self.module
        while isinstance(node, ast.FunctionDef):
            calls = self._calls(node, module)
            if calls is None or len(calls) != 1:
                break  # what the module runs by other means
            module, call = calls[0]
            found.append((module, call))
            node = _around(module, call)
        return found

    def _is_later(self, module: Module, node: ast.AST, seen: set[ast.AST]) -> bool:
        """Whether a call comes behind the first session's, wherever it may be reached from."""
        for other, call in self._first:
            if other is module:
                if _is_instead(module, call, node):
                    return True
                behind = _is_behind(module, call, node)
                if behind is not None:
                    return behind
        around = _around(module, node)
        if not isinstance(around, ast.FunctionDef) or around in seen:
            return False
        calls = self._calls(around, module)
        return calls is not None and all(self._is_later(*one, {*seen, around}) for one in calls)

    def _reaches(self, node: ast.AST, targets: set[Home], seen: set[ast.AST]) -> ast.Call | None:
        """A call in a function that reaches one of others."""
        for call in (part for part in walk(node) if isinstance(part, ast.Call)):
            target = self.origins.target(call)
            if target is None or target.module is not self.module or target.node in seen:
                continue
            seen.add(target.node)
            if target.node in targets or self._reaches(target.node, targets, seen) is not None:
                return call
        return None


def _around(module: Module, node: ast.AST) -> Home:
    """The function, or the module, that a node is a part of."""
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.FunctionDef):
            return parent
    return module.tree


def _is_instead(module: Module, first: ast.AST, node: ast.AST) -> bool:
    """Whether a node runs where another one does not; what a `try:` began may have run as well."""
    if not module.names.exclusive(first, node):
        return False
    above = {*module.names.ancestors(first)}
    common = next(one for one in module.names.ancestors(node) if one in above)
    return not isinstance(common, ast.Try) or position(first) < position(node)


def _is_behind(module: Module, first: ast.AST, node: ast.AST) -> bool | None:
    """Whether a node stands behind another one; None where no block that runs has both."""
    above = {*_inside(module, first)}
    for statement in _inside(module, node):
        if not isinstance(statement, ast.stmt):
            continue
        for other in module.names.block(statement):
            if other in above:
                return statement.lineno > other.lineno
    return None


def _inside(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """A node and what it is a part of, within its function: when that runs, its place is silent."""
    for one in (node, *module.names.ancestors(node)):
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            return
        yield one
