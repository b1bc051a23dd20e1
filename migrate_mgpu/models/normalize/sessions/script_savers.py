"""A saver that the function with the session makes of a script's graph: the script makes it.

    def main(_):
        saver = tf.train.Saver()
        with tf.Session() as sess:
            ...
            saver.save(sess, path)

stands below the graph, and runs once: there is the same to save above it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.models.front.session.scope import session_calls, trains
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such saver; none where there is none."""
    calls = session_calls(module)
    node = module.names.scope_at(calls[0]).node if len(calls) == 1 else None
    if not isinstance(node, ast.FunctionDef) or node not in module.tree.body:
        return []
    if not graph.runs_once(module, node.body[0]) or not _is_below(module, node):
        return []
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and name_of(module, value) == "train.Saver":
            assert isinstance(statement, ast.Assign)
            return _moved(module, node, statement, value)
    return []


def _is_below(module: Module, node: ast.FunctionDef) -> bool:
    """Whether the script's statements above a function make all that its graph has.

    What functions make that it calls there is theirs as well; the function itself makes nothing.
    """
    above = module.tree.body[: module.tree.body.index(node)]
    outside = [
        one
        for one in module.tree.body
        if not isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one not in above
    ]
    makers = [
        part
        for one in (node, *outside)
        for part in walk(one)
        if isinstance(part, ast.Call) and _makes(module, part)
    ]
    built = any(
        trains(module, part)
        for one in above
        if not isinstance(one, (ast.FunctionDef, ast.ClassDef))
        for part in walk(one)
    )
    called = {part.id for part in walk(node) if isinstance(part, ast.Name)}
    for one in module.tree.body:
        if isinstance(one, ast.FunctionDef) and one is not node and one.name in called:
            makers += (p for p in walk(one) if isinstance(p, ast.Call) and _makes(module, p))
    return built and not makers


def _makes(module: Module, call: ast.Call) -> bool:
    """Whether a call makes variables."""
    name = name_of(module, call)
    return trains(module, call) or any(
        name in known for known in (VARIABLES.by_name, LAYERS.by_name, COUNTERS)
    )


def _moved(
    module: Module, node: ast.FunctionDef, statement: ast.Assign, call: ast.Call
) -> list[Edit]:
    names, source = module.names, module.source
    target, layout = statement.targets[0], Layout(source, statement)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return []
    if len(statement.targets) > 1 or not all(isinstance(one, ast.Constant) for one in given):
        return []
    if len(node.body) < 2 or not layout.owns_lines or "\n" in source.code(statement):
        return []
    scope = names.scopes[node]
    name = target.id
    if name in names.module_scope.bindings or any(
        position(one) < position(target) for one in names.mentions(name, scope)
    ):
        return []
    line = source.code(statement)
    return [
        Layout(source, node).insert_paragraph([line]),
        Edit(layout.line_start, layout.next_line, ""),
    ]
