"""Conditions that are settled where a statement is reached: by what its function is given, and by
the conditions that it stands under itself.

`if labels is not None:` is settled in a function that is called with `labels=None`, and
`if is_train:` where the call's value is used under `if is_train:`, too.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from migrate_mgpu.analysis.constant_conditions import Unknown, holds
from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.scopes import Scope, walk

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Frame:
    """A function, or the module, where one of its nodes is reached.

    ``given`` are the arguments of the call that is made of it, in the frame ``caller``.
    """

    def __init__(
        self,
        names: Names,
        node: ast.AST,
        given: Mapping[str, ast.expr] | None = None,
        caller: Frame | None = None,
    ) -> None:
        self.names = names
        self.node = node
        self.given = given or {}
        self.caller = caller
        self.scope = _around(names, node)
        self._facts: dict[str, bool] = {}

    def at(self, node: ast.AST, begun: ast.AST | None = None) -> Frame:
        """The same frame where another node is reached; what holds there held at ``begun`` too."""
        found = Frame(self.names, node, self.given, self.caller)
        found._facts = found._conditions(begun or node)
        return found

    def settled(self, test: ast.expr) -> bool | None:
        """Whether a condition holds here; None where that is not known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.settled(test.operand)
            return None if inner is None else not inner
        known = holds(test, self._value)
        if known is not None:
            return known
        text, turned = _plain(test)
        if text in self._facts and self._is_stable(test):
            return self._facts[text] is not turned
        if self.caller is None:
            return None
        shown = [part for part in walk(test) if isinstance(part, ast.Name)]
        if not shown or not all(self._is_given(part.id) for part in shown):
            return None
        return self.caller.settled(_Replaced(self.given).visit(copy.deepcopy(test)))

    def _is_given(self, name: str) -> bool:
        bindings = self.scope.bindings.get(name, ())
        return [one.kind for one in bindings] == ["parameter"] and name in self.given

    def _value(self, node: ast.expr) -> object:
        """What a literal is, a name of one value, or a parameter that is given one of both."""
        if isinstance(node, ast.Constant):
            return node.value
        bindings = self.scope.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
        if not isinstance(node, ast.Name) or len(bindings) != 1:
            return Unknown
        if self._is_given(node.id):
            given = self.given[node.id]
            if isinstance(given, ast.Constant):
                return given.value
            return self.caller._value(given) if self.caller is not None else Unknown
        value = bindings[0].value
        return value.value if isinstance(value, ast.Constant) else Unknown

    def _is_stable(self, test: ast.expr) -> bool:
        """Whether a condition asks for names alone that get no other value in the function."""
        return all(
            isinstance(part, (ast.Name, ast.Constant, ast.Compare, ast.cmpop, ast.expr_context))
            and (not isinstance(part, ast.Name) or len(self.scope.bindings.get(part.id, ())) == 1)
            for part in walk(test)
        )

    def _conditions(self, begun: ast.AST) -> dict[str, bool]:
        """The conditions that hold at a node, in each turn of the loops that both nodes are in."""
        around = {*self.names.ancestors(begun)}
        found: dict[str, bool] = {}
        child: ast.AST = self.node
        for parent in self.names.ancestors(self.node):
            if parent is self.scope.node:
                break
            if isinstance(parent, _LOOPS) and parent not in around:
                found.clear()
            if isinstance(parent, ast.If) and child is not parent.test:
                for test, holding in _parts(parent.test, child in parent.body):
                    text, turned = _plain(test)
                    found.setdefault(text, holding is not turned)
            child = parent
        return found


def _around(names: Names, node: ast.AST) -> Scope:
    """The scope of the function, or of the module, that a node is in."""
    scope = names.scope_at(node)
    while scope.parent is not None and not isinstance(scope.node, ast.FunctionDef):
        scope = scope.parent
    return scope


class _Replaced(ast.NodeTransformer):
    """Writes what names are given."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.given[node.id]) if node.id in self.given else node


def _parts(test: ast.expr, holding: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What is known of the parts of a condition that holds, or does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, not holding)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holding else ast.Or):
        for one in test.values:
            yield from _parts(one, holding)
    else:
        yield test, holding


def _plain(test: ast.expr) -> tuple[str, bool]:
    """A condition as text, and whether it is the contrary of that: `a is not b`, of `a is b`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        contrary = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq}.get(type(test.ops[0]))
        if contrary is not None:
            plain = ast.Compare(test.left, [contrary()], test.comparators)
            return ast.dump(plain), True
    return ast.dump(test), False
