"""Places that one process comes to: never both (`if train: ... else: ...`), or always one first."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.arms import conditions_between
from migrate_mgpu.analysis.call_graph import CallGraph, Function, started_by
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.order import preceding
from migrate_mgpu.analysis.project import Program
from migrate_mgpu.analysis.scopes import walk

Place = tuple[Module, ast.AST]
_MOST = 16  # ways to a place that are looked at
_ENDS = (ast.Return, ast.Raise)
_LATER = (ast.Lambda, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def never_both(graph: CallGraph, program: Program, first: Place, second: Place) -> bool:
    """Whether no process of a program comes to both places, by every way that leads to them."""
    ways = _ways(graph, program, first), _ways(graph, program, second)
    if ways[0] is None or ways[1] is None:
        return False
    return all(
        any(_apart(graph, program, one, other) for one in here for other in there)
        for here in ways[0]
        for there in ways[1]
    )


def always_before(graph: CallGraph, program: Program, first: Place, second: Place) -> bool:
    """Whether every process of a program that comes to a place has been at another one before."""
    ways = _ways(graph, program, second)
    return ways is not None and all(
        any(
            _passes(graph, module, earlier, first, frozenset())
            for module, node in way
            for earlier in preceding(module, module.names.statement(node))
        )
        for way in ways
    )


def _passes(
    graph: CallGraph, module: Module, node: ast.AST, goal: Place, seen: frozenset[ast.AST]
) -> bool:
    """Whether running a piece of code surely comes to a place, in its own code or what it calls."""
    if module is goal[0] and node is goal[1]:
        return True
    if isinstance(node, ast.Call):
        function = graph.target(module, node.func)
        if function is not None and function.node not in seen and _runs_when_called(function):
            inner = seen | {function.node}
            if _block_passes(graph, function.module, function.node.body, goal, inner):
                return True
    if isinstance(node, (ast.With, ast.AsyncWith)):
        headers = (item.context_expr for item in node.items)
        return any(_passes(graph, module, one, goal, seen) for one in headers) or _block_passes(
            graph, module, node.body, goal, seen
        )
    return any(_passes(graph, module, one, goal, seen) for one in _unconditional(node))


def _block_passes(
    graph: CallGraph,
    module: Module,
    block: Sequence[ast.stmt],
    goal: Place,
    seen: frozenset[ast.AST],
) -> bool:
    for statement in block:
        if _passes(graph, module, statement, goal, seen):
            return True
        if any(isinstance(node, (*_ENDS, ast.Break, ast.Continue)) for node in walk(statement)):
            return False  # it may end here
    return False


def _unconditional(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run whenever it does."""
    if isinstance(node, (*_LATER, *_DEFINITIONS, ast.ListComp, ast.SetComp, ast.DictComp)):
        return
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node.test
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.iter
    elif isinstance(node, ast.BoolOp):
        yield node.values[0]
    elif not isinstance(node, ast.Try):
        yield from ast.iter_child_nodes(node)


def _runs_when_called(function: Function) -> bool:
    """Whether a call runs a function's body: not a generator's, nor what a decorator made of it."""
    body = function.node.body
    later = (ast.Yield, ast.YieldFrom)
    return not function.node.decorator_list and not any(
        isinstance(node, later) for statement in body for node in walk(statement)
    )


def _ways(
    graph: CallGraph, program: Program, place: Place, seen: frozenset[ast.AST] = frozenset()
) -> list[tuple[Place, ...]] | None:
    """The calls by which a place is reached, from it outwards; None where not all are known."""
    module, node = place
    for parent in module.names.ancestors(node):
        if isinstance(parent, _LATER):
            return None
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if parent in seen or len(seen) > _MOST:
                return None
            function = Function(module, parent)
            calls: list[Place] = []
            for reference in graph.references(function):
                if reference.module in program.modules:
                    if reference.call is None:
                        return None
                    calls.append((reference.module, reference.call))
            if not calls:
                start = started_by(function)
                if start is None:
                    return None
                calls = [(module, start)]
            found: list[tuple[Place, ...]] = []
            for call in calls:
                outer = _ways(graph, program, call, seen | {parent})
                if outer is None:
                    return None
                found += [(place, *way) for way in outer]
            return found if len(found) <= _MOST else None
    return [(place,)]


def _apart(graph: CallGraph, program: Program, first: Place, second: Place) -> bool:
    """Whether an `if` that runs once in a process leads to one of two places."""
    if first[0] is not second[0]:
        return False
    module = first[0]
    return any(
        graph.runs_once(module, node, program.modules)
        for node in conditions_between(module, first[1], second[1])
    )
