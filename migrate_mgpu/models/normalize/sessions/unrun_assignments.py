"""Assignments of TF1's that nothing runs: they go.

    for i in range(size):
        ...
        tf.assign(total, tf.add(total, product))

makes an operation and drops it: no session can run what has no name, and TF1's variable keeps its
value. In TF2 the same call would change the variable at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

TOLD = "nothing runs this assignment: TF1 never did it, and it is left out"
_KINDS = ("assign", "assign_add", "assign_sub")
# What may find an operation that has no name, or runs all that stands in a function.
_FINDS = {"get_operations", "get_operation_by_name", "get_tensor_by_name", "as_graph_element",
          "graph_def", "as_graph_def"}  # fmt: skip
_RUNS = (
    "function", "contrib.eager", "enable_eager", "compat.v1.enable_eager", "compat.v1.enable_v2",
    "enable_v2_behavior", "keras", "estimator", "contrib.tpu",
)  # fmt: skip


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits that take all of them away."""
    return [
        without_paragraph(module.source, one)
        for one in unrun(module, graph)
        if len(module.names.block(one)) > 1 and Layout(module.source, one).owns_lines
    ]


def unrun(module: Module, graph: CallGraph) -> list[ast.Expr]:
    """The statements of a module that assign, and whose operation nothing has."""
    names = module.names
    if not _FINDS.isdisjoint(names.attributes):
        return []
    if any(use.symbol.name.startswith(_RUNS) for use in module.uses):
        return []
    return [one for one in _assignments(module) if _is_plain(module, one, graph)]


def _assignments(module: Module) -> Iterator[ast.Expr]:
    for call in module.names.calls:
        statement = module.names.parents.get(call)
        if isinstance(statement, ast.Expr) and _assigns(module, call):
            if all(keyword.arg != "name" for keyword in call.keywords):
                yield statement


def _assigns(module: Module, call: ast.Call) -> bool:
    """`tf.assign(v, x)`, or `v.assign(x)` of a variable that has this one name."""
    if name_of(module, call) in _KINDS:
        return True
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in _KINDS:
        return False
    made = module.names.only_value(func.value) if isinstance(func.value, ast.Name) else None
    return isinstance(made, ast.Call) and name_of(module, made) in VARIABLES.by_name


def _is_plain(module: Module, statement: ast.Expr, graph: CallGraph) -> bool:
    """Whether it only computes what it assigns, in code that is run by its name, or by its file."""
    assert isinstance(statement.value, ast.Call)
    inside = [part for part in walk(statement.value) if part is not statement.value]
    for part in inside:
        if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)):
            return False
        if isinstance(part, ast.Call) and name_of(module, part) not in COMPUTES | DRAWS:
            return False
    function = graph.enclosing(module, statement)
    while function is not None:
        node = function.node
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return False
        # One that is handed on may be run otherwise.
        if any(one.call is None for one in graph.references(function)):
            return False
        function = graph.enclosing(module, module.names.parents[node])
    return True
