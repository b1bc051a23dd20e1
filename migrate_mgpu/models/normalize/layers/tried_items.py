"""Layers for the next item of a list, as long as there is one.

    for index, block in enumerate(blocks):
        try:
            following = blocks[index + 1]
            net = conv2d(net, following.filters)
        except IndexError:
            pass

becomes `if index + 1 < len(blocks):` with what was tried. What asks for no item, and functions
that ask for none, raise no such error.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of, elements_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_DEEP = 3  # functions that call each other
_PLAIN = (ast.Assign, ast.Expr, ast.If)
_NAMES = (ast.Name, ast.Attribute)
_HOST = {"builtins.len", "builtins.int", "builtins.str", "builtins.range"}


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such statement; none where there is none."""
    if "IndexError" not in module.source.text or not session_calls(module):
        return []
    for node in walk(module.tree):
        if isinstance(node, ast.Try) and _catches_end(module, node):
            item = _item(module, node.body[0])
            if item is not None and all(_asks_none(module, one, graph) for one in node.body[1:]):
                return _edits(module, node, item)
    return []


def _catches_end(module: Module, node: ast.Try) -> bool:
    """Whether nothing is done about an IndexError alone."""
    if len(node.handlers) != 1 or node.orelse or node.finalbody or len(node.body) < 2:
        return False
    handler = node.handlers[0]
    caught = module.names.qualname(handler.type) if handler.type is not None else None
    idle = len(handler.body) == 1 and isinstance(handler.body[0], ast.Pass)
    return caught == "builtins.IndexError" and idle


def _item(module: Module, statement: ast.stmt) -> ast.Subscript | None:
    """`items[index + 1]`, of a list that is written out, and a number that is never below 0."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.Subscript):
        return None
    if not all(isinstance(one, ast.Name) for one in statement.targets):
        return None
    index = value.slice
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add):
        added = constant(index.right)
        if not isinstance(added, int) or added < 0:
            return None
        index = index.left
    counts = isinstance(index, ast.Name) and _counts(module, index)
    listed = isinstance(value.value, ast.Name) and elements_of(module, value.value) is not None
    return value if counts and listed else None


def _counts(module: Module, name: ast.Name) -> bool:
    """Whether a name is what `enumerate`, or `range`, counts from 0."""
    binding = module.names.only_binding(name)
    target = binding.node if binding is not None else None
    loop = module.names.parents.get(target) if target is not None else None
    paired = isinstance(loop, ast.Tuple) and loop.elts[0] is target
    loop = module.names.parents.get(loop) if isinstance(loop, ast.Tuple) and paired else loop
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return False
    if len(loop.iter.args) != 1 or loop.iter.keywords:
        return False
    counter = "builtins.enumerate" if paired else "builtins.range"
    return module.names.qualname(loop.iter.func) == counter


def _asks_none(module: Module, node: ast.AST, graph: CallGraph, deep: int = 0) -> bool:
    """Whether what a statement does asks for no item of a list that may have none."""
    if deep > _DEEP:
        return False
    for part in walk(node):
        if isinstance(part, ast.stmt) and deep == 0 and not isinstance(part, _PLAIN):
            return False
        if isinstance(part, ast.Subscript) and not (
            asked_of(part.value) is not None and isinstance(constant(part.slice), int)
        ):
            return False
        if isinstance(part, ast.Call) and not _is_safe(module, part, graph, deep):
            return False
    return True


def _is_safe(module: Module, call: ast.Call, graph: CallGraph, deep: int) -> bool:
    """Whether a call is TensorFlow's, Python's own, or of a function that asks for none."""
    if name_of(module, call) or module.names.qualname(call.func) in _HOST:
        return True
    target = graph.target(module, call.func)
    if target is not None and isinstance(target.node, ast.FunctionDef):
        return all(_asks_none(target.module, one, graph, deep + 1) for one in target.node.body)
    if isinstance(call.func, ast.Attribute) and asked_of(call) is not None:
        return True
    return deep > 0 and _is_given_function(module, call.func, graph, deep)


def _is_given_function(module: Module, node: ast.expr, graph: CallGraph, deep: int) -> bool:
    """Whether a parameter is a function of TensorFlow's, or None, in all calls of its function."""
    if not isinstance(node, ast.Name) or not module.names.is_parameter(node) or deep > _DEEP:
        return False
    home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
    around = home.node if home is not None else None
    if home is None or not isinstance(around, ast.FunctionDef) or len(home.bindings[node.id]) > 1:
        return False
    function = Function(module, around)
    for reference in graph.references(function):
        bound = bind(reference.call, function) if reference.call is not None else None
        value = bound.value(node.id) if bound is not None and bound.unclear is None else None
        if value is None:
            return False
        other = reference.module if value not in around.args.defaults else module
        plain = is_none(value) or (isinstance(value, _NAMES) and name_of(other, value))
        if not plain and not _is_given_function(other, value, graph, deep + 1):
            return False
    return True


def _edits(module: Module, node: ast.Try, item: ast.Subscript) -> list[Edit]:
    layout, source = Layout(module.source, node), module.source
    handler = node.handlers[0]
    start, _ = source.span(node)
    first = source.span(handler)[0]
    line = source.text.rfind("\n", 0, first) + 1
    if not layout.owns_lines or source.text[start : start + 4] != "try:":
        return []
    listed, index = source.code(item.value), source.code(item.slice)
    return [
        Edit(start, start + len("try"), f"if {index} < len({listed})"),
        Edit(line, layout.next_line, ""),
    ]
