"""Parts of a graph that a function builds each time that it runs them, above the session.

`sess.run([tf.assign(t, e) for t, e in zip(target, evaluated)])` in a function builds as many
operations at each call. They are the same each time where they are made of the script's own names:
one statement above the session makes them, and the function runs it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import COMPREHENSIONS, position, walk
from migrate_mgpu.api.graph import COMPUTES, INITIALIZES
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ASKS = {"get_collection", "trainable_variables", "global_variables", "assign", "group"}
_UPDATES = ("minimize", "apply_gradients")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one function; none where none builds what it runs."""
    calls, block = session_calls(module), module.tree.body
    maker = module.names.statement(calls[0]) if len(calls) == 1 else None
    if maker not in block or _builds_below(module, maker):
        return []
    for node in block:
        if isinstance(node, ast.FunctionDef):
            edits = _moved(module, node, maker)
            if edits:
                return edits
    return []


def _moved(module: Module, node: ast.FunctionDef, maker: ast.stmt) -> list[Edit]:
    names, source = module.names, module.source
    found: list[Edit] = []
    lines: list[str] = []
    gone: list[ast.Assign] = []
    for run in _runs(module, node):
        fetched = run.args[0]
        if not isinstance(fetched, (ast.Name, ast.ListComp)):
            continue
        parts = _made_of(module, node, fetched, maker)
        if parts is None:
            continue
        gone += (one for one in parts if one not in gone)
        if isinstance(fetched, ast.ListComp):
            taken = [n.id for n in walk(fetched.generators[0].iter) if isinstance(n, ast.Name)]
            word = f"update_{taken[-1] if len(taken) < 3 else taken[-2]}"
            name = names.fresh(names.module_scope, word, f"{word}_op")
            lines.append(f"{name} = {source.code(fetched)}")
            found.append(Edit(*source.span(fetched), name))
    texts = [source.code(one) for one in gone]
    if (not gone and not found) or any("\n" in text for text in (*texts, *lines)):
        return []
    for one in gone:
        layout = Layout(source, one)
        if not layout.owns_lines or len(names.block(one)) == 1:
            return []
        found.append(Edit(layout.line_start, layout.next_line, ""))
    return [Layout(source, maker).insert_paragraph([*texts, *lines]), *found]


def _made_of(
    module: Module, node: ast.FunctionDef, fetched: ast.expr, maker: ast.stmt
) -> list[ast.Assign] | None:
    """The statements of a function that make what it runs, of the script's names alone.

    None where it is made of more, or is nothing that a graph has.
    """
    names, home = module.names, module.names.scopes[node]
    found: list[ast.Assign] = []
    waiting: list[ast.expr] = [fetched]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, ast.Name) and not _computes(module, part):
            return None
        for name in (n for n in walk(part) if isinstance(n, ast.Name)):
            scope = names.defining_scope(name.id, names.scope_of_name[name])
            if scope is None or isinstance(scope.node, COMPREHENSIONS):
                continue
            if scope is not home:
                if not scope.is_module or not _is_above(module, name, maker):
                    return None
                continue
            made = _only_statement(module, node, name)
            if made is None:
                return None
            if made not in found:
                found.insert(0, made)
                waiting.append(made.value)
    if isinstance(fetched, ast.Name) and not found:
        return None
    moved = {n for one in (*found, fetched) for n in walk(one)}
    for one in found:
        target = one.targets[0]
        assert isinstance(target, ast.Name)
        if names.module_scope.bindings.get(target.id):
            return None
        for mention in names.mentions(target.id, home):
            if mention not in moved and not any(r.args[0] is mention for r in _runs(module, node)):
                return None
    return sorted(found, key=position)


def _only_statement(module: Module, node: ast.FunctionDef, name: ast.Name) -> ast.Assign | None:
    """The one statement of a function that gives a name its value."""
    bindings = module.names.scopes[node].bindings.get(name.id, [])
    made = module.names.statement(bindings[0].node) if len(bindings) == 1 else None
    if not isinstance(made, ast.Assign) or len(made.targets) != 1:
        return None
    return made if made.value is bindings[0].value else None


def _computes(module: Module, node: ast.expr) -> bool:
    """Whether an expression makes parts of a graph, the same ones each time."""
    calls = [one for one in walk(node) if isinstance(one, ast.Call)]
    known = [name_of(module, call) for call in calls]
    plain = all(
        name in COMPUTES
        or name in _ASKS
        or module.names.qualname(call.func) in ("builtins.zip", "builtins.enumerate")
        or (isinstance(call.func, ast.Attribute) and call.func.attr == "assign")
        for call, name in zip(calls, known)
    )
    return bool(calls) and plain and any(known)


def _is_above(module: Module, name: ast.Name, maker: ast.stmt) -> bool:
    """Whether a name of the script has its only value above the session."""
    bindings = module.names.module_scope.bindings.get(name.id, [])
    return len(bindings) == 1 and position(bindings[0].node) < position(maker)


def _runs(module: Module, node: ast.FunctionDef) -> Iterator[ast.Call]:
    """The calls of a function that run something in the session."""
    for call in walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
            if call.func.attr == "run" and module.names.scope_at(call).node is node:
                yield call


def _builds_below(module: Module, maker: ast.stmt | None) -> bool:
    """Whether the script makes variables below its session, which a collection has as well."""
    for statement in module.tree.body:
        if maker is None or position(statement) <= position(maker):
            continue
        for call in walk(statement):
            name = name_of(module, call) if isinstance(call, ast.Call) else ""
            updates = isinstance(call, ast.Attribute) and call.attr in _UPDATES
            if updates or (
                name not in INITIALIZES and name in {**VARIABLES.by_name, **LAYERS.by_name}
            ):
                return True
    return False
