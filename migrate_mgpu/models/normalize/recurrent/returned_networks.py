"""Recurrent networks that a function returns with their states, as the outputs that it returns.

    def encode(x, size):
        cell, back = tf.nn.rnn_cell.LSTMCell(size), tf.nn.rnn_cell.LSTMCell(size)
        return tf.nn.bidirectional_dynamic_rnn(cell, back, x, dtype=tf.float32)

    (left, right), _ = encode(x, 8)

becomes `(outputs_fw, outputs_bw), _ = tf.nn.bidirectional_dynamic_rnn(...)`, which returns
`outputs_fw, outputs_bw`, and `left, right = encode(x, 8)`, where no call reads the states.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_TWO_WAYS = "nn.bidirectional_dynamic_rnn"
_ONE_WAY = "nn.dynamic_rnn"


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function; none where there is none."""
    calls = calls_of_names(module)
    for call in (*calls.get(_TWO_WAYS, ()), *calls.get(_ONE_WAY, ())):
        statement = module.names.parents.get(call)
        node = module.names.scope_at(call).node
        if isinstance(statement, ast.Return) and isinstance(node, ast.FunctionDef):
            two = call in calls.get(_TWO_WAYS, ())
            edits = _edits(module, node, statement, two, graph)
            if edits:
                return edits
    return []


def _edits(
    module: Module, node: ast.FunctionDef, statement: ast.Return, two: bool, graph: CallGraph
) -> list[Edit]:
    names, source = module.names, module.source
    if node.decorator_list or statement not in in_line(node.body):
        return []
    if sum(isinstance(one, (ast.Return, ast.Yield, ast.YieldFrom)) for one in walk(node)) != 1:
        return []
    layout = Layout(source, statement)
    scope = names.scopes[node]
    if not layout.owns_lines or statement.value is None:
        return []
    if two:
        given = [names.fresh(scope, f"outputs_{one}", f"{one}_outputs") for one in ("fw", "bw")]
        target = f"({', '.join(given)}), _"
    else:
        given = [names.fresh(scope, "outputs", "rnn_outputs")]
        target = f"{given[0]}, _"
    if names.mentions("_", scope) or "_" in scope.outer:
        return []
    start = source.span(statement)[0]
    found = [Edit(start, source.span(statement.value)[0], f"{target} = ")]
    line = f"{source.indent_of(statement)}return {', '.join(given)}{source.newline}"
    found.append(Edit(layout.next_line, layout.next_line, line))
    references = list(graph.references(Function(module, node)))
    for reference in references:
        if reference.call is None or reference.module is not module:
            return []
        taken = names.parents.get(reference.call)
        edit = _taken(module, taken, two) if isinstance(taken, ast.Assign) else None
        if edit is None:
            return []
        found.append(edit)
    return found if references else []


def _taken(module: Module, taken: ast.Assign, two: bool) -> Edit | None:
    """The edit for what a call is given to: its states go, which nothing reads."""
    target = taken.targets[0]
    if len(taken.targets) > 1 or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    if len(target.elts) != 2 or not isinstance(target.elts[1], ast.Name):
        return None
    outputs, states = target.elts
    assert isinstance(states, ast.Name)
    names = module.names
    home = names.defining_scope(states.id, names.scope_of_name[states])
    if home is None or home.is_module:
        if any(isinstance(one.ctx, ast.Load) for one in names.by_id.get(states.id, ())):
            return None
    elif any(isinstance(one.ctx, ast.Load) for one in names.mentions(states.id, home)):
        return None
    parts = outputs.elts if isinstance(outputs, (ast.Tuple, ast.List)) else [outputs]
    if len(parts) != 1 + two or not all(isinstance(one, ast.Name) for one in parts):
        return None
    text = ", ".join(module.source.code(one) for one in parts)
    return Edit(module.source.span(target)[0], module.source.span(taken.value)[0], f"{text} = ")
