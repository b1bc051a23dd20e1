"""A function that builds a part of the graph and stays for what it does: as its calls' statements.

Where a program stays because of what `relu_layer` does, or of a call of it, each

    h1 = relu_layer(x, 256, True, 'layer1')

becomes the function's statements, without the arms that the arguments rule out. A call within an
expression gets a name first. What is called in more places than one, or in a loop, builds there
what it did: the same statements run, in the same order.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from migrate_mgpu.analysis.call_graph import CallGraph, Function, Reference
from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, position, walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import is_session, scopes_of
from migrate_mgpu.models.normalize.functions import settled_arms
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.models.normalize.functions.single_calls import (
    imports_for,
    joined,
    with_imports,
    without_imports,
    without_unused,
)
from migrate_mgpu.models.normalize.layers.collection_lists import CALLS
from migrate_mgpu.models.normalize.layers.static_sizes import made_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

_CALLS = 16  # of a function: more would make a long program of a short one
_LINES = 240  # that they may become together
# A call within these may not run, or several times.
_LATE = (ast.Lambda, ast.IfExp, ast.BoolOp, *COMPREHENSIONS)


def normalize(
    why: Diagnostic,
    modules: Sequence[Module],
    graph: CallGraph,
    own: Set[Module],
    settled: bool = False,
    towers: ast.For | None = None,
) -> dict[Module, list[Edit]]:
    """The edits for the function that a program stays for; none where there is none.

    ``own`` are the modules that no other program has. ``settled``: what all calls decide alike goes
    first, and the function stays if that is enough. What towers share is read of the functions
    that all of them call: these stay as they are.
    """
    for function in _candidates(why, graph):
        beside = towers is None or _is_beside(function, graph, towers)
        if function.module in own and beside:
            edits = settled_arms.normalize(function, graph) if settled else {}
            edits = edits or _named(function, graph) or _written(function, modules, graph)
            if edits and edits.keys() <= own:
                return edits
    return {}


def settles(why: Diagnostic, graph: CallGraph, own: Set[Module]) -> bool:
    """Whether the calls of a function that a program stays for decide some of its conditions."""
    return any(
        settled_arms.normalize(one, graph) for one in _candidates(why, graph) if one.module in own
    )


def _candidates(why: Diagnostic, graph: CallGraph) -> list[Function]:
    """The functions that a reason is about: what it stands in, what is called there."""
    module, names = why.module, why.module.names
    found: list[Function] = []
    around = [why.node, *names.ancestors(why.node)] if why.node in names.parents else [why.node]
    outer = [one for one in around if one in module.tree.body]
    for one in outer:
        if isinstance(one, ast.FunctionDef):
            found.append(Function(module, one))
    calls = [one for one in around if isinstance(one, ast.Call)]
    if isinstance(why.node, (ast.stmt, ast.expr)) and not isinstance(
        why.node, (ast.FunctionDef, ast.ClassDef, ast.With, ast.For, ast.If)
    ):
        calls += [one for one in walk(why.node) if isinstance(one, ast.Call)]
        # What a part is asked for, its size say, is not known of what a function makes.
        for name in (one for one in walk(why.node) if isinstance(one, ast.Name)):
            made = made_of(module, name) if isinstance(name.ctx, ast.Load) else None
            calls += [made] if isinstance(made, ast.Call) else []
    for call in dict.fromkeys(calls):
        target = graph.target(module, call.func)
        if target is not None and isinstance(target.node, ast.FunctionDef):
            found.append(target)
    if why.node in names.parents and _is_of_collection(module, names.statement(why.node)):
        found += _collecting(module, graph)
    return [one for one in dict.fromkeys(found) if _is_plain(one, graph)]


def _is_of_collection(module: Module, statement: ast.stmt) -> bool:
    calls = (one for one in walk(statement) if isinstance(one, ast.Call))
    return any(name_of(module, call) in CALLS for call in calls)


def _collecting(module: Module, graph: CallGraph) -> list[Function]:
    """The functions that fill collections, which those that read them wait for."""
    calls = (call for name in CALLS for call in calls_of_names(module).get(name, ()))
    around = (graph.enclosing(module, call) for call in calls)
    return [one for one in around if one is not None]


def _is_plain(function: Function, graph: CallGraph) -> bool:
    """Whether a function is its module's own, builds something, and is not what runs it."""
    node, module = function.node, function.module
    if not isinstance(node, ast.FunctionDef) or node not in module.tree.body:
        return False
    if "__all__" in module.names.module_scope.bindings:
        return False  # it may be named there
    parts = [*walk(node)]
    builds = any(isinstance(one, ast.Call) and name_of(module, one) for one in parts)
    if not builds or any(is_session(module, one) for one in parts):
        return False
    return not any(
        isinstance(one, ast.Call) and graph.target(module, one.func) == function for one in parts
    )


def _is_beside(function: Function, graph: CallGraph, towers: ast.For) -> bool:
    """Whether only statements beside a loop over devices, in its own scope, call a function."""
    for one in graph.references(function):
        names = one.module.names
        if one.call is None or towers not in names.parents:
            return False
        if names.scope_at(one.call) is not names.scope_at(towers):
            return False
        if is_inside(one.module, one.call, {towers}):
            return False
    return True


