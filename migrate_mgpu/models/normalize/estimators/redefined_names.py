"""A function, or what an Estimator is fed, that a notebook defines again below: another name.

    def get_input_fn(path): ...
    estimator.train(get_input_fn("train.csv"))

    def get_input_fn(color): ...
    estimator.predict(get_input_fn("red"))

The second becomes `get_input_fn_2`, with the mentions that mean it: those below, and those of
functions that are only called below.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Scope
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.functions.reused_names import asks_for_names, is_written
from migrate_mgpu.models.properties import inputs
from migrate_mgpu.source.source import Edit

# Methods that call the functions that they are given before they return.
_CALLS = ("evaluate", "export_saved_model", "export_savedmodel", "predict", "train")
_DEEP = 8


class _Unknown(Exception):
    """Which definition a mention means cannot be told."""


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such names of an Estimator's module; none where there are none."""
    module = flow.module
    if not module.writable or module.importers or asks_for_names(module):
        return {}
    edits: list[Edit] = []
    for name in sorted(redefined(flow)):
        edits += _edits(module, name)
    return {module: edits} if edits else {}


def redefined(flow: EstimatorFlow) -> set[str]:
    """The functions that a module defines several times, and the names of what is fed."""
    module = flow.module
    scope, found = module.names.module_scope, set[str]()
    fed = {
        node.id
        for home, node in inputs(flow.driving)
        if home is module and isinstance(node, ast.Name)
    }
    for name, bindings in scope.bindings.items():
        functions = all(isinstance(one.node, ast.FunctionDef) for one in bindings)
        if len(bindings) > 1 and (functions or name in fed):
            found.add(name)
    return found


def _edits(module: Module, name: str) -> list[Edit]:
    try:
        meant = _Meanings(module, name).of_all()
    except _Unknown:
        return []
    names, source, edits = module.names, module.source, []
    for number, made in enumerate(meant.definitions[1:], start=2):
        new = names.fresh(names.module_scope, f"{name}_{number}", f"{name}_number_{number}")
        if isinstance(made, ast.FunctionDef):
            begin = source.text.index("def ", source.span(made)[0])
            start = source.text.index(name, begin)
            edits.append(Edit(start, start + len(name), new))
        edits += [
            Edit(*source.span(one), new)
            for one, which in meant.which.items()
            if which == number - 1
        ]
    return edits


class _Meanings:
    """Which of its definitions each mention of a module's name means, by their numbers."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.names = module.names
        self.name = name
        self.scope = module.names.module_scope
        self.definitions = [
            one
            for one in module.tree.body
            if (isinstance(one, ast.FunctionDef) and one.name == name and not one.decorator_list)
            or (isinstance(one, ast.Assign) and _names_one(one, name))
        ]
        self.last = len(self.definitions) - 1
        self.which: dict[ast.Name, int] = {}

    def of_all(self) -> _Meanings:
        """All of them.

        Raises:
            _Unknown: one cannot be told.
        """
        if len(self.definitions) != len(self.scope.bindings[self.name]):
            raise _Unknown
        for mention in self.names.mentions(self.name, self.scope):
            if not is_written(self.module, mention):
                raise _Unknown
            self.which[mention] = self._meant(mention)
        return self

    def _meant(self, mention: ast.Name) -> int:
        top = self._top(mention)
        around = self._around(mention)
        if around is self.scope:
            if top in self.definitions and isinstance(mention.ctx, ast.Store):
                return self.definitions.index(top)
            return self._at(top)
        if isinstance(top, ast.FunctionDef):
            uses = self._uses(top, _DEEP)
            if not uses:
                return self._at(top)
            inner = around.node is not top  # a function of the function's, which it may give away
            if len(uses) == 1 and (not inner or self.last in uses):
                return next(iter(uses))
            raise _Unknown
        number = self._at(top)
        calls = [one for one in self.names.ancestors(mention) if isinstance(one, ast.Call)]
        if number != self.last and not any(_is_called_at_once(one) for one in calls):
            raise _Unknown
        return number

    def _top(self, node: ast.AST) -> ast.stmt:
        """The statement of the module that a node stands in."""
        found: ast.AST = node
        for parent in self.names.ancestors(node):
            if parent is self.module.tree:
                break
            found = parent
        assert isinstance(found, ast.stmt)
        return found

    def _around(self, mention: ast.Name) -> Scope:
        scope = self.names.scope_of_name[mention]
        while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
            scope = scope.parent
        return scope

    def _at(self, top: ast.stmt) -> int:
        """The number of the definition that a statement of the module finds."""
        above = [one for one in self.definitions if one.lineno < top.lineno]
        if not above:
            raise _Unknown
        return len(above) - 1

    def _uses(self, function: ast.FunctionDef, depth: int) -> set[int]:
        """The definitions there are when a function of the module is called."""
        bindings = self.scope.bindings[function.name]
        if len(bindings) != 1 or function.decorator_list or not depth:
            raise _Unknown
        found: set[int] = set()
        for mention in self.names.mentions(function.name, self.scope):
            top = self._top(mention)
            if top is function:
                continue
            around = self._around(mention)
            parent = self.names.parents[mention]
            called = isinstance(parent, ast.Call) and (
                parent.func is mention or _is_called_at_once(parent)
            )
            if around is self.scope:
                found.add(self._at(top))
            elif isinstance(top, ast.FunctionDef) and around.node is top:
                found |= self._uses(top, depth - 1)
            else:
                found.add(self._at(top))
                called = False
            if not called and found != {self.last}:
                raise _Unknown  # it is kept, and called whenever
        return found


def _is_called_at_once(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _CALLS


def _names_one(statement: ast.Assign, name: str) -> bool:
    target = statement.targets[0]
    return len(statement.targets) == 1 and isinstance(target, ast.Name) and target.id == name
