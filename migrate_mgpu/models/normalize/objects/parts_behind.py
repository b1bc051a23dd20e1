"""Parts of a graph that stand right behind the object whose constructor builds the rest.

    model = Model(8)
    start = tf.fill([model.rows], 1)
    model.found = search(start, model.table)

are the last that the constructor builds, `self.found = search(start, self.table)`: it runs at that
moment. So it is where one object is made, once, and nothing else reads what the statements name.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.searches import search_of
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.constructor_ends import at_the_end, may_be_added_to
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_OTHER = (ast.FunctionDef, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Starred)


def normalize(
    modules: Sequence[Module], graph: CallGraph, own: Set[Module]
) -> dict[Module, list[Edit]]:
    """The edits for the parts behind one object; none where there are none."""
    for module in modules:
        for owner in module.tree.body if module in own else ():
            constructor = constructor_of(owner) if isinstance(owner, ast.ClassDef) else None
            if constructor is None or not may_be_added_to(module, constructor):
                continue
            made = graph.references(Function(module, constructor))
            call = made[0].call if len(made) == 1 else None
            if call is None or made[0].module is not module or not graph.runs_once(module, call):
                continue
            edits = _moved(module, constructor, call)
            if edits:
                return {module: edits}
    return {}


def _moved(module: Module, constructor: ast.FunctionDef, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or names.scope_of_name[target] is not names.module_scope:
        return []
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return []
    if len(statement.targets) != 1 or len(names.bindings_of(target)) != 1:
        return []
    block = names.block(statement)
    parts: list[ast.Assign] = []
    for one in block[block.index(statement) + 1 :]:
        if not isinstance(one, ast.Assign) or not _builds(module, one, target.id):
            break
        parts.append(one)
    while parts and not _kept(parts[-1], target.id):
        parts.pop()
    if not parts or not any(search_of(module, part) for one in parts for part in walk(one)):
        return []
    inside = {part for one in parts for part in walk(one)}
    taken = names.scopes[constructor].bindings
    own = {part.id for part in inside if isinstance(part, ast.Name) and _is_store(part)}
    read = {part.id for part in inside if isinstance(part, ast.Name)} - own - {target.id}
    if read & {*taken} or own & {*taken}:
        return []
    for name in own:
        mentions = names.mentions(name, names.module_scope)
        if not {*mentions} <= inside:
            return []
    me, lines = constructor.args.args[0].arg, list[str]()
    for one in parts:
        start, text = source.span(one)[0], source.code(one)
        if "#" in text or '"""' in text or "'''" in text or not Layout(source, one).owns_lines:
            return []
        objects = [
            part for part in walk(one) if isinstance(part, ast.Name) and part.id == target.id
        ]
        for part in sorted(objects, key=lambda node: source.span(node)[0], reverse=True):
            asked = names.parents[part]
            assert isinstance(asked, ast.Attribute)
            given = _name_of_part(module, constructor, asked.attr)
            first, last = (place - start for place in source.span(asked if given else part))
            text = text[:first] + (given or me) + text[last:]
        lines += text.split("\n")
    gone = [Layout(source, one).replace([]) for one in parts]
    return [*gone, at_the_end(module, constructor, lines)]


def _name_of_part(module: Module, constructor: ast.FunctionDef, attribute: str) -> str:
    """`x`, of the `self.x = x` that alone gives an object a part that it computes; else empty."""
    names = module.names
    mentions = names.attributes.get(attribute, ())
    stores = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    statement = names.parents.get(stores[0]) if len(stores) == 1 else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    if statement not in constructor.body or not isinstance(value, ast.Name):
        return ""
    own = names.scope_of_name[value] is names.scopes[constructor]
    single = len(names.bindings_of(value)) == 1 and not names.is_parameter(value)
    return value.id if own and single else ""


def _is_store(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _kept(statement: ast.Assign, name: str) -> bool:
    """`model.found = ...`"""
    target = statement.targets[0]
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) == name


def _builds(module: Module, statement: ast.Assign, name: str) -> bool:
    """Whether a statement gives names, or the object a part, what is computed of the graph."""
    names = module.names
    if len(statement.targets) != 1 or any(isinstance(one, _OTHER) for one in walk(statement)):
        return False
    target = statement.targets[0]
    if isinstance(target, ast.Attribute):
        own = module.names.attributes.get(target.attr, ())
        stores = [one for one in own if not isinstance(one.ctx, ast.Load)]
        if not _kept(statement, name) or stores != [target]:
            return False
    elif any(
        len(names.bindings_of(part)) != 1 for part in walk(target) if isinstance(part, ast.Name)
    ) or not isinstance(target, (ast.Name, ast.Tuple)):
        return False
    for part in walk(statement.value):
        if isinstance(part, ast.Name) and part.id == name:
            asked = names.parents[part]
            if not isinstance(asked, ast.Attribute) or not isinstance(asked.ctx, ast.Load):
                return False
        kind = name_of(module, part) if isinstance(part, ast.Call) else ""
        if kind and kind not in COMPUTES and not kind.endswith("tile_batch"):
            return False
    return True
