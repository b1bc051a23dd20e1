"""Lists that a graph's variables are added to one by one, written out where they are complete.

    params = []
    w = tf.get_variable("w", [4, 3])
    params.append(w)

becomes `params = [w]` in the place of the last statement that adds one. So does `self.params`, of
an object whose constructor does all of that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.helper_calls import returns_variable
from migrate_mgpu.models.front.session.origins import class_of, is_of_another
from migrate_mgpu.models.front.session.scope import constructor_of
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_READS = ("index", "count", "copy")  # methods of a list that leave it as it is


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such list; none where there is none."""
    for statement in walk(module.tree):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(value, ast.List) and not value.elts:
            if isinstance(target, (ast.Name, ast.Attribute)):
                edits = _written_out(module, graph, statement, target)
                if edits:
                    return edits
    return []


def _mentions(module: Module, target: ast.Name | ast.Attribute) -> list[ast.expr] | None:
    """Every mention of a list; None where others may be of it."""
    names = module.names
    if isinstance(target, ast.Name):
        home = names.scope_of_name[target]
        found: list[ast.expr] = [*names.mentions(target.id, home)]
        return found if names.only_binding(target) is not None else None
    owner = class_of(module, target)
    if owner is None or names.scope_at(target).node is not constructor_of(owner):
        return None
    every = [one for one in names.attributes[target.attr] if not is_of_another(module, one, owner)]
    stored = [one for one in every if not isinstance(one.ctx, ast.Load)]
    return [*every] if stored == [target] else None


def _written_out(
    module: Module, graph: CallGraph, statement: ast.Assign, target: ast.Name | ast.Attribute
) -> list[Edit]:
    names, source = module.names, module.source
    mentions = _mentions(module, target)
    lines = [*_lines_of(module, statement)]
    if mentions is None or statement not in lines:
        return []
    added: list[tuple[ast.stmt, ast.Name]] = []
    read: list[ast.stmt] = []
    for mention in mentions:
        if mention is target:
            continue
        around = names.parents.get(mention)
        call = names.parents.get(around) if isinstance(around, ast.Attribute) else None
        if isinstance(around, ast.Attribute) and around.attr not in _READS:
            whole = names.parents.get(call) if isinstance(call, ast.Call) else None
            item = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
            if around.attr != "append" or whole not in lines or not isinstance(item, ast.Name):
                return []
            assert isinstance(whole, ast.Expr)
            if not _is_variable(module, graph, item) or names.scope_at(whole) is not names.scope_at(
                target
            ):
                return []
            added.append((whole, item))
        elif isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
            return []
        else:
            read.append(names.statement(mention))
    if not added:
        return []
    last = max(added, key=lambda one: lines.index(one[0]))[0]
    places = {one: place for place, one in enumerate(lines)}
    if any(places.get(one, len(lines)) <= places[last] for one in read):
        return []
    if any(one not in places and not _is_elsewhere(module, one, target, last) for one in read):
        return []
    between = [one for one in lines if places[statement] < places[one] <= places[last]]
    if isinstance(target, ast.Attribute) and any(_is_used(module, one, target) for one in between):
        return []
    gone = [statement, *(one for one, _ in added if one is not last)]
    if not all(Layout(source, one).owns_lines for one in (*gone, last)):
        return []
    items = sorted(added, key=lambda one: places[one[0]])
    text = f"{source.code(target)} = [{', '.join(name.id for _, name in items)}]"
    return [
        *(without_paragraph(source, one) for one in gone),
        Edit(*source.span(last), text),
    ]


def _lines_of(module: Module, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that run once, one after the other, in the function of one, or the module."""
    home = module.names.scope_at(statement).node
    body = home.body if isinstance(home, (ast.FunctionDef, ast.Module)) else []
    yield from in_line(body)


def _is_variable(module: Module, graph: CallGraph, name: ast.Name) -> bool:
    """Whether a name stands for one variable that its scope makes, or has made."""
    value = module.names.only_value(name)
    if not isinstance(value, ast.Call):
        return False
    target = graph.target(module, value.func)
    made = target is not None and returns_variable(target)
    return made or name_of(module, value) in VARIABLES.by_name


def _is_used(module: Module, statement: ast.stmt, target: ast.Attribute) -> bool:
    """Whether a statement gives the object to other code, or calls a method of it."""
    owner, me = class_of(module, target), target.value
    methods = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)} if owner else ()
    assert isinstance(me, ast.Name)
    for node in walk(statement):
        if isinstance(node, ast.Name) and node.id == me.id:
            parent = module.names.parents.get(node)
            if not isinstance(parent, ast.Attribute) or parent.attr in methods:
                return True
    return False


def _is_elsewhere(
    module: Module, read: ast.stmt, target: ast.Name | ast.Attribute, last: ast.stmt
) -> bool:
    """Whether a statement that reads a list runs behind the last that fills it.

    It stands below it, or in another method of the object, which its constructor has made.
    """
    names = module.names
    if isinstance(target, ast.Attribute) and names.scope_at(read) is not names.scope_at(target):
        return True
    inside = isinstance(names.scope_at(target).node, ast.FunctionDef)
    return inside and read.lineno > (last.end_lineno or last.lineno)
