"""Expressions that say whether variables are those that there are already, and nothing else.

TF1 shares variables by their names, and refuses a name that is there or is not there without
`reuse`: a program that runs has said so. TF2's are shared by what holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.name_scopes import repeats_scope
from migrate_mgpu.models.front.towers.loop import shares

_CONDITIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp)


class ReuseReader:
    """Follows the values that end as `reuse`."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self._known: dict[tuple[ast.AST, str], bool] = {}
        self._nodes: dict[Module, set[ast.AST]] = {}

    def parameters(self, function: Function) -> list[str]:
        """The parameters of a function that only say it, each given by calls that are seen."""
        node = function.node
        if not isinstance(node, ast.FunctionDef) or function.owner is not None:
            return []
        arguments = node.args
        every = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        every += [one.arg for one in arguments.kwonlyargs]
        found = [name for name in every if self._is_reuse(function.module, node, name)]
        return found if found and self._is_called_plainly(function) else []

    def _is_called_plainly(self, function: Function) -> bool:
        return all(
            one.call is not None
            and one.module.writable
            and not any(isinstance(a, ast.Starred) for a in one.call.args)
            and not any(keyword.arg is None for keyword in one.call.keywords)
            for one in self.graph.references(function)
        )

    def of_call(self, module: Module, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call of the author's function that only say it."""
        target = self.graph.target(module, call.func)
        if target is None:
            return []
        gone = self.parameters(target)
        given = by_parameter(call, target.parameters())
        return [value for name, value in given.items() if name in gone]

    def is_statement(self, module: Module, statement: ast.stmt) -> bool:
        """Whether a statement only gives a value to a name that says it."""
        if isinstance(statement, ast.If):  # `if i > 0: reuse = True`, else False
            calls = (ast.Call, ast.NamedExpr)
            return not any(isinstance(part, calls) for part in walk(statement.test)) and all(
                self.is_statement(module, one) for one in (*statement.body, *statement.orelse)
            )
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return False
        scope = module.names.defining_scope(target.id, module.names.scope_of_name[target])
        if scope is None:
            return False
        if name_of(module, statement.value) == "AUTO_REUSE":  # nothing else says it, or nothing
            mentions = module.names.mentions(target.id, scope)
            if not any(isinstance(one.ctx, ast.Load) for one in mentions):
                return True
        return self._is_reuse(module, scope.node, target.id)

    def nodes(self, module: Module) -> set[ast.AST]:
        """All nodes of a module that only say it."""
        if module not in self._nodes:
            found: set[ast.AST] = set()
            for call in module.names.calls:
                for value in (*self.of_call(module, call), *_reuse_of(module, call)):
                    found.update(walk(value))
            self._nodes[module] = found
        return self._nodes[module]

    def _is_reuse(self, module: Module, home: ast.AST, name: str) -> bool:
        """Whether all that is done with a variable is to say it."""
        key = (home, name)
        if key not in self._known:
            self._known[key] = True  # of a function that calls itself
            mentions = module.names.mentions(name, module.names.scopes[home])
            read = [one for one in mentions if isinstance(one.ctx, ast.Load)]
            self._known[key] = bool(read) and all(
                self._ends(module, one) if isinstance(one.ctx, ast.Load) else _is_set(module, one)
                for one in mentions
            )
        return self._known[key]

    def _ends(self, module: Module, node: ast.AST) -> bool:
        """Whether the value of an expression ends as `reuse`."""
        parent = module.names.parents.get(node)
        if isinstance(parent, _CONDITIONS):
            return self._ends(module, parent)
        if isinstance(parent, ast.If) and parent.test is node:
            return shares(module, parent)
        if isinstance(parent, ast.Assign) and parent.value is node:
            return self.is_statement(module, parent)
        call = module.names.taker(node)
        if call is None:
            return False
        if any(one is node for one in _reuse_of(module, call)):
            return True
        target = self.graph.target(module, call.func)
        if target is None or target.owner is not None:
            return False
        given = by_parameter(call, target.parameters())
        names = [name for name, one in given.items() if one is node]
        return bool(names) and self._is_reuse(target.module, target.node, names[0])


def _reuse_of(module: Module, call: ast.Call) -> Iterator[ast.expr]:
    """`tf.variable_scope(name, reuse=reuse)`, and the same of layers in it"""
    if name_of(module, call) == "variable_scope" or repeats_scope(module, call):
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "reuse")


def _is_set(module: Module, name: ast.Name) -> bool:
    """Whether a variable is given a value that nothing else comes with."""
    parent = module.names.parents.get(name)
    return (
        isinstance(parent, ast.Assign)
        and parent.targets == [name]
        and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(parent.value))
    )
