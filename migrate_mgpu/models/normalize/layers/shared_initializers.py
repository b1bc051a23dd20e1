"""Initializers and regularizers that a module makes once, where its layers are given them.

    weight_init = tf.random_normal_initializer(stddev=0.02)

    def conv(x, channels):
        return tf.layers.conv2d(x, channels, 3, kernel_initializer=weight_init)

A function that makes layers becomes a class, which Keras's own initializer is made for.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_KINDS = ("initializer", "regularizer")


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one of a module's; none where there is none."""
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign) and _is_made(module, statement):
            edits = _written(module, statement, modules)
            if edits:
                return edits
    return []


def _is_made(module: Module, statement: ast.Assign) -> bool:
    """Whether a statement makes an initializer of constants, or says that there is none."""
    value = statement.value
    if len(statement.targets) > 1 or not Layout(module.source, statement).owns_lines:
        return False
    if is_none(value):
        return True
    if not isinstance(value, ast.Call) or name_of(module, value) not in INITIALIZERS.by_name:
        return False
    given = [*value.args, *(one.value for one in value.keywords)]
    return all(constant(one) is not None for one in given)


def _written(module: Module, statement: ast.Assign, modules: Sequence[Module]) -> list[Edit]:
    names, target, source = module.names, statement.targets[0], module.source
    if not isinstance(target, ast.Name) or names.only_binding(target) is None:
        return []
    mentions = [one for one in names.mentions(target.id, names.module_scope) if one is not target]
    if not mentions or not all(_is_given(module, one) for one in mentions):
        return []
    if any(_may_read(other, target.id) for other in modules if other is not module):
        return []
    code = source.code(statement.value)
    if "\n" in code:
        return []
    return [
        *(Edit(*source.span(one), code) for one in mentions),
        without_paragraph(source, statement),
    ]


def _is_given(module: Module, mention: ast.Name) -> bool:
    """Whether a mention is what a call of TensorFlow's is given for its variables."""
    parent = module.names.parents[mention]
    call = module.names.parents.get(parent)
    if not isinstance(parent, ast.keyword) or not (parent.arg or "").endswith(_KINDS):
        return False
    return isinstance(call, ast.Call) and bool(name_of(module, call))


def _may_read(module: Module, name: str) -> bool:
    """Whether another module reads a name that it does not give a value itself."""
    if any(one.attr == name for one in module.names.attributes.get(name, ())):
        return True
    own = name in module.names.module_scope.bindings
    imported = any(
        alias.name == name
        for statement in module.names.imports
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    )
    read = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(module.tree))
    return imported or (read and not own)
