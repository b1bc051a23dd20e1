"""The names that TF1 gives what functions make in a graph: scopes, operations, summaries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.constant_conditions import holds
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import MOMENTS_CALL
from migrate_mgpu.api.summaries import SUMMARIES, clean_tag
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.models.front.session.known_values import known_value, values_in

_LOOPS = (ast.For, ast.While, ast.Try)

# What TF1 calls operations that nobody calls, or by other names than their functions have.
OF_OPERATORS = frozenset({
    "add", "sub", "mul", "div", "truediv", "floordiv", "pow", "mod", "neg", "gradients", "init",
    "save", "report", "const", "cond", "while", "stack", "strided_slice", "beta1_power",
    "beta2_power", "global_step", "group_deps", "mergesummary", "variable",
})  # fmt: skip


def operation_names(module: Module) -> set[str]:
    """Names that TF1 gives the operations of a program's calls, where they have no own."""
    return {one for use in module.uses for one in names_of(use.symbol.name)}


def names_of(name: str) -> set[str]:
    """Names that TF1 may give what a function of its own makes."""
    if name.startswith(("summary.", "train.", "app.", "flags.")):
        return set()
    last = name.rpartition(".")[2].lower()
    return {last, last.replace("_", ""), last.removeprefix("reduce_")}


class NamesInFunctions:
    """Goes through the functions that statements call, in the order of their statements."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        unique: Callable[[str], str],
        taken: dict[str, int],
    ) -> None:
        """``unique`` numbers a name that is there already; ``taken`` are those that are."""
        self.module = module
        self.graph = graph
        self.unique = unique
        self.taken = taken
        # The tags of the summaries of each call in the scope that builds the graph.
        self.tags: dict[ast.Call, dict[ast.Call, str | None]] = {}
        # The calls of that scope itself, by the names that they are given.
        self.operations: dict[str, ast.Call] = {}
        # What names variables by itself, by the calls that lead to it: `tf.Variable`, moments.
        self.variables: dict[tuple[ast.Call, ...], str] = {}

    def calls(self, statement: ast.stmt, scope: str, prefix: str) -> None:
        """Names what a statement's calls make, in the name ``scope`` that it stands in.

        ``prefix`` is that of variables.
        """
        self._expression(self.module, statement, (scope, prefix), {}, ())

    def _expression(
        self,
        module: Module,
        node: ast.AST,
        place: tuple[str | None, str],
        given: Mapping[str, object],
        path: tuple[ast.Call, ...],
    ) -> None:
        calls = [part for part in walk(node) if isinstance(part, ast.Call)]
        for call in sorted(calls, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0)):
            kind = name_of(module, call)
            target = self.graph.target(module, call.func) if not kind else None
            if target is not None and call not in path and isinstance(target.node, ast.FunctionDef):
                passed = bind(call, target).values()
                values = {name: known_value(value, given) for name, value in passed.items()}
                values = values_in(target, values)
                self._body(target, target.node.body, place, values, (*path, call))
            elif kind in SUMMARIES.by_name and path:
                tag = self._tag(call, place[0], given)
                self.tags.setdefault(path[0], {})[call] = tag
            elif kind == MOMENTS_CALL and place[0] is not None:
                self.variables[(*path, call)] = place[1] + self.unique(f"{place[0]}moments")
            elif kind:
                name = self._operation(call, kind, place, given)
                if name is not None and not path:
                    self.operations[name] = call
                if name is not None and kind == "Variable":
                    self.variables[(*path, call)] = name

    def _body(
        self,
        function: Function,
        body: list[ast.stmt],
        place: tuple[str | None, str],
        given: Mapping[str, object],
        path: tuple[ast.Call, ...],
    ) -> None:
        module = function.module
        inside = partial(self._body, function, given=given, path=path)
        for statement in body:
            if isinstance(statement, ast.With):
                inner = place
                for item in statement.items:
                    inner = self._opened(module, item.context_expr, inner, given)
                inside(statement.body, inner)
            elif isinstance(statement, ast.If):
                runs = holds(statement.test, lambda part: known_value(part, given))
                inside(statement.body if runs is not False else [], place)
                inside(statement.orelse if not runs else [], place)
            elif isinstance(statement, _LOOPS):
                inside(statement.body, (None, place[1]))
            else:
                self._expression(module, statement, place, given, path)

    def _opened(
        self,
        module: Module,
        node: ast.expr,
        place: tuple[str | None, str],
        given: Mapping[str, object],
    ) -> tuple[str | None, str]:
        kind = scope_kind(module, node)
        if kind is None or not isinstance(node, ast.Call):
            return place
        name = known_value(node.args[0], given) if node.args else None
        if not isinstance(name, str) or not name or place[0] is None:
            return None, place[1]
        prefix = f"{place[1]}{name}/" if kind == "variable_scope" else place[1]
        return self.unique(place[0] + name) + "/", prefix

    def _operation(
        self, call: ast.Call, kind: str, place: tuple[str | None, str], given: Mapping[str, object]
    ) -> str | None:
        """The name of an operation that is given one, and is no variable."""
        told = next((k.value for k in call.keywords if k.arg == "name"), None)
        if kind == "get_variable" and told is None and call.args:
            told = call.args[0]
        name = known_value(told, given) if told is not None else None
        if not isinstance(name, str) or not name:
            return None
        if kind == "get_variable":
            self.taken.setdefault((place[1] + name).lower(), 1)
        elif place[0] is not None:
            return self.unique(place[0] + name)
        return None

    def _tag(self, call: ast.Call, scope: str | None, given: Mapping[str, object]) -> str | None:
        """The name of a summary that a function makes; None where it is not known."""
        named = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
        name = known_value(named[0], given) if named else None
        if scope is None or not isinstance(name, str) or not name:
            return None
        return self.unique(scope + clean_tag(name))
