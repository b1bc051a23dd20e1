"""Functions that are given a function which makes layers, as one function for each of those.

    def layer(x, block, width):
        return tf.nn.relu(block(x, width))

    net = layer(net, encoder_block, 8)

becomes `encoder_block_layer(net, 8)`, a function that calls `encoder_block`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.normalize.layers.layer_loops import makes
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function; none where there is none."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            for parameter in [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]:
                edits = _edits(module, graph, node, parameter)
                if edits:
                    return edits
    return []


def _edits(module: Module, graph: CallGraph, node: ast.FunctionDef, parameter: str) -> list[Edit]:
    names, source = module.names, module.source
    scope = names.scopes[node]
    if [one.kind for one in scope.bindings.get(parameter, ())] != ["parameter"]:
        return []
    called = names.mentions(parameter, scope)
    reads = [one for one in called if isinstance(one.ctx, ast.Load)]
    if not reads or not all(_is_called(module, one) for one in reads):
        return []
    function = Function(module, node)
    given: dict[ast.Call, tuple[ast.expr, str]] = {}
    for reference in graph.references(function):
        call = reference.call
        if call is None or reference.module is not module or not isinstance(call.func, ast.Name):
            return []
        if call.func.id != node.name or any(isinstance(one, ast.Starred) for one in call.args):
            return []
        value = bind(call, function).given(parameter)
        made = names.only_definition(value) if isinstance(value, ast.Name) else None
        if not isinstance(value, ast.Name) or made not in module.tree.body:
            return []
        if value.id in scope.bindings or names.scope_of_name[value].bindings.get(value.id):
            return []
        given[call] = value, value.id
    plain = all(_is_plain(call, value) for call, (value, _) in given.items())
    if not plain or not any(_makes(module, graph, one) for one, _ in given.values()):
        return []
    layout, (start, end) = Layout(source, node), source.span(node)
    if not layout.owns_lines:
        return []
    texts: list[str] = []
    found: list[Edit] = []
    new: dict[str, str] = {}
    for name in dict.fromkeys(name for _, name in given.values()):
        new[name] = names.fresh(names.module_scope, f"{name}_{node.name}")
        header = without_parameter(source, node, parameter)
        at = source.text.index(node.name, start + len("def "))
        if header.touches(at, at + len(node.name)):
            return []
        changes = [header, Edit(at, at + len(node.name), new[name])]
        changes += (Edit(*source.span(one), name) for one in reads)
        inner = [Edit(one.start - start, one.end - start, one.new) for one in changes]
        texts.append(splice(source.text[start:end], inner))
    for call, (value, name) in given.items():
        edit = CallEdit(source, call)
        edit.function(new[name])
        edit.drop_value(value)
        found += edit.edits()
    gap = source.newline * 3
    return [Edit(start, end, gap.join(texts)), *found]


def _is_called(module: Module, name: ast.Name) -> bool:
    call = module.names.parents.get(name)
    return isinstance(call, ast.Call) and call.func is name


def _is_plain(call: ast.Call, value: ast.expr) -> bool:
    """Whether an argument may go: nothing behind it is told by its place alone after a keyword."""
    return value in call.args or any(one.value is value for one in call.keywords)


def _makes(module: Module, graph: CallGraph, name: ast.expr) -> bool:
    """Whether a function of the module makes layers."""
    made = module.names.only_definition(name) if isinstance(name, ast.Name) else None
    if not isinstance(made, ast.FunctionDef):
        return False
    return any(makes(module, graph, one) for one in ast.walk(made) if isinstance(one, ast.Call))
