"""Input functions of which is seen how often they are called."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module


def shows_calls(graph: CallGraph, module: Module, node: ast.expr) -> bool:
    """Whether an input function prints, or draws from a generator that other code has as well."""
    seen: set[ast.AST] = set()
    stack: list[tuple[Module, ast.AST]] = [(module, node)]
    while stack:
        where, one = stack.pop()
        if one in seen:
            continue
        seen.add(one)
        for part in ast.walk(one):
            if not isinstance(part, (ast.Name, ast.Attribute)):
                continue
            name = where.names.qualname(part) or ""
            if name.startswith("numpy.random.") or name == "builtins.print":
                if name != "numpy.random.RandomState":
                    return True
            if name.startswith("random.") or _is_shared_generator(where, part, one):
                return True
            function = graph.target(where, part)
            if function is not None:
                stack.append((function.module, function.node))
    return False


def _is_shared_generator(module: Module, node: ast.expr, function: ast.AST) -> bool:
    """`rng`, where `rng = np.random.RandomState(3)` stands outside of the function."""
    names = module.names
    made = names.only_definition(node) if isinstance(node, ast.Name) else None
    if made is None or function in names.ancestors(made):
        return False
    statement = names.statement(made)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.Call):
        return False
    return (names.qualname(value.func) or "").startswith("numpy.random.")
