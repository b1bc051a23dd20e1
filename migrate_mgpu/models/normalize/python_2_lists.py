"""`map` and `filter` where a list is meant: code for Python 2, which Python 3 reads otherwise.

``sizes = map(int, text.split(","))`` with ``len(sizes)`` or ``sizes[0]`` fails on Python 3:
``sizes = list(map(...))`` is what it was written for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic, Place
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

_KEY = "list-of-python-2"
_LAZY = ("builtins.map", "builtins.filter", "builtins.zip", "map", "filter", "zip")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all of them in the model_fn."""
    edits = []
    for module, call in _lists(flow):
        start, end = module.source.span(call)
        edits += [Edit(start, start, "list("), Edit(end, end, ")")]
    return {flow.function.module: edits} if edits and flow.function is not None else {}


def tell(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    """That the program did not run on Python 3."""
    text = (
        "Python 3 gives no list here, and what follows needs one: `list(...)` is written, as "
        "Python 2 had it"
    )
    return [Diagnostic(_KEY, Place(m, call), text, code="MGPU401") for m, call in _lists(flow)]


def _lists(flow: EstimatorFlow) -> Iterator[tuple[Module, ast.Call]]:
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return
    module, names = function.module, function.module.names
    for statement in [n for n in walk(function.node) if isinstance(n, ast.Assign)]:
        call, target = statement.value, statement.targets[0]
        if not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
            continue
        if len(statement.targets) != 1 or names.qualname(call.func) not in _LAZY:
            continue
        mentions = names.mentions(target.id, names.scopes[function.node])
        if [one for one in mentions if isinstance(one.ctx, ast.Store)] != [target]:
            continue
        if any(_needs_list(module, one) for one in mentions if one is not target):
            yield module, call


def _needs_list(module: Module, name: ast.Name) -> bool:
    """`len(name)`, `name[0]`"""
    parent = module.names.parents[name]
    if isinstance(parent, ast.Subscript):
        return parent.value is name and isinstance(parent.ctx, ast.Load)
    called = isinstance(parent, ast.Call) and parent.args == [name]
    return called and module.names.qualname(parent.func) in ("builtins.len", "len")
