"""Attributes that change once the graph is built, by what they were when it was.

    self.training = False                             self.training = False
    x = tf.layers.dropout(x, training=self.training)  x = tf.layers.dropout(x, training=False)

in a constructor, where methods say `self.training = True` later on: the graph of TF1 stays what it
was built as, and so does the network.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.origins import class_of
from migrate_mgpu.models.front.session.scope import constructor_of, trains
from migrate_mgpu.source.source import Edit


def normalize(module: Module) -> list[Edit]:
    """The edits; none where no such attribute is read as a graph is built."""
    found: list[Edit] = []
    for owner in module.tree.body:
        node = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if isinstance(owner, ast.ClassDef) and node is not None and node.args.args:
            if any(trains(module, part) for part in walk(node)):
                found += _settled(module, owner, node)
    return found


def _settled(module: Module, owner: ast.ClassDef, node: ast.FunctionDef) -> list[Edit]:
    names, source, me = module.names, module.source, node.args.args[0].arg
    methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
    inside = {*walk(node)}
    found: list[Edit] = []
    if any(_hands_on(module, part, me, methods) for part in inside):
        return []  # another function may change the attribute there
    for place, statement in enumerate(node.body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        if len(statement.targets) > 1 or not isinstance(statement.value, ast.Constant):
            continue
        mentions = names.attributes.get(target.attr, ())
        stored = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
        if len(stored) < 2 or [one for one in stored if one in inside] != [target]:
            continue
        if any(class_of(module, one) is not owner for one in stored):
            continue
        below = {part for one in node.body[place + 1 :] for part in walk(one)}
        for read in mentions:
            own = read in below and isinstance(read.ctx, ast.Load)
            if own and names.scope_at(read).node is node and _is_given(module, read):
                found.append(Edit(*source.span(read), source.code(statement.value)))
    return found


def _is_given(module: Module, node: ast.Attribute) -> bool:
    """Whether a function of TensorFlow is given a value as it is."""
    parent = module.names.parents[node]
    call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and call.func is not node and bool(name_of(module, call))


def _hands_on(module: Module, node: ast.AST, me: str, methods: Collection[str]) -> bool:
    """Whether code has the object itself, or calls a method of its."""
    if not isinstance(node, ast.Name) or node.id != me:
        return False
    parent = module.names.parents[node]
    return not isinstance(parent, ast.Attribute) or parent.attr in methods
