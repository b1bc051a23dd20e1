"""What gives variables their first values, made and run by a function that builds nothing else.

    self.init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    self.sess.run(self.init)

It is made where it is run: an object that only uses a graph has no part of it then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import INITIALIZES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_BESIDE = ("Session", "InteractiveSession", "train.Saver", "ConfigProto", "group")


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one of them; none where there is none. ``modules`` are the program's."""
    if not any(calls_of_names(module).get(name) for name in INITIALIZES):
        return []
    for function in module.names.scopes:
        if isinstance(function, ast.FunctionDef) and _builds_nothing(module, function):
            for statement in function.body:
                edits = _written(module, modules, function, statement)
                if edits:
                    return edits
    return []


def _builds_nothing(module: Module, function: ast.FunctionDef) -> bool:
    calls = [part for part in walk(function) if isinstance(part, ast.Call)]
    known = [name for name in (name_of(module, call) for call in calls) if name]
    alone = all(one in INITIALIZES or one in _BESIDE for one in known)
    return alone and any(one in INITIALIZES for one in known)


def _initializes(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    name = name_of(module, node)
    if name == "group":
        return bool(node.args) and all(_initializes(module, one) for one in node.args)
    return name in INITIALIZES and not node.args


def _written(
    module: Module, modules: Sequence[Module], function: ast.FunctionDef, statement: ast.stmt
) -> list[Edit]:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return []
    if target is None or not _initializes(module, statement.value):
        return []
    source, mentions = module.source, list(_mentions(module, modules, target))
    reads = [one for one in mentions if one is not target]
    if not reads or not Layout(source, statement).owns_lines:
        return []
    for one in reads:
        call = module.names.parents.get(one)
        run = isinstance(call, ast.Call) and [one] == call.args and not call.keywords
        same = module.names.scope_at(one).function() is function
        if not run or not same or position(one) < position(statement):
            return []
        assert isinstance(call, ast.Call)
        if getattr(call.func, "attr", "") != "run":
            return []
    text = " ".join(source.code(statement.value).split())
    found = [Edit(*source.span(one), text) for one in reads]
    return [without_paragraph(source, statement), *found]


def _mentions(module: Module, modules: Sequence[Module], target: ast.expr) -> Iterator[ast.expr]:
    """All places that may mean what a statement makes; ``target`` twice where that is unclear."""
    names = module.names
    if isinstance(target, ast.Name):
        home = names.defining_scope(target.id, names.scope_of_name[target])
        yield from names.mentions(target.id, home) if home is not None else ()
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        for other in modules:
            yield from other.names.attributes.get(target.attr, ())
