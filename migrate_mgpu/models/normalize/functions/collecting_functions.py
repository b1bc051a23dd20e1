"""Functions within a builder that put variables into collections: written where they are called.

    def layers(x, collections):
        w = tf.get_variable("w", [4, 8], collections=collections)
        return tf.matmul(x, w)

    q = layers(x, ["net", tf.GraphKeys.GLOBAL_VARIABLES])

becomes `w = tf.get_variable(...)` and `q = tf.matmul(x, w)`: which variables a collection has is
seen then. The next call's names are others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function


def normalize(module: Module) -> list[Edit]:
    """The edits for one call of such a function; none where there is none."""
    for home in walk(module.tree):
        if isinstance(home, ast.FunctionDef):
            for function in home.body:
                if isinstance(function, ast.FunctionDef) and _collects(module, function):
                    edits = [*_written(module, home, function)]
                    if edits:
                        return edits
    return []


def _collects(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function gives variables collections that it is given."""
    parameters = {one.arg for one in function.args.args}
    return any(
        isinstance(part, ast.Call)
        and name_of(module, part) in VARIABLES.by_name
        and any(
            one.arg == "collections" and getattr(one.value, "id", "") in parameters
            for one in part.keywords
        )
        for part in walk(function)
    )


def _written(module: Module, home: ast.FunctionDef, function: ast.FunctionDef) -> Iterator[Edit]:
    """The first call, as the function's statements; the function goes with its last one."""
    names = module.names
    scope = names.scopes[home]
    if len(scope.bindings[function.name]) != 1:
        return
    lines = {*in_line(home.body)}
    calls: list[ast.Assign] = []
    for mention in names.mentions(function.name, scope):
        call = names.parents.get(mention)
        statement = names.parents.get(call) if isinstance(call, ast.Call) else None
        called = isinstance(call, ast.Call) and call.func is mention
        if not called or not isinstance(statement, ast.Assign) or statement not in lines:
            return
        calls.append(statement)
    if not calls or not Layout(module.source, function).owns_lines:
        return
    calls.sort(key=lambda one: one.lineno)
    edit = MovedCall(module, home, calls[0], function).edit()
    if edit is None:
        return
    yield edit
    if len(calls) == 1:
        yield without_function(module.source, function)
