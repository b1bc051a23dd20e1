"""Functions within the one that builds a graph, as functions of their module.

`def cells(size): ... dropout` in a constructor takes what it reads of the constructor as
parameters, `def cells(dropout, size)`, and each call gives it them, `cells(dropout, 8)`: a loop
that calls it can stand in a function of its own then.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout


def lifted(module: Module, home: ast.Module | ast.FunctionDef, name: str) -> list[Edit] | None:
    """The edits that put a function of ``home`` above it, or above its class.

    None where it would not do the same there. The function is called, and no more.
    """
    names, source, scope = module.names, module.source, module.names.scopes[home]
    bindings = scope.bindings[name]
    node = bindings[0].node
    if len(bindings) != 1 or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    if name in names.module_scope.bindings or any("\n" in text for text in _texts(node)):
        return None
    layout = Layout(source, node)
    taken = _taken(module, node, scope)
    if not layout.owns_lines or taken is None:
        return None
    changes = _calls(module, node, name, scope, taken) if taken else []
    if changes is None:
        return None
    own = [_first(source, source.span(node)[0], taken, node.args)] if taken else []
    lines = [line.rstrip() for line in render(source, node, own, 0, "").split("\n")]
    end = layout.next_line
    while end < len(source.text) and not source.line_text(source.place(end)[0]).strip():
        end = source.line_starts[source.place(end)[0]]  # blank lines behind it go, too
    top: ast.stmt = home if isinstance(home, ast.FunctionDef) else node
    owners = (one for one in names.ancestors(top) if isinstance(one, ast.ClassDef))
    place = Layout(source, next(owners, top))
    above = place.insert_before([*lines, "", ""])
    if not source.text[: place.line_start].rstrip(" \t").endswith(f"\n{source.newline}"):
        above = place.insert_before(["", "", *lines, "", ""])
    return [above, Edit(layout.line_start, end, ""), *changes]


def _texts(node: ast.stmt) -> list[str]:
    return [
        one.value
        for one in walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def _taken(module: Module, node: ast.FunctionDef, scope: Scope) -> list[str] | None:
    """What a function reads of the one around it, in order; None where it cannot be given it.

    Each has its one value before the function is made.
    """
    names, found = module.names, dict[str, None]()
    inside = [one for one in walk(node) if isinstance(one, ast.Name) and one in names.scope_of_name]
    own = names.scopes[node]
    for part in sorted(inside, key=position):
        home = names.defining_scope(part.id, names.scope_of_name[part])
        around = home.function() if home is not None else None
        if around is None or around is node or _is_within(module, around, node):
            continue
        bindings = scope.bindings.get(part.id, [])
        if home is not scope or len(bindings) != 1 or part.id in own.bindings:
            return None
        if not isinstance(part.ctx, ast.Load) or names.scope_of_name[part] is scope:
            return None  # a default is computed where the function stands
        binding = bindings[0]
        if binding.kind != "parameter" and position(binding.node) >= position(node):
            return None
        if isinstance(binding.node, (ast.FunctionDef, ast.ClassDef)) or _is_object(
            module, part.id, scope
        ):
            return None
        found[part.id] = None
    return list(found)


def _is_within(module: Module, node: ast.AST, outer: ast.AST) -> bool:
    return outer in module.names.ancestors(node)


def _is_object(module: Module, name: str, scope: Scope) -> bool:
    """Whether a name is what a method calls its own object."""
    home = scope.function()
    if not isinstance(home, ast.FunctionDef) or module.names.class_around(home) is None:
        return False
    return bool(home.args.args) and home.args.args[0].arg == name


def _calls(
    module: Module, node: ast.FunctionDef, name: str, scope: Scope, taken: Sequence[str]
) -> list[Edit] | None:
    """The edits that give each call what the function takes; None where it is more than called."""
    names, source, found = module.names, module.source, list[Edit]()
    for mention in names.mentions(name, scope):
        call = names.parents.get(mention)
        if not isinstance(call, ast.Call) or call.func is not mention:
            return None
        if names.scope_of_name[mention] is not scope:
            return None
        found.append(_first(source, source.span(call.func)[1], taken, call))
    return found


def _first(
    source: Source, start: int, taken: Sequence[str], rest: ast.arguments | ast.Call
) -> Edit:
    """What is taken, in front of the other parameters or arguments."""
    place = source.text.index("(", start) + 1
    if isinstance(rest, ast.Call):
        more = bool(rest.args or rest.keywords)
    else:
        more = bool(rest.posonlyargs or rest.args or rest.vararg or rest.kwonlyargs or rest.kwarg)
    behind = ", " if source.text[place : place + 1].strip() else ","
    return Edit(place, place, ", ".join(taken) + (behind if more else ""))
