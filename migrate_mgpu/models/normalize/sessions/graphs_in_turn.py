"""A script whose objects build a graph each, one behind the other: all of them, and one session.

    tf.reset_default_graph()
    sess = tf.Session()
    model = Model(0.1)
    sess.run(tf.global_variables_initializer())

stands there several times. Objects of TF2 have variables of their own, with their first values: the
later sessions are nothing, and the later objects get other names. What asks for all that a graph
has, or for names in it, would see that of all objects, and keeps the program as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS, INITIALIZES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import (
    SESSIONS,
    constructor_of,
    is_reset,
    session_calls,
)
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_OUTSIDE = frozenset((*SESSIONS, *INITIALIZES, "reset_default_graph"))
_OF_ALL = ("train.Saver", "summary.", "set_random_seed", "get_default_graph", "import_graph_def")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all later graphs; none where one may have to do with another."""
    return _Turns(module).edits() if len(session_calls(module)) > 1 else []


class _Turns:
    """The graphs of a script: ``begins`` are the places in it where the later ones begin."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.names = module.names
        self.body = module.tree.body
        self.classes = {
            one.name: one
            for one in self.body
            if isinstance(one, ast.ClassDef) and constructor_of(one) is not None
        }

    def edits(self) -> list[Edit]:
        module = self.module
        makers = [self.names.statement(call) for call in session_calls(module)]
        targets = [one.targets[0] if isinstance(one, ast.Assign) else None for one in makers]
        session = {one.id if isinstance(one, ast.Name) else "" for one in targets}
        if len(session) != 1 or "" in session or not all(one in self.body for one in makers):
            return []
        if any(call.args or call.keywords for call in session_calls(module)):
            return []
        (self.session,) = session
        places = [self.body.index(one) for one in makers]
        resets = [place for place, one in enumerate(self.body) if is_reset(module, one)]
        self.begins = [place for place in resets if place > places[0]]
        own = [[b for b in self.begins if a < b < c] for a, c in zip(places, places[1:])]
        if [len(one) for one in own] != [1] * (len(places) - 1) or len(resets) > len(places):
            return []
        if len(self.begins) != len(own) or not self._is_outside() or not self._are_initialized():
            return []
        renamed = self._renamed()
        if renamed is None:
            return []
        gone = [makers[number] for number in range(1, len(makers))]
        gone += (self.body[place] for place in self.begins)
        for number in range(len(makers)):
            for one in self._part(number):
                later = number and self._initializes(one)
                if later or (number < len(makers) - 1 and self._closes(one)):
                    gone.append(one)
        layouts = [Layout(module.source, one) for one in gone]
        if not all(one.owns_lines for one in layouts):
            return []
        listed = self._listed()
        return [*(Edit(one.line_start, one.next_line, "") for one in layouts), *renamed, *listed]

    def _listed(self) -> list[Edit]:
        """`tf.trainable_variables()`, in a constructor, as the list of those that it has made."""
        found: list[Edit] = []
        for owner in self.classes.values():
            node = constructor_of(owner)
            for call in walk(node) if node is not None else ():
                asks = isinstance(call, ast.Call) and not call.args and not call.keywords
                if node is None or not asks or name_of(self.module, call) != "trainable_variables":
                    continue
                names = self._variables(node, self.names.statement(call))
                if names:
                    text = f"[{', '.join(names)}]"
                    found.append(Edit(*self.module.source.span(call), text))
        return found

    def _variables(self, node: ast.FunctionDef, statement: ast.stmt) -> list[str]:
        """The variables of a constructor above a statement; none where there may be others."""
        found: list[str] = []
        if statement not in node.body:
            return []
        for one in node.body[: node.body.index(statement)]:
            value = one.value if isinstance(one, ast.Assign) else None
            target = one.targets[0] if isinstance(one, ast.Assign) else None
            for call in (part for part in walk(one) if isinstance(part, ast.Call)):
                name = name_of(self.module, call)
                if name in ("Variable", "get_variable"):
                    trained = all(keyword.arg != "trainable" for keyword in call.keywords)
                    if call is not value or not isinstance(target, ast.Name) or not trained:
                        return []
                    if self.names.only_binding(target) is None:
                        return []
                    found.append(target.id)
                elif name not in COMPUTES | DRAWS and name not in PLACEHOLDERS:
                    return []
        return found

    def _part(self, number: int) -> list[ast.stmt]:
        """The statements of the script that are about one graph."""
        ends = [0, *self.begins, len(self.body)]
        return self.body[ends[number] : ends[number + 1]]

    def _part_of(self, statement: ast.stmt) -> int:
        return sum(place <= self.body.index(statement) for place in self.begins)

    def _is_outside(self) -> bool:
        """Whether all of a graph is in constructors, and nothing asks for all that one has."""
        module = self.module
        if any(use.symbol.name.startswith(_OF_ALL) for use in module.uses):
            return False
        for statement in self.body:
            if isinstance(statement, ast.ClassDef):
                continue
            calls = [part for part in walk(statement) if isinstance(part, ast.Call)]
            known = {name_of(module, call) for call in calls} - {""}
            allowed = frozenset() if isinstance(statement, ast.FunctionDef) else _OUTSIDE
            if not known <= allowed:
                return False
        inner = (part for one in self.classes.values() for part in walk(one))
        return not any(isinstance(part, ast.Name) and part.id == self.session for part in inner)

    def _are_initialized(self) -> bool:
        """Whether each graph is initialized once, behind its objects, before its session runs."""
        for number in range(len(self.begins) + 1):
            part = self._part(number)
            begins = [place for place, one in enumerate(part) if self._initializes(one)]
            makes = [place for place, one in enumerate(part) if self._made(one)]
            if len(begins) != 1 or not makes or makes[-1] > begins[0]:
                return False
            for one in part[: begins[0]]:
                mentions = [
                    n for n in walk(one) if isinstance(n, ast.Name) and n.id == self.session
                ]
                if any(isinstance(n.ctx, ast.Load) for n in mentions):
                    return False
        return True

    def _initializes(self, statement: ast.stmt) -> bool:
        """`sess.run(tf.global_variables_initializer())`"""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not self._is_method(call.func, "run"):
            return False
        first = call.args[0] if len(call.args) == 1 and not call.keywords else None
        return isinstance(first, ast.Call) and name_of(self.module, first) in INITIALIZES

    def _closes(self, statement: ast.stmt) -> bool:
        call = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(call, ast.Call) and self._is_method(call.func, "close")

    def _is_method(self, func: ast.expr, name: str) -> bool:
        if not isinstance(func, ast.Attribute) or func.attr != name:
            return False
        return isinstance(func.value, ast.Name) and func.value.id == self.session

    def _made(self, statement: ast.stmt) -> str:
        """The name that a statement gives an object of one of the classes."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return ""
        target, call = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            return ""
        known = isinstance(call.func, ast.Name) and call.func.id in self.classes
        return target.id if known else ""

    def _renamed(self) -> list[Edit] | None:
        """The later objects by names of their own; None where it is not seen which one is meant."""
        scope = self.names.module_scope
        objects = {self._made(one) for one in self.body} - {""}
        made = {part for one in self.body if self._made(one) for part in walk(one)}
        for mention in (n for name in self.classes for n in self.names.mentions(name, scope)):
            if mention not in made:
                return None  # an object that has no name here
        found: list[Edit] = []
        for name in sorted(objects):
            makers = [one for one in self.body if self._made(one) == name]
            parts = [self._part_of(one) for one in makers]
            if len(scope.bindings[name]) != len(makers) or len({*parts}) != len(parts):
                return None
            fresh = {
                part: name if not number else self.names.fresh(scope, f"{name}_{number + 1}")
                for number, part in enumerate(parts)
            }
            for mention in self.names.mentions(name, scope):
                part = self._means(mention)
                if part not in fresh:
                    return None
                maker = makers[parts.index(part)]
                outer = self._outer(mention)
                if self.body.index(outer) < self.body.index(maker):
                    if not isinstance(outer, ast.FunctionDef):
                        return None
                if fresh[part] != name:
                    found.append(Edit(*self.module.source.span(mention), fresh[part]))
        return found

    def _means(self, mention: ast.Name) -> int | None:
        """The graph that a mention is about: its statement's, or that of its function's calls."""
        statement = self._outer(mention)
        if isinstance(statement, ast.ClassDef):
            return None
        part = self._part_of(statement)
        if isinstance(statement, ast.FunctionDef):
            users = self.names.mentions(statement.name, self.names.module_scope)
            if any(self._part_of(self._outer(one)) != part for one in users):
                return None
        return part

    def _outer(self, node: ast.AST) -> ast.stmt:
        """The statement of the script that a node is a part of."""
        return next(self._above(node))

    def _above(self, node: ast.AST) -> Iterator[ast.stmt]:
        for one in (node, *self.names.ancestors(node)):
            if isinstance(one, ast.stmt) and one in self.body:
                yield one
