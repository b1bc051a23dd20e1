"""Values that a function returns together: `return estimator, train_spec`, and who takes them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Optional, Union

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import Binding

Place = Union[ast.Name, ast.Attribute, ast.Subscript]
Calls = Callable[[Function], Optional[list[Reference]]]


def unpacked(
    graph: CallGraph, module: Module, binding: Binding
) -> list[tuple[Module, ast.expr]] | None:
    """What a name of `a, b = ...` is given; None where that is not written out."""
    target = binding.node
    group = module.names.parents.get(target)
    statement = module.names.parents.get(group) if group is not None else None
    if not isinstance(group, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return None
    if statement.targets != [group] or _starred(group):
        return None
    assert isinstance(target, ast.expr)
    index, count = group.elts.index(target), len(group.elts)
    value = statement.value
    found: list[tuple[Module, ast.expr]] = [(module, value)]
    if isinstance(value, ast.Call):
        function = graph.target(module, value.func)
        if function is None or function.name == "__init__" or function.node.decorator_list:
            return None
        if isinstance(function.node, ast.AsyncFunctionDef):
            return None
        nodes = list(own_nodes(function.node))
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
            return None
        returned = [node.value for node in nodes if isinstance(node, ast.Return)]
        found = [(function.module, node) for node in returned if node is not None]
    parts: list[tuple[Module, ast.expr]] = []
    for home, node in found:
        if not isinstance(node, ast.Tuple) or len(node.elts) != count or _starred(node):
            return None
        parts.append((home, node.elts[index]))
    return parts or None


def taken_apart(
    module: Module, group: ast.Tuple, node: ast.expr, calls: Calls
) -> list[tuple[Module, Place]] | None:
    """The variables that take a member of a tuple; None where it goes elsewhere."""
    names = module.names
    parent = names.parents[group]
    index = group.elts.index(node)
    if _starred(group):
        return None
    if isinstance(parent, ast.Assign) and parent.value is group:
        place = _member(parent, index, len(group.elts))
        return None if place is None else [(module, place)]
    if not isinstance(parent, ast.Return):
        return None
    around = names.ancestors(parent)
    definition = next((n for n in around if isinstance(n, (ast.FunctionDef, ast.Lambda))), None)
    if not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    references = calls(Function(module, definition))
    if references is None:
        return None
    found: list[tuple[Module, Place]] = []
    for reference in references:
        assert reference.call is not None
        taken = _taken(reference.module, reference.call, index, len(group.elts))
        if taken is None:
            return None
        found += [(reference.module, place) for place in taken]
    return found


def _taken(module: Module, call: ast.Call, index: int, count: int) -> list[Place] | None:
    """Where one call's member goes: a variable, a subscript, or nowhere."""
    parent = module.names.parents[call]
    if isinstance(parent, ast.Expr):
        return []
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
        return [parent] if parent.slice.value in (index, index - count) else []
    if isinstance(parent, ast.Assign) and parent.value is call:
        place = _member(parent, index, count)
        return None if place is None else [place]
    return None


def _member(statement: ast.Assign, index: int, count: int) -> Place | None:
    group = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(group, (ast.Tuple, ast.List)):
        return None
    if len(group.elts) != count or _starred(group):
        return None
    place = group.elts[index]
    return place if isinstance(place, (ast.Name, ast.Attribute)) else None


def _starred(group: ast.Tuple | ast.List) -> bool:
    return any(isinstance(member, ast.Starred) for member in group.elts)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it."""
    stack: list[ast.AST] = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))
