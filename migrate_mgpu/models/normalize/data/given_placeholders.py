"""Placeholders that the constructor of a class is given, as its own.

    image = tf.placeholder(tf.float32, [None, 784])
    model = Model(image)
    sess.run(model.loss, feed_dict={image: batch})

becomes `model = Model()` and `{model.data: batch}`, where the constructor keeps it,
`self.data = data`, and builds what it trains, and one object of the class is made.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import constructor_of, trains
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.header_edit import without_parameter
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one class; none where none is given a placeholder."""
    for owner in module.tree.body:
        constructor = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
        if constructor is None or constructor.args.vararg or constructor.args.kwarg:
            continue
        builds = any(isinstance(part, ast.Call) for part in walk(constructor))
        if not builds or not any(trains(module, part) for part in walk(owner)):
            continue
        made = Function(module, constructor)
        references = graph.references(made)
        call = references[0].call if len(references) == 1 else None
        if call is None or references[0].module is not module:
            continue
        target = _target(module, call)
        arguments = bind(call, made)
        if target is None or arguments.unclear is not None:
            continue
        given = {
            name: value
            for name, value in arguments.written().items()
            if isinstance(value, ast.Name) and _placeholder(module, value, call) is not None
        }
        edits = _moved(module, constructor, call, target, given) if given else []
        if edits:
            return edits
    return []


def _target(module: Module, call: ast.Call) -> ast.Name | None:
    """`model`, of `model = Model(image)`, which has no other value."""
    statement = module.names.parents.get(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    alone = isinstance(target, ast.Name) and module.names.only_binding(target) is not None
    return target if alone and isinstance(target, ast.Name) else None


def _placeholder(module: Module, name: ast.Name, call: ast.Call) -> ast.Call | None:
    """The placeholder that a name stands for, made of constants in the same block as an object."""
    value, names = module.names.only_value(name), module.names
    if not isinstance(value, ast.Call) or name_of(module, value) not in PLACEHOLDERS:
        return None
    statement = names.parents.get(value)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    if not Layout(module.source, statement).owns_lines:
        return None
    if names.block(statement) is not names.block(names.statement(call)):
        return None
    told = [*value.args, *(keyword.value for keyword in value.keywords)]
    parts = (part for one in told for part in walk(one))
    plain = all(
        bool(name_of(module, part)) or names.qualname(part) is not None
        for part in parts
        if isinstance(part, (ast.Name, ast.Call)) and not _is_of_name(module, part)
    )
    return value if plain else None


def _is_of_name(module: Module, part: ast.AST) -> bool:
    """`tf`, of `tf.float32`."""
    around = module.names.parents.get(part)
    return isinstance(around, ast.Attribute) and bool(name_of(module, around))


def _moved(
    module: Module,
    constructor: ast.FunctionDef,
    call: ast.Call,
    target: ast.Name,
    given: dict[str, ast.Name],
) -> list[Edit]:
    names, source = module.names, module.source
    home = names.scopes[constructor]
    found: list[Edit] = []
    for name, value in given.items():
        kept = [
            one
            for one in constructor.body
            if isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Name)
            and one.value.id == name
            and len(one.targets) == 1
            and isinstance(one.targets[0], ast.Attribute)
        ]
        if len(kept) != 1 or [one.kind for one in home.bindings[name]] != ["parameter"]:
            return []
        attribute = kept[0].targets[0]
        assert isinstance(attribute, ast.Attribute)
        stored = [
            one for one in names.attributes[attribute.attr] if not isinstance(one.ctx, ast.Load)
        ]
        if stored != [attribute]:
            return []
        mentions = names.mentions(name, home)
        if any(position(one) < position(kept[0]) for one in mentions):
            return []
        if any(names.scope_of_name[one] is not home for one in mentions):
            return []
        made = _placeholder(module, value, call)
        assert made is not None
        found.append(Edit(*source.span(kept[0].value), source.code(made)))
        others = (one for one in mentions if one is not kept[0].value)
        found += (Edit(*source.span(one), source.code(attribute)) for one in others)
        outside = names.mentions(value.id, names.scope_of_name[value])
        statement = names.statement(made)
        for one in outside:
            if one is value or one in walk(statement):
                continue
            if position(one) < position(call):
                return []
            found.append(Edit(*source.span(one), f"{target.id}.{attribute.attr}"))
        found.append(without_paragraph(source, statement))
    edit = CallEdit(source, call, Function(module, constructor).parameters()[1:])
    edit.drop(*given)
    return [*found, *edit.edits(), without_parameter(source, constructor, *given)]
