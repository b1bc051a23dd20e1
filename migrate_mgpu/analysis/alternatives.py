"""Places of which one process comes to one alone: `if train: run_train() else: run_eval()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function, started_by
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.project import Program

Place = tuple[Module, ast.AST]
_MOST = 16  # ways to a place that are looked at
_ENDS = (ast.Return, ast.Raise)
_LATER = (ast.Lambda, ast.GeneratorExp)


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
    arms = dict(_arms(module, first[1]))
    for node, arm in _arms(module, second[1]):
        other = arms.get(node, arm)
        if other == arm or ("" in (other, arm) and not _leaves(node, other or arm)):
            continue  # both in one arm, or one behind an arm that goes on
        if graph.runs_once(module, node, program.modules):
            return True
    return False


def _arms(module: Module, node: ast.AST) -> Iterator[tuple[ast.If, str]]:
    """The `if` statements around a node, each with its arm, and those above it, from within."""
    child = node
    for parent in module.names.ancestors(node):
        if isinstance(parent, ast.If) and child is not parent.test:
            yield parent, "body" if child in parent.body else "orelse"
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and child in block:
                above = block[: block.index(child)]
                yield from ((one, "") for one in reversed(above) if isinstance(one, ast.If))
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return
        child = parent


def _leaves(node: ast.If, arm: str) -> bool:
    """Whether an arm of an `if` never comes to what stands below."""
    block = node.body if arm == "body" else node.orelse
    return bool(block) and isinstance(block[-1], _ENDS)
