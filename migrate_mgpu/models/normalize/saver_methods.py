"""Savers that methods of an object make each time that they are called: the object has one.

    def save(self, sess, path):
        saver = tf.train.Saver()
        saver.save(sess, path)

The constructor makes `self.saver = tf.train.Saver(max_to_keep=None)` as the last thing that it
does: a new saver knows of no earlier file, and deletes none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import COUNTERS, VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.normalize.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_SAVER = "train.Saver"
_MAKE = ("minimize", "apply_gradients")  # an optimizer's variables
_DEEP = 6  # functions that call each other


@record(frozen=True)
class _Made:
    """``statement`` of ``method`` makes a saver, and ``mentions`` use it."""

    method: ast.FunctionDef
    statement: ast.Assign
    mentions: tuple[ast.Name, ...]


def kept(
    module: Module, graph: CallGraph, owner: ast.ClassDef, constructor: ast.FunctionDef
) -> list[Edit]:
    """The edits for all such methods of a class; none where there are none.

    Nor where other code makes variables, which may be there when a method is called.
    """
    methods = [one for one in owner.body if isinstance(one, ast.FunctionDef)]
    made = [one for method in methods if method is not constructor for one in _made(module, method)]
    if not made or not may_be_added_to(module, constructor):
        return []
    if not _makes_all(module, graph, owner):
        return []
    name = next((n for n in ("saver", "model_saver") if n not in module.names.attributes), None)
    if name is None:
        return []
    call = made[0].statement.value
    assert isinstance(call, ast.Call)
    me = constructor.args.args[0].arg
    line = f"{me}.{name} = {module.source.code(call.func)}(max_to_keep=None)"
    found = [at_the_end(module, constructor, [line])]
    for one in made:
        found.append(without_paragraph(module.source, one.statement))
        own = one.method.args.args[0].arg
        found += (Edit(*module.source.span(mention), f"{own}.{name}") for mention in one.mentions)
    return found


def _made(module: Module, method: ast.FunctionDef) -> Iterator[_Made]:
    names = module.names
    for statement in method.body if method.args.args and not method.decorator_list else ():
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, call = statement.targets[0], statement.value
        if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
            continue
        given = {keyword.arg for keyword in call.keywords}
        if name_of(module, call) != _SAVER or call.args or not given <= {"max_to_keep"}:
            continue
        home = names.scope_of_name[target]
        mentions = [one for one in names.mentions(target.id, home) if one is not target]
        plain = names.only_binding(target) is not None and bool(mentions)
        if plain and all(_saves(module, one) for one in mentions):
            if Layout(module.source, statement).owns_lines and len(method.body) > 1:
                yield _Made(method, statement, tuple(mentions))


def _saves(module: Module, mention: ast.Name) -> bool:
    func = module.names.parents.get(mention)
    call = module.names.parents.get(func) if isinstance(func, ast.Attribute) else None
    named = isinstance(func, ast.Attribute) and func.attr in ("save", "restore")
    return named and isinstance(call, ast.Call) and call.func is func


def _makes_all(module: Module, graph: CallGraph, owner: ast.ClassDef) -> bool:
    """Whether a class, and functions for it alone, make all variables that there are."""
    makers = {*VARIABLES.by_name, *LAYERS.by_name, *COUNTERS}
    for other in graph.modules:
        for call in other.names.calls:
            made = name_of(other, call) in makers
            trained = isinstance(call.func, ast.Attribute) and call.func.attr in _MAKE
            if (made or trained) and not _is_for(other, call, owner, graph):
                return False
    return True


def _is_for(
    module: Module, node: ast.AST, owner: ast.ClassDef, graph: CallGraph, deep: int = 0
) -> bool:
    """Whether a place is in a class, or in a function that nothing else calls."""
    if any(one is owner for one in module.names.ancestors(node)):
        return True
    function = graph.enclosing(module, node)
    if function is None or deep > _DEEP:
        return False
    calls = graph.references(function)
    return bool(calls) and all(
        one.call is not None and _is_for(one.module, one.node, owner, graph, deep + 1)
        for one in calls
    )
