"""A function that makes the session of a graph which its script begins, as the script's statements.

    x = tf.placeholder(tf.float32, [None, 784])

    def train_network(x):
        prediction = model(x)
        ...
        with tf.Session() as sess:
            ...

    train_network(x)

becomes what the function does, where the script calls it: one scope has the whole graph.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function

_TRAINS = ("minimize", "apply_gradients")


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for such a function; none where there is none, or its script has no graph."""
    calls = session_calls(module)
    homes = {module.names.scope_at(call).function() for call in calls}
    node = homes.pop() if len(homes) == 1 else None
    if not isinstance(node, ast.FunctionDef) or node not in module.tree.body:
        return []
    if not _begins(module) or not _builds(module, node):
        return []
    references = list(graph.references(Function(module, node)))
    if len(references) != 1 or references[0].module is not module:
        return []
    call = references[0].call
    statement = module.names.statement(call) if call is not None else None
    if not isinstance(statement, (ast.Expr, ast.Assign)) or statement.value is not call:
        return []
    if statement not in module.tree.body:
        return []
    edit = MovedCall(module, module.tree, statement, node).edit()
    return [edit, without_function(module.source, node)] if edit is not None else []


def _begins(module: Module) -> bool:
    """Whether the script makes placeholders or variables itself, outside of its functions."""
    known = calls_of_names(module)
    made = (call for name in (*PLACEHOLDERS, *VARIABLES.by_name) for call in known.get(name, ()))
    return any(module.names.scope_at(call).is_module for call in made)


def _builds(module: Module, node: ast.FunctionDef) -> bool:
    """Whether a function makes what trains, or variables: another one may only run the graph."""
    calls = (part for part in walk(node) if isinstance(part, ast.Call))
    return any(
        name_of(module, one) in VARIABLES.by_name
        or (isinstance(one.func, ast.Attribute) and one.func.attr in _TRAINS)
        for one in calls
    )
