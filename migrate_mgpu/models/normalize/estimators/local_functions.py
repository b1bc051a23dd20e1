"""Functions inside of a model_fn become functions of the module.

``def block(x): ... training=is_training`` in a model_fn takes what it reads of the model_fn
as parameters, and each call gives it them: a part of a network can be a class then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, start_with_comments


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such function; none where there is none."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    if not isinstance(function.module.names.parents[function.node], ast.Module):
        return {}
    for inner in _own_functions(function.node.body):
        edits = _edits(function.module, function.node, inner)
        if edits:
            return {function.module: edits}
    return {}


def _own_functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """The functions of a body, those in its branches too."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield statement
        elif isinstance(statement, ast.If):
            yield from _own_functions([*statement.body, *statement.orelse])


def _edits(module: Module, outer: ast.FunctionDef, inner: ast.FunctionDef) -> list[Edit]:
    names, source = module.names, module.source
    arguments = inner.args
    if inner.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        return []
    if not arguments.args or arguments.defaults or arguments.posonlyargs:
        return []
    if inner.name in names.module_scope.bindings or len(names.block(inner)) < 2:
        return []
    if any(isinstance(n, (ast.Nonlocal, ast.Global, ast.FunctionDef)) for n in _inside(inner)):
        return []
    mentions = [n for n in ast.walk(outer) if isinstance(n, ast.Name) and n.id == inner.name]
    calls = [names.parents[n] for n in mentions]
    if len(names.scopes[outer].bindings.get(inner.name, ())) != 1:
        return []
    taken = _taken(module, outer, inner)
    found: list[Edit] = []
    for mention, call in zip(mentions, calls):
        if not isinstance(call, ast.Call) or call.func is not mention:
            return []
        if (
            inner in names.ancestors(call)
            or names.scope_of_name[mention] is not names.scopes[outer]
        ):
            return []
        given = [*call.args, *(k.value for k in call.keywords)]
        if any(isinstance(a, ast.Starred) for a in call.args) or not given:
            return []
        if any(k.arg is None for k in call.keywords):
            return []
        place = max(source.span(value)[1] for value in given)
        found.append(Edit(place, place, "".join(f", {name}={name}" for name in taken)))
    last = source.span(arguments.args[-1])[1]
    block = Block(source, source.indent_of(outer))
    block.statement(inner, [Edit(last, last, "".join(f", {name}" for name in taken))])
    text = block.text().rstrip() + source.newline * 3
    place = start_with_comments(source.text, Layout(source, outer).line_start)
    layout = Layout(source, inner)
    rest = source.text[layout.next_line :]
    end = layout.next_line + len(rest) - len(rest.lstrip("\r\n"))
    return [
        Edit(place, place, text),
        Edit(start_with_comments(source.text, layout.line_start), end, ""),
        *found,
    ]


def _inside(inner: ast.FunctionDef) -> list[ast.AST]:
    return [node for statement in inner.body for node in ast.walk(statement)]


def _taken(module: Module, outer: ast.FunctionDef, inner: ast.FunctionDef) -> list[str]:
    """What the inner function reads of the outer one, in the order of its first mention."""
    scopes = module.names.scopes
    own, around = scopes[inner].bindings, scopes[outer].bindings
    found = [
        node
        for node in _inside(inner)
        if isinstance(node, ast.Name) and node.id in around and node.id not in own
    ]
    found.sort(key=lambda name: (name.lineno, name.col_offset))
    return list(dict.fromkeys(name.id for name in found))
