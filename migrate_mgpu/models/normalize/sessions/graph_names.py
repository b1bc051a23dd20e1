"""A graph with a name of its own, as the one that TensorFlow has where it is entered.

    graph = tf.Graph()
    with graph.as_default(), graph.device('/cpu:0'):
        ...
    writer = tf.summary.FileWriter(logdir, graph=graph)

becomes `with graph.as_default(), tf.device('/cpu:0'):` and `graph=tf.get_default_graph()`, where
the program has no other graph: readers then know that the name is for this one alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_WRITERS = ("summary.FileWriter", "train.SummaryWriter")
_DEFAULT = "get_default_graph"


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits; none where the program has several graphs, or none with a name.

    ``modules`` are all of its program.
    """
    graphs = [call for one in modules for call in calls_of_names(one).get("Graph", ())]
    made = graphs[0] if len(graphs) == 1 else None
    if made is None or made not in calls_of_names(module).get("Graph", ()):
        return []
    names, source = module.names, module.source
    statement = names.parents[made]
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return []
    if not isinstance(made.func, ast.Attribute):
        return []
    tensorflow = source.code(made.func.value)
    found: list[Edit] = []
    for mention in names.mentions(target.id, names.scope_of_name[target]):
        parent = names.parents[mention]
        if isinstance(parent, ast.Attribute):
            call = names.parents[parent]
            called = isinstance(call, ast.Call) and call.func is parent
            if parent.attr == "device" and called and _is_inside(module, mention, target.id):
                found.append(Edit(*source.span(mention), tensorflow))
            elif parent.attr == "finalize" and called:
                alone, layout = names.statement(call), Layout(source, names.statement(call))
                one = isinstance(alone, ast.Expr) and len(names.block(alone)) > 1
                if one and layout.owns_lines:
                    found.append(layout.replace([]))
            continue
        call = names.parents[parent] if isinstance(parent, ast.keyword) else parent
        if isinstance(call, ast.Call) and (_is_writer(module, call) or _adds(call)):
            found.append(Edit(*source.span(mention), f"{tensorflow}.{_DEFAULT}()"))
    return found


def _is_writer(module: Module, call: ast.Call) -> bool:
    return name_of(module, call) in _WRITERS


def _adds(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "add_graph"


def _is_inside(module: Module, node: ast.AST, graph: str) -> bool:
    """Whether a node stands in a block that enters the graph, or behind that in its header."""
    for block in module.names.ancestors(node):
        for item in block.items if isinstance(block, ast.With) else ():
            if node in walk(item):
                break
            func = item.context_expr.func if isinstance(item.context_expr, ast.Call) else None
            if isinstance(func, ast.Attribute) and func.attr == "as_default":
                if isinstance(func.value, ast.Name) and func.value.id == graph:
                    return True
    return False
