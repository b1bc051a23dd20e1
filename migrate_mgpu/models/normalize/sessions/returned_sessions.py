"""A function that only makes a session, where it is called.

    def make_session(self):
        config = tf.ConfigProto(allow_soft_placement=True)
        return tf.Session(config=config)

    def train(self):
        with self.make_session() as sess:

becomes the config, and `with tf.Session(config=config) as sess:`, in `train`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout, without_function


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such function; none where there is none that is called once."""
    for call in session_calls(module):
        returned = module.names.statement(call)
        if isinstance(returned, ast.Return) and returned.value is call:
            edits = _in_place(module, graph, call, returned)
            if edits:
                return edits
    return []


def _in_place(module: Module, graph: CallGraph, made: ast.Call, returned: ast.Return) -> list[Edit]:
    names, source = module.names, module.source
    node = names.parents.get(returned)
    if (
        not isinstance(node, ast.FunctionDef)
        or node.decorator_list
        or node.body[-1] is not returned
    ):
        return []
    before = node.body[:-1]
    if before and isinstance(before[0], ast.Expr) and isinstance(before[0].value, ast.Constant):
        before = before[1:]  # its docstring
    if not all(isinstance(one, ast.Assign) and Layout(source, one).owns_lines for one in before):
        return []
    function = Function(module, node)
    owner = function.owner
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or len(given.args) != (owner is not None):
        return []
    if owner is None and node not in module.tree.body:
        return []
    references = list(graph.references(function))
    call = references[0].call if len(references) == 1 else None
    if call is None or references[0].module is not module or call.args or call.keywords:
        return []
    where = names.statement(call)
    if isinstance(where, ast.With):
        if where.items[0].context_expr is not call:
            return []
    elif not isinstance(where, ast.Assign) or where.value is not call:
        return []
    layout = Layout(source, where)
    if not layout.owns_start or node in [*names.ancestors(call)]:
        return []
    if owner is not None:
        around = graph.enclosing(module, call)
        same = around is not None and around.owner is owner
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not same or around is None or not isinstance(receiver, ast.Name):
            return []
        if [receiver.id] != around.parameters()[:1] or receiver.id != given.args[0].arg:
            return []
        if len(owner.body) < 2:
            return []
    home = names.scope_at(where)
    inner = names.scopes[node]
    taken = names.mentioned({home}) | set(home.bindings)
    if {*inner.bindings} & taken - {one.arg for one in given.args}:
        return []
    for part in (one for stays in (*before, returned) for one in walk(stays)):
        if isinstance(part, ast.Name) and part.id not in inner.bindings:
            if part.id in home.bindings and not home.is_module:
                return []
    lines = [render(source, one, [], base=layout.indent) for one in before]
    above = "".join(f"{layout.indent}{line}{source.newline}" for line in lines)
    text = splice(source.text, [], *source.span(made))
    return [
        Edit(layout.line_start, layout.line_start, above),
        Edit(*source.span(call), text),
        without_function(source, node),
    ]