def _calls(function: Function, graph: CallGraph) -> list[tuple[Reference, ast.Call]] | None:
    """All calls of a function; None where it is more than called."""
    found: list[tuple[Reference, ast.Call]] = []
    for one in graph.references(function):
        if one.call is None:
            return None
        found.append((one, one.call))
    found.sort(key=lambda pair: (str(pair[0].module.path), *position(pair[1])))
    return found if len(found) <= _CALLS else None


def _named(function: Function, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits that give a call within an expression a name of its own."""
    for one, call in _calls(function, graph) or ():
        module = one.module
        statement = module.names.statement(call)
        if isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
            if statement.value is call:
                continue
        elif not isinstance(statement, ast.AugAssign):
            continue
        layout = Layout(module.source, statement)
        around = [*module.names.ancestors(call)]
        inside = around[: around.index(statement)]
        if any(isinstance(part, _LATE) for part in inside) or not layout.owns_lines:
            continue
        if not _is_first(module, statement, call, graph):
            continue
        scope = module.names.scope_at(statement)
        name = module.names.fresh(scope, f"{function.name}_1")
        code = module.source.code(call)
        above = layout.insert_before(f"{name} = {code}".split("\n"))
        return {module: [above, Edit(*module.source.span(call), name)]}
    return {}


def _is_first(module: Module, statement: ast.stmt, call: ast.Call, graph: CallGraph) -> bool:
    """Whether nothing that a statement does before a call depends on what that does."""
    inside = {*walk(call)}
    for part in walk(statement):
        if isinstance(part, ast.Call) and part not in inside:
            if call in walk(part):
                continue
            span, own = module.source.span(part), module.source.span(call)
            if span[0] < own[0] and not name_of(module, part):
                return False
        if isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
    return True


def _written(
    function: Function, modules: Sequence[Module], graph: CallGraph
) -> dict[Module, list[Edit]]:
    """The edits that write a function where it is called, all of its calls at once."""
    calls = _calls(function, graph)
    node, origin = function.node, function.module
    assert isinstance(node, ast.FunctionDef)
    length = (node.end_lineno or node.lineno) - node.lineno
    if not calls or len(calls) * length > _LINES or origin not in modules:
        return {}
    found: dict[Module, list[Edit]] = {}
    known: set[tuple[str, ...]] = set()  # the variables by their scopes and names
    added: dict[Module, dict[str, Edit]] = {}  # what callers import for it
    reserved: dict[ast.AST, set[str]] = {}
    for one, call in calls:
        module = one.module
        statement = module.names.statement(call)
        if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
            return {}
        home = module.names.scope_at(statement).node
        if statement.value is not call or not isinstance(home, (ast.FunctionDef, ast.Module)):
            return {}
        taken = reserved.setdefault(home, set())
        more = imports_for(module, call, function) if origin is not module else {}
        if more is None:
            return {}
        moved = MovedCall(
            module, home, statement, node, origin=origin, imported={*more}, reserved={*taken}
        )
        edit = moved.edit()
        if edit is None:
            return {}
        made = _variables(edit.new, [ast.dump(o) for o in scopes_of(module, statement)])
        if not known.isdisjoint(made):
            return {}  # TF1 makes no variable twice, and what it shares is not seen here
        known.update(made)
        taken |= moved.own
        found.setdefault(module, []).append(edit)
        added.setdefault(module, {}).update(more)
    unused = without_unused(origin, function, {name for one in added.values() for name in one})
    if unused is None:
        return {}
    if found.keys() - {origin}:
        imports = without_imports(modules, graph, function)
        if imports is None:
            return {}
        for module in {**imports, **added}:
            edits = with_imports(module, imports.get(module, []), added.get(module, {}))
            found.setdefault(module, []).extend(edits)
    own = joined([without_function(origin.source, node), *unused])
    found.setdefault(origin, []).extend(own)
    return found


def _variables(text: str, outer: Sequence[str]) -> set[tuple[str, ...]]:
    """What statements make by `get_variable`: the names of scopes around each, and its own."""
    found: set[tuple[str, ...]] = set()

    def read(node: ast.AST, scopes: tuple[str, ...]) -> None:
        inner = scopes
        for item in node.items if isinstance(node, ast.With) else ():
            call = item.context_expr
            if isinstance(call, ast.Call) and _last(call.func) == "variable_scope" and call.args:
                inner = (*inner, ast.dump(call.args[0]))
        if isinstance(node, ast.Call) and _last(node.func) == "get_variable":
            named = (one.value for one in node.keywords if one.arg == "name")
            name = node.args[0] if node.args else next(named, None)
            if name is not None:
                found.add((*scopes, ast.dump(name)))
        for child in ast.iter_child_nodes(node):
            read(child, inner)

    # What is written over several lines may have some that are not indented.
    code = (line for line in text.splitlines() if line.strip() and line.strip()[0] != "#")
    block = next(code, "")[:1].isspace()
    read(ast.parse(f"if True:\n{text}" if block else text), (*outer,))
    return found


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
