"""A function of another module that makes the session, and is given what it runs.

`train(step, loss)` behind the statements that build the graph becomes the function's statements, so
that the graph and its session stand in one function. One that its own module gives a graph, or that
several programs call, stays.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.scope import is_session, session_calls
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.models.normalize.functions.single_calls import without_imports
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function


def where_called(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of the only such function; none where there is none, or another session."""
    makers = [module for module in modules if session_calls(module)]
    if len(makers) != 1:
        return {}
    (origin,) = makers
    found = {graph.enclosing(origin, call) for call in session_calls(origin)}
    function = found.pop() if len(found) == 1 else None
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    references = graph.references(function)
    call = references[0].call if len(references) == 1 else None
    module = references[0].module if call is not None else origin
    if call is None or module is origin or module not in modules:
        return {}
    if function.node not in origin.tree.body or not function.node.args.args:
        return {}
    statement = module.names.statement(call)
    around = graph.enclosing(module, call)
    home = around.node if around is not None else module.tree
    plain = isinstance(statement, ast.Expr) and statement.value is call
    if not plain or not isinstance(home, (ast.FunctionDef, ast.Module)):
        return {}
    if any(is_session(module, part) for part in walk(module.tree)):
        return {}
    assert isinstance(statement, ast.Expr)
    edit = MovedCall(module, home, statement, function.node, origin=origin).edit()
    imports = without_imports(modules, graph, function)
    if edit is None or imports is None:
        return {}
    imports.setdefault(module, []).append(edit)
    return {**imports, origin: [without_function(origin.source, function.node)]}
