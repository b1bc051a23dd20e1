"""Summaries that the functions of a network write: TF1's session did, a Keras model has none."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import holds, walk
from migrate_mgpu.api.tables import name_of

LEFT_OUT = "this summary is left out: Keras writes loss and metrics by its TensorBoard callback"


def without_summaries(
    module: Module, statements: set[ast.stmt], graph: CallGraph
) -> tuple[set[ast.stmt], list[ast.stmt]]:
    """The statements that stay, and those that only write summaries.

    What stands around one is not among those that stay either: it is written without it.
    """
    gone = {s for s in statements if writes_summary(module, s, graph)}
    around = {p for s in gone for p in module.names.ancestors(s) if isinstance(p, ast.stmt)}
    around &= statements
    stays = statements - gone - around
    for statement in around - gone:
        if not isinstance(statement, (ast.With, ast.If)) or not holds(statement, stays):
            return statements, []
    outer = [s for s in gone if not gone & set(module.names.ancestors(s))]
    return stays, sorted(outer, key=lambda s: s.lineno)


def unused_functions(
    gone: Iterable[tuple[Module, ast.AST]], graph: CallGraph
) -> list[tuple[Module, ast.FunctionDef]]:
    """The functions that nothing calls any more without some statements."""
    statements = list(gone)
    inside = {part for _, statement in statements for part in walk(statement)}
    found: dict[ast.FunctionDef, Module] = {}
    for module, statement in statements:
        for call in (part for part in walk(statement) if isinstance(part, ast.Call)):
            function = graph.target(module, call.func)
            if function is not None and isinstance(function.node, ast.FunctionDef):
                references = graph.references(function)
                if all(reference.node in inside for reference in references):
                    found[function.node] = function.module
    return [(module, node) for node, module in found.items()]


def is_summary(module: Module, node: ast.AST) -> bool:
    """Whether a node writes, or merges, summaries."""
    return name_of(module, node).startswith(("summary.", "contrib.summary.", "contrib.layers.summ"))


def writes_summary(module: Module, statement: ast.stmt, graph: CallGraph) -> bool:
    """Whether a statement does nothing else: by itself, by a block of such, by a function."""
    if isinstance(statement, ast.If):
        if statement.orelse or any(isinstance(n, ast.Call) for n in walk(statement.test)):
            return False
        return all(writes_summary(module, s, graph) for s in statement.body)
    if isinstance(statement, ast.With):
        scopes = ("name_scope", "variable_scope", "device")
        items = (name_of(module, item.context_expr) for item in statement.items)
        named = (name.rpartition(".")[2] for name in items)
        inner = all(writes_summary(module, s, graph) for s in statement.body)
        return inner and all(name in scopes for name in named)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    if is_summary(module, call):
        return True
    function = graph.target(module, call.func)
    return function is not None and only_writes_summaries(function)


def only_writes_summaries(function: Function) -> bool:
    """Whether a function does nothing else, and returns nothing."""
    node = function.node
    return isinstance(node, ast.FunctionDef) and _only_writes(function.module, node.body)


def _only_writes(module: Module, body: list[ast.stmt]) -> bool:
    """Whether statements write summaries, and calculate what those show."""
    summaries = 0
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.With):
            if not _only_writes(module, statement.body):
                return False
            summaries += 1
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if not is_summary(module, statement.value):
                return False
            summaries += 1
        elif not isinstance(statement, ast.Assign) or not _calculates(module, statement):
            return False
    return summaries > 0


def _calculates(module: Module, statement: ast.Assign) -> bool:
    """Whether a statement gives a name a value that TensorFlow's mathematics makes."""
    calls = [node for node in walk(statement.value) if isinstance(node, ast.Call)]
    names = [name_of(module, call).rpartition(".")[2] for call in calls]
    known = ("reduce_", "sqrt", "square", "identity", "zero_fraction", "abs")
    plain = all(isinstance(target, ast.Name) for target in statement.targets)
    return plain and all(name.startswith(known) for name in names)
