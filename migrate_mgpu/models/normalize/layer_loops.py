"""Loops that make layers where a graph is built, as functions of their own.

`for size in sizes: net = dense(net, size)` makes other variables in each turn. A function with the
loop, `net = dense_layers(net)`, is what the readers know: it becomes a class with a list of layers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.dataflow import loaded
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.recurrent import RUNS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import is_session
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PLAIN = (ast.Assign, ast.AugAssign, ast.For, ast.With)


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for home in _homes(module):
        for statement in home.body:
            if isinstance(statement, ast.For):
                edits = _written(module, graph, home, statement)
                if edits:
                    return edits
    return []


def _homes(module: Module) -> Iterator[ast.Module | ast.FunctionDef]:
    """Where a graph may be built: the script, and functions with placeholders or a session."""
    yield module.tree
    inner = (
        one for node in module.tree.body if isinstance(node, ast.ClassDef) for one in node.body
    )
    for node in (*module.tree.body, *inner):
        calls = [one for one in walk(node) if isinstance(one, ast.Call)]
        if isinstance(node, ast.FunctionDef) and any(
            name_of(module, one) in PLACEHOLDERS or is_session(module, one) for one in calls
        ):
            yield node


def _written(
    module: Module, graph: CallGraph, home: ast.Module | ast.FunctionDef, loop: ast.For
) -> list[Edit]:
    names, source, layout = module.names, module.source, Layout(module.source, loop)
    makers = [word for call in walk(loop) if (word := _makes(module, graph, call))]
    inside = [one for one in walk(loop) if isinstance(one, ast.stmt)]
    if not makers or loop.orelse or not all(isinstance(one, _PLAIN) for one in inside):
        return []
    if not layout.owns_lines or any("\n" in text for text in _texts(loop)):
        return []
    scope = names.scopes[home]
    stored = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    mentions = {name: names.mentions(name, scope) for name in stored}
    below = [n for n, each in mentions.items() if _is_read_behind(module, each, loop)]
    inner = [n for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    places = {name.id: position(name) for name in sorted(inner, key=position, reverse=True)}
    gives = sorted(below, key=places.__getitem__)
    targets = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
    if not gives or targets & {*gives}:
        return []
    parts = _asked_parts(module, mentions, loop, gives)
    if parts is None:
        return []
    takes = _taken(module, graph, home, loop, stored)
    if takes is None or not any(name in stored for name in takes):
        return []
    makers_inside = [name for name in takes if _is_function(module, scope, name)]
    moved = [_hoisted(module, scope, name) for name in makers_inside]
    if None in moved:
        return []
    takes = [name for name in takes if name not in makers_inside]
    owner = names.parents.get(home)
    me = home.args.args[0].arg if isinstance(owner, ast.ClassDef) and home.args.args else ""
    owned = _attributes(module, loop, me) if me in takes else []
    if owned is None:
        return []
    known = {n.id for n in walk(loop) if isinstance(n, ast.Name)} | {*names.module_scope.bindings}
    asked = {one.attr: f"own_{one.attr}" if one.attr in known else one.attr for one in owned}
    if known & {*asked.values()}:
        return []
    given = {name: name for name in takes if name != me}
    given.update((asked[attribute], f"{me}.{attribute}") for attribute in asked)
    word = f"{makers[0]}_layers"
    name = names.fresh(names.module_scope, word, f"more_{word}")
    unit = source.indent_unit
    changed = [Edit(*source.span(part), asked[part.attr]) for part in owned]
    body = render(source, loop, changed, len(unit), unit).split("\n")
    text = [line for one in moved if one is not None for line in one.lines]
    text += [f"def {name}({', '.join(given)}):", *(unit + body[0], *body[1:])]
    returned = [part for one in gives for part in parts[one]]
    text += [f"{unit}return {', '.join(returned)}", "", ""]
    told = {code: names.fresh(scope, code.replace(".", "_")) for code in returned if "." in code}
    called = ", ".join(told.get(code, code) for code in returned)
    call = f"{called} = {name}({', '.join(given.values())})"
    top: ast.stmt = home if isinstance(home, ast.FunctionDef) else loop
    top = owner if isinstance(owner, ast.ClassDef) else top
    above = Layout(source, top).insert_before([line.rstrip() for line in text])
    behind = [
        Edit(*source.span(part), told[source.code(part)])
        for one in gives
        for mention in mentions[one]
        if isinstance(part := names.parents[mention], ast.Attribute)
        and source.code(part) in told
        and not is_inside(module, part, {loop})
    ]
    gone = [one.gone for one in moved if one is not None]
    return [above, layout.replace([call]), *behind, *gone]


def _attributes(module: Module, loop: ast.For, me: str) -> list[ast.Attribute] | None:
    """Where a loop of a constructor reads what its object has; None where it does more with it."""
    found: list[ast.Attribute] = []
    for part in walk(loop):
        if isinstance(part, ast.Name) and part.id == me:
            parent = module.names.parents[part]
            call = module.names.parents[parent]
            if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                return None
            if isinstance(call, ast.Call) and call.func is parent:
                return None
            found.append(parent)
    return found


@record(frozen=True)
class _Hoisted:
    """A function that goes to the top of its file: its lines there, and the edit where it was."""

    lines: list[str]
    gone: Edit


def _is_function(module: Module, scope: Scope, name: str) -> bool:
    bindings = scope.bindings.get(name, [])
    return any(isinstance(one.node, ast.FunctionDef) for one in bindings)


def _hoisted(module: Module, scope: Scope, name: str) -> _Hoisted | None:
    """A function within another one that needs nothing of it; None for others."""
    names, source = module.names, module.source
    bindings = scope.bindings[name]
    node = bindings[0].node
    if len(bindings) != 1 or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    if name in names.module_scope.bindings or any("\n" in text for text in _texts(node)):
        return None
    for part in walk(node):
        if isinstance(part, ast.Name) and part in names.scope_of_name:
            home = names.defining_scope(part.id, names.scope_of_name[part])
            around = home.function() if home is not None else None
            if around is not None and around is not node:
                return None
    layout = Layout(source, node)
    if not layout.owns_lines:
        return None
    lines = [line.rstrip() for line in render(source, node, [], 0, "").split("\n")]
    end = layout.next_line
    while end < len(source.text) and not source.line_text(source.place(end)[0]).strip():
        end = source.line_starts[source.place(end)[0]]  # blank lines behind it go, too
    return _Hoisted([*lines, "", ""], Edit(layout.line_start, end, ""))


def _asked_parts(
    module: Module, mentions: dict[str, list[ast.Name]], loop: ast.For, gives: list[str]
) -> dict[str, list[str]] | None:
    """What of each name is read behind a loop: itself, or parts of a recurrent network's state.

    None where a state is read as a whole, and its parts as well.
    """
    found: dict[str, list[str]] = {}
    for name in gives:
        behind = [m for m in mentions[name] if position(m) > position(loop)]
        behind = [m for m in behind if not is_inside(module, m, {loop})]
        reads = [m for m in behind if isinstance(m.ctx, ast.Load)]
        codes = dict.fromkeys(
            module.source.code(parent)
            for m in reads
            if isinstance(parent := module.names.parents[m], ast.Attribute)
            and parent.attr in ("c", "h")
        )
        if not codes:
            found[name] = [name]
            continue
        if len([m for m in reads if _is_part(module, m)]) != len(reads) or len(reads) != len(
            behind
        ):
            return None
        found[name] = list(codes)
    return found


def _is_part(module: Module, mention: ast.Name) -> bool:
    parent = module.names.parents[mention]
    return isinstance(parent, ast.Attribute) and parent.attr in ("c", "h")


def _texts(loop: ast.stmt) -> Iterator[str]:
    return (
        one.value
        for one in walk(loop)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


def _is_read_behind(module: Module, mentions: list[ast.Name], loop: ast.For) -> bool:
    """Whether what a loop gives a name is read behind the loop."""
    behind = sorted(
        (m for m in mentions if position(m) > position(loop) and not is_inside(module, m, {loop})),
        key=position,
    )
    reads = {m for m in behind if isinstance(m.ctx, ast.Load)}
    if not reads:
        return False
    first = module.names.statement(behind[0])
    anew = isinstance(first, ast.Assign) and not reads & set(walk(first))
    anew |= isinstance(first, ast.For) and isinstance(behind[0].ctx, ast.Store)
    return not (anew and _always(module, first, reads))


def _always(module: Module, first: ast.stmt, reads: set[ast.Name]) -> bool:
    """Whether a statement has given a name its value wherever that is read."""
    block = module.names.block(first)
    return all(
        any(
            parent in block
            for parent in (module.names.statement(one), *module.names.ancestors(one))
        )
        for one in reads
    )


def _taken(
    module: Module,
    graph: CallGraph,
    home: ast.Module | ast.FunctionDef,
    loop: ast.For,
    stored: set[str],
) -> list[str] | None:
    """What a function with a loop is given: tensors, and all that a function around it has.

    None where it reads what it cannot be given.
    """
    names = module.names
    scope = names.scopes[home]
    found: dict[str, None] = {}
    given: set[str] = set()
    for name in _in_order(loop):
        if isinstance(name, str):
            given.add(name)
            continue
        where = names.defining_scope(name.id, names.scope_of_name[name])
        if where is not scope or name.id in given or name.id in found:
            continue
        if name.id in stored or home is not module.tree or _is_tensor(module, graph, scope, name):
            if name.id not in _bound_above(module, scope, loop):
                return None
            found[name.id] = None
    return list(found)


def _bound_above(module: Module, scope: Scope, loop: ast.For) -> set[str]:
    return {
        name
        for name, bindings in scope.bindings.items()
        if any(one.kind == "parameter" or position(one.node) < position(loop) for one in bindings)
    }


def _in_order(loop: ast.For) -> Iterator[ast.Name | str]:
    """The names that a loop reads, and those that it gives values to, as it does so."""
    yield from loaded(loop.iter)
    yield from (n.id for n in walk(loop.target) if isinstance(n, ast.Name))
    for one in loop.body:
        if isinstance(one, ast.For):
            yield from _in_order(one)
            continue
        yield from loaded(one)
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            yield ast.Name(one.target.id, ast.Load())
        yield from (
            n.id for n in walk(one) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )


def _is_tensor(
    module: Module, graph: CallGraph, scope: Scope, name: ast.Name, deep: int = 0
) -> bool:
    """Whether a name of the script may stand for a tensor."""
    for binding in scope.bindings.get(name.id, ()):
        for part in walk(binding.value) if binding.value is not None and deep < 9 else ():
            if isinstance(part, ast.Call) and name_of(module, part):
                return True
            target = graph.target(module, part.func) if isinstance(part, ast.Call) else None
            if target is not None and _speaks(target):
                return True
            if isinstance(part, ast.Name) and part.id != name.id:
                if _is_tensor(module, graph, scope, part, deep + 1):
                    return True
    return False


def _speaks(function: Function) -> bool:
    calls = (one for one in walk(function.node) if isinstance(one, ast.Call))
    return any(name_of(function.module, one) for one in calls)


def _makes(
    module: Module, graph: CallGraph, node: ast.AST, seen: frozenset[ast.AST] = frozenset()
) -> str:
    """What a call that makes a layer, or variables for a tensor, is of; empty for others."""
    if not isinstance(node, ast.Call):
        return ""
    name = name_of(module, node)
    if name in RUNS.by_name:
        return "rnn"
    row = LAYERS.by_name.get(name)
    if row is not None:
        return name.rpartition(".")[2] if row.inputs else ""
    target = graph.target(module, node.func)
    if target is None or target.node in seen or not isinstance(target.node, ast.FunctionDef):
        return ""
    calls = [one for one in walk(target.node) if isinstance(one, ast.Call)]
    makes = any(
        name_of(target.module, one) in VARIABLES.by_name
        or _makes(target.module, graph, one, seen | {target.node})
        for one in calls
    )
    return target.name if makes else ""
