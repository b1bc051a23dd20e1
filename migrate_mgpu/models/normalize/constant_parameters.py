"""Which constants a parameter is, in all calls of its function, and what conditions ask of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module


def constants(
    module: Module,
    name: ast.Name,
    graph: CallGraph,
    seen: frozenset[tuple[ast.AST, str]] = frozenset(),
) -> list[ast.Constant] | None:
    """The constants that a parameter of a function of the module's is; None for something else."""
    binding = module.names.only_binding(name)
    around = module.names.scope_of_name[name].function()
    if binding is None or binding.kind != "parameter" or not isinstance(around, ast.FunctionDef):
        return None
    function = Function(module, around)
    if around not in module.tree.body or (around, name.id) in seen:
        return None
    found: list[ast.Constant] = []
    for reference in graph.references(function):
        if reference.call is None:
            return None
        given = (bind(reference.call, function).every() or {}).get(name.id)
        if isinstance(given, ast.Constant):
            found.append(given)
            continue
        if not isinstance(given, ast.Name):
            return None
        more = constants(reference.module, given, graph, seen | {(around, name.id)})
        if more is None:
            return None
        found += more
    return found


def truth(
    test: ast.expr, values: Callable[[ast.Name], Sequence[ast.Constant] | None]
) -> bool | None:
    """Whether `wd is not None`, `wd` holds for all constants that its name is.

    None where that is not the same for all, or not known.
    """
    asked, differs = test, True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        other, operator = test.comparators[0], test.ops[0]
        differs = isinstance(operator, (ast.IsNot, ast.NotEq))
        if not differs and not isinstance(operator, (ast.Is, ast.Eq)):
            return None
        if not isinstance(other, ast.Constant) or other.value is not None:
            return None
        asked = test.left
    known = values(asked) if isinstance(asked, ast.Name) else None
    if asked is test:
        told = {bool(one.value) for one in known or ()}
    else:
        told = {(one.value is None) is not differs for one in known or ()}
    return told.pop() if len(told) == 1 else None
