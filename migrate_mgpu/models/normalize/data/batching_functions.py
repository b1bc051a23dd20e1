"""Functions that batch the examples which they are given: their statements, where they are called.

`return _batch_of(image, label, batch_size, shuffle=True)`, whose function says
`tf.train.shuffle_batch([image, label], batch_size, ...)`, becomes what the function does: what
fills the queue, and what is taken of it, then stand in one function. Of an `if` that the call
decides only its arm is left.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.queues import BATCHES
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function


def written_where_called(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function and all its calls; none where there is none."""
    for module in modules:
        for function in dict.fromkeys(_batching(module)):
            edits = _edits(module, function, graph)
            if edits:
                return {module: edits}
    return {}


def _batching(module: Module) -> Iterator[ast.FunctionDef]:
    """The functions of a module that batch what their parameters are."""
    known = calls_of_names(module)
    for name, signature in BATCHES.items():
        for call in known.get(name, ()):
            home = module.names.scope_at(call).function()
            tensors = NamedArguments(module, call, signature).get("tensors")
            if not isinstance(home, ast.FunctionDef) or tensors is None:
                continue
            names = [part for part in walk(tensors) if isinstance(part, ast.Name)]
            if names and home in module.tree.body and all(map(module.names.is_parameter, names)):
                yield home


def _edits(module: Module, function: ast.FunctionDef, graph: CallGraph) -> list[Edit]:
    found: list[Edit] = []
    for reference in graph.references(Function(module, function)):
        call = reference.call
        statement = module.names.parents.get(call) if call is not None else None
        home = module.names.scope_at(call).function() if call is not None else None
        if reference.module is not module or not isinstance(home, ast.FunctionDef):
            return []
        if not isinstance(statement, (ast.Assign, ast.Return)) or statement.value is not call:
            return []
        edit = MovedCall(module, home, statement, function).edit()
        if edit is None:
            return []
        found.append(edit)
    return [*found, without_function(module.source, function)] if found else []
