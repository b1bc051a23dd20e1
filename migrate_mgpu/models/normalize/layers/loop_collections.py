"""Collections that a loop fills where a graph is built, as lists.

    for i in range(1, len(sizes)):
        weight = tf.Variable(...)
        tf.add_to_collection('losses', tf.multiply(0.003, tf.nn.l2_loss(weight)))
        net = tf.nn.relu(tf.matmul(net, weight))
    loss = tf.add_n(tf.get_collection('losses'))

becomes `losses = []`, `losses.append(...)` in the loop and `tf.add_n(losses)`: what a loop puts in
a list can be what a function returns.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.layers.collection_lists import by_collection
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such collection of a module; none where there is none.

    ``modules`` are all of the program.
    """
    for key, found in by_collection(modules).items():
        if all(home is module for home, _ in found):
            edits = _edits(module, key, [call for _, call in found])
            if edits:
                return edits
    return []


def _edits(module: Module, key: str, calls: Sequence[ast.Call]) -> list[Edit]:
    names, source = module.names, module.source
    scopes = {names.scope_at(call) for call in calls}
    home = next(iter(scopes))
    body = getattr(home.node, "body", None)
    if len(scopes) != 1 or not isinstance(body, list):
        return []
    line = list(in_line(body))
    ordered = sorted(calls, key=lambda one: (one.lineno, one.col_offset))
    tops = [_top(module, call, line) for call in ordered]
    if None in tops or not any(isinstance(one, ast.For) for one in tops):
        return []
    name = names.fresh(home, key, f"{key}_list")
    edits, read = list[Edit](), False
    for call, top in zip(ordered, tops):
        statement = names.statement(call)
        if name_of(module, call) == "get_collection":
            if not isinstance(names.parents[call], ast.Call) or isinstance(top, ast.For):
                return []
            if len(call.args) + len(call.keywords) != 1:
                return []
            read = True
            edits.append(Edit(*source.span(call), name))
            continue
        value = by_parameter(call, ("name", "value")).get("value")
        if read or value is None or not isinstance(statement, ast.Expr):
            return []
        if statement.value is not call or not Layout(source, statement).owns_lines:
            return []
        text = source.code(value)
        if isinstance(top, ast.For):
            if names.parents[statement] is not top:
                return []  # a turn may add nothing, or more than once
            edits.append(Edit(*source.span(statement), f"{name}.append({text})"))
        else:
            edits.append(Edit(*source.span(statement), f"{name} = {name} + [{text}]"))
    first = tops[0]
    assert first is not None
    layout = Layout(source, first)
    if not read or not layout.owns_lines:
        return []
    return [layout.insert_before([f"{name} = []"]), *edits]


def _top(module: Module, node: ast.AST, line: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement of those that are executed in line which a node stands in, or is."""
    names = module.names
    statement = names.statement(node)
    around = [statement, *(one for one in names.ancestors(statement) if isinstance(one, ast.stmt))]
    return next((one for one in around if one in line), None)
