"""Functions that are told a size of a tensor which they are given as well: they ask it themselves.

    def block(x, hidden, width):
        return tf.layers.conv1d(x, hidden, width)

    net = block(net, net.shape[2], 3)

becomes `def block(x, width):` with `hidden = x.shape[2]` as its first statement: a layer is built
of the shape of what it is applied to.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such parameter; none where there is none."""
    if ".shape[" not in module.source.text or not session_calls(module):
        return []
    for node in module.tree.body:
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            continue
        function = Function(module, node)
        for name in function.parameters():
            edits = _asked(module, graph, function, node, name)
            if edits:
                return edits
    return []


def _asked(
    module: Module, graph: CallGraph, function: Function, node: ast.FunctionDef, name: str
) -> list[Edit]:
    bindings = module.names.scopes[node].bindings
    calls = [one.call for one in graph.references(function) if one.module is module]
    plain = not (node.args.vararg or node.args.kwarg or node.args.defaults)
    body = [one for one in node.body if not _is_docstring(one)]
    if len(bindings.get(name, ())) != 1 or not calls or not plain or not body:
        return []
    if len(calls) != len(graph.references(function)):
        return []
    asked: set[tuple[str, str]] = set()
    found: list[Edit] = []
    for call in calls:
        given = bind(call, function).every() if call is not None else None
        size = given.get(name) if given is not None else None
        tensor = asked_of(size.value) if isinstance(size, ast.Subscript) else None
        if call is None or given is None or not isinstance(tensor, ast.Name):
            return []
        assert isinstance(size, ast.Subscript)
        index = constant(size.slice)
        others = [
            key
            for key, value in given.items()
            if isinstance(value, ast.Name) and value.id == tensor.id
        ]
        if len(others) != 1 or not isinstance(index, int):
            return []
        asked.add((others[0], module.source.code(size)[len(tensor.id) :]))
        edit = CallEdit(module.source, call)
        edit.drop_value(size)
        found += edit.edits()
    layout = Layout(module.source, body[0])
    if len(asked) != 1 or not layout.owns_lines:
        return []
    ((tensor_name, rest),) = asked
    found.append(layout.insert_before([f"{name} = {tensor_name}{rest}"]))
    found.append(without_parameter(module.source, node, name))
    return found


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
