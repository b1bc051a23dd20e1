"""Functions within the one that builds a graph, as functions of their module.

`def cells(size): ... dropout` in a constructor takes what it reads of the constructor as
parameters, `def cells(dropout, size)`, and each call gives it them, `cells(dropout, 8)`: a loop
that calls it can stand in a function of its own then. What a parameter is where it is not given,
`def cells(size=size)`, each call gives it, too.

So does one within a function that makes layers and applies them, `def network(x): def block(y):
...`, which becomes a class of layers: its reader knows no function within.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, Scope, position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit, Source
from migrate_mgpu.source.statements import Layout


def normalize(module: Module) -> list[Edit]:
    """The edits for one function within a plain function that has no session."""
    for home in module.tree.body:
        if not isinstance(home, ast.FunctionDef) or home.decorator_list:
            continue
        if any(is_inside(module, one, {home}) for one in session_calls(module)):
            continue
        for inner in home.body:
            if not isinstance(inner, ast.FunctionDef) or not _is_only_called(module, home, inner):
                continue
            if any(name_of(module, part) for part in walk(inner) if isinstance(part, ast.Call)):
                edits = lifted(module, home, inner.name)
                if edits:
                    return edits
    return []


def _is_only_called(module: Module, home: ast.FunctionDef, inner: ast.FunctionDef) -> bool:
    """Whether a function is called where it stands, and not handed on: to a dataset's `map`."""
    names = module.names
    for one in names.mentions(inner.name, names.scopes[home]):
        call = names.parents.get(one)
        if isinstance(one.ctx, ast.Load) and not (isinstance(call, ast.Call) and call.func is one):
            return False
    return True


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
    defaults = _defaults(module, node, scope)
    taken = _taken(module, node, scope, defaults) if defaults is not None else None
    if not layout.owns_lines or taken is None or defaults is None:
        return None
    changes = _calls(module, node, name, scope, taken, defaults) if taken or defaults else []
    if changes is None:
        return None
    own = [_first(source, source.span(node)[0], taken, node.args)] if taken else []
    own += [Edit(source.span(one)[1], source.span(value)[1], "") for one, value in defaults.items()]
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


def _defaults(
    module: Module, node: ast.FunctionDef, scope: Scope
) -> dict[ast.arg, ast.Name] | None:
    """The parameters that are a name of the function around, where they are not given.

    None where a parameter in front of such a one keeps another value.
    """
    every = [*node.args.posonlyargs, *node.args.args]
    given = every[len(every) - len(node.args.defaults) :]
    found: dict[ast.arg, ast.Name] = {}
    for place, (one, value) in enumerate(zip(given, node.args.defaults)):
        if isinstance(value, ast.Name) and len(scope.bindings.get(value.id, [])) == 1:
            if place > len(found):
                return None
            found[one] = value
    return found


def _taken(
    module: Module, node: ast.FunctionDef, scope: Scope, defaults: Mapping[ast.arg, ast.Name]
) -> list[str] | None:
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
        told = part in defaults.values()
        if home is not scope or len(bindings) != 1 or (part.id in own.bindings and not told):
            return None
        if not isinstance(part.ctx, ast.Load) or (names.scope_of_name[part] is scope and not told):
            return None  # a default is computed where the function stands
        binding = bindings[0]
        if binding.kind != "parameter" and position(binding.node) >= position(node):
            return None
        if isinstance(binding.node, (ast.FunctionDef, ast.ClassDef)) or _is_object(
            module, part.id, scope
        ):
            return None
        if not told:
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
    module: Module,
    node: ast.FunctionDef,
    name: str,
    scope: Scope,
    taken: Sequence[str],
    defaults: Mapping[ast.arg, ast.Name],
) -> list[Edit] | None:
    """The edits that give each call what the function takes; None where it is more than called."""
    names, source, found = module.names, module.source, list[Edit]()
    wanted = {*taken, *(value.id for value in defaults.values())}
    for mention in names.mentions(name, scope):
        call = names.parents.get(mention)
        if not isinstance(call, ast.Call) or call.func is not mention:
            return None
        if not _sees(module, mention, scope, wanted):
            return None
        if taken:
            found.append(_first(source, source.span(call.func)[1], taken, call))
        if defaults:
            bound = bind(call, Function(module, node))
            if bound.unclear is not None:
                return None
            left = [one for one in defaults if one.arg not in bound.written()]
            end = source.span(call)[1] - 1
            more = ", ".join(f"{one.arg}={defaults[one].id}" for one in left)
            behind = source.text[:end].rstrip()[-1:]
            head = ", " if taken or behind not in "(," else ""
            found += [Edit(end, end, head + more)] if left else []
    return found


def _sees(module: Module, mention: ast.Name, scope: Scope, wanted: Collection[str]) -> bool:
    """Whether a place, which may stand in a comprehension, means the same names as a function."""
    names, home = module.names, module.names.scope_of_name[mention]
    if home is scope:
        return True
    inner = isinstance(home.node, COMPREHENSIONS)
    return inner and all(names.defining_scope(one, home) is scope for one in wanted)


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
