"""What may have run before a statement: the ground on which calls are placed in time.

Conservative and simple. Before a statement run the statements above it in its
own blocks, whatever ran before each call of its function, and the top level of
the modules. A statement "does" a thing when it holds such an expression, or
calls a function of the run that does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Union

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position

# The nodes of a module that do the thing themselves.
Doing = Callable[[Module], Iterable[ast.AST]]
# Such a node, or a call and the function of the run that it reaches.
Step = tuple[ast.AST, Union[Function, None]]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


class Order:
    """Answers about time for one kind of action (the nodes of a module that do it)."""

    def __init__(self, graph: CallGraph, doing: Doing) -> None:
        self.graph = graph
        self._doing = doing
        self._steps: dict[Module, dict[ast.AST, list[Step]]] = {}
        self._functions: dict[ast.AST, tuple[Module, ast.AST] | None] = {}
        self._found: dict[ast.AST, tuple[Module, ast.AST] | None] = {}
        self._inside = 0  # functions that are being looked into

    # -- does a piece of code do it? --------------------------------------

    def found_in(self, module: Module, node: ast.AST) -> tuple[Module, ast.AST] | None:
        """Where running ``node`` may do it: in its own code or in what it calls."""
        if node in self._found:
            return self._found[node]
        place = self._find(module, node)
        if not self._inside:  # else a recursion may have ended the search
            self._found[node] = place
        return place

    def _find(self, module: Module, node: ast.AST) -> tuple[Module, ast.AST] | None:
        if module not in self._steps:
            self._steps[module] = self._steps_of(module)
        key = node.value if isinstance(node, ast.Expr) else node  # a header's is made here
        for step, target in self._steps[module].get(key, ()):
            place = (module, step) if target is None else self._in_function(target)
            if place is not None:
                return place
        return None

    def _steps_of(self, module: Module) -> dict[ast.AST, list[Step]]:
        """What counts in a module, in source order, for each node around it that it runs with.

        Around the body of a function or lambda is nothing: it runs when that is called.
        """
        steps: list[Step] = [(node, None) for node in self._doing(module)]
        doing = {node for node, _ in steps}
        for call in module.names.calls:
            target = self.graph.target(module, call.func)
            if target is not None and call not in doing:
                steps.append((call, target))
        steps.sort(key=lambda step: position(step[0]))
        found: dict[ast.AST, list[Step]] = {}
        for step in steps:
            child = step[0]
            found.setdefault(child, []).append(step)
            for parent in module.names.ancestors(child):
                if isinstance(parent, _FUNCTIONS):
                    break
                if isinstance(parent, ast.ClassDef) and child not in parent.body:
                    break
                found.setdefault(parent, []).append(step)
                child = parent
        return found

    def _in_function(self, function: Function) -> tuple[Module, ast.AST] | None:
        key = function.node
        if key not in self._functions:
            self._functions[key] = None  # ends recursion
            self._inside += 1
            for statement in function.node.body:
                place = self.found_in(function.module, statement)
                if place is not None:
                    self._functions[key] = place
                    break
            self._inside -= 1
        return self._functions[key]

    # -- and does it run before? ------------------------------------------

    def before(
        self, module: Module, statement: ast.stmt, inside_only: bool = False
    ) -> tuple[Module, ast.AST, ast.stmt] | None:
        """The first action that may run before a statement does.

        Returns:
            (module, node, the statement at whose place it happens), or None. The
            last one stands in the same function as ``statement`` when the action
            happens there, else in a caller.
        """
        return self._before(module, statement, inside_only, set())

    def _before(
        self, module: Module, statement: ast.stmt, inside_only: bool, seen: set[ast.AST]
    ) -> tuple[Module, ast.AST, ast.stmt] | None:
        best: tuple[Module, ast.AST, ast.stmt] | None = None
        for earlier in preceding(module, statement):
            place = self.found_in(module, earlier)
            if place is not None:
                best = (*place, earlier)
                break
        function = self.graph.enclosing(module, statement)
        if inside_only or function is None or function.node in seen:
            return best
        seen.add(function.node)
        for reference in (*self.graph.references(function), *self.graph.made(function)):
            caller = reference.module.names.statement(reference.node)
            outer = self._before(reference.module, caller, False, seen)
            if outer is not None:
                return outer
        for reference in self.graph.made(function):  # its objects' constructor has run
            assert reference.call is not None
            place = self.found_in(reference.module, reference.call)
            if place is not None:
                return (*place, reference.module.names.statement(reference.node))
        if best is None:
            # Everything at a module's top level has run before a function is
            # called, save what stands below the call, which `preceding` knows.
            best = self._at_import(module, function)
        return best

    def _at_import(
        self, module: Module, function: Function
    ) -> tuple[Module, ast.AST, ast.stmt] | None:
        called_from_top = any(
            self.graph.enclosing(reference.module, reference.node) is None
            for reference in self.graph.references(function)
        )
        if called_from_top:
            return None
        for statement in module.tree.body:
            if isinstance(statement, _DEFINITIONS) or is_main_guard(statement):
                continue
            place = self.found_in(module, statement)
            if place is not None:
                return (*place, statement)
        return None


def preceding(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """Statements above one in its own and in the enclosing blocks of its function, top first.

    Compound statements on the way count with their headers only: for the `with`
    that a statement stands in, the context expressions have run.
    """
    names = module.names
    found: list[list[ast.stmt]] = []
    current: ast.stmt = statement
    while True:
        block = names.block(current)
        above = block[: block.index(current)]
        found.append([s for s in above if not isinstance(s, _DEFINITIONS)])
        parent = names.parents[current]
        while not isinstance(parent, (ast.stmt, ast.Module)):
            parent = names.parents[parent]
        if isinstance(parent, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        found.append(_headers(parent))
        if isinstance(parent, (ast.For, ast.While, ast.AsyncFor)):
            # In a loop, what stands below ran in an earlier round as well; the
            # first round is what decides, so it is left out on purpose.
            pass
        current = parent
    found.reverse()
    return [s for group in found for s in group]


def _headers(statement: ast.stmt) -> list[ast.stmt]:
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [_expression(item.context_expr) for item in statement.items]
    if isinstance(statement, (ast.If, ast.While)):
        return [_expression(statement.test)]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [_expression(statement.iter)]
    return []


def _expression(node: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(node), node)
