"""Branches that compute several parts of a graph, of which some code asks for less.

    if config.L1_flag:
        pos = tf.reduce_sum(tf.abs(a), 1)
        neg = tf.reduce_sum(tf.abs(b), 1)
    else:
        ...

becomes a condition for `pos`, and one for `neg`, where something feeds only what `pos` needs: a
step computes a condition whole, where TF1 computed what was asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import Scope, walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments

_ASKS = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.expr_context,
    ast.cmpop, ast.boolop, ast.unaryop,
)  # fmt: skip


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such condition; none where there is none."""
    if not any(calls_of_names(module).get(name) for name in PLACEHOLDERS):
        return []
    fed = [_keys(node) for node in walk(module.tree) if isinstance(node, ast.Dict)]
    for scope in {module.names.scope_at(call) for call in session_calls(module)}:
        if not isinstance(scope.node, (ast.Module, ast.FunctionDef)):
            continue
        for statement in in_line(scope.node.body):
            arms = _arms(module, statement) if isinstance(statement, ast.If) else None
            if not isinstance(statement, ast.If) or arms is None:
                continue
            taken = [_fed_by(module, scope, {name}) for name, _, _ in arms]
            every = frozenset[str]().union(*taken)
            if any(every & keys < every and any(one <= keys for one in taken) for keys in fed):
                return [_written(module, statement, arms)]
    return []


def _keys(node: ast.Dict) -> frozenset[str]:
    return frozenset(key.id for key in node.keys if isinstance(key, ast.Name))


def _arms(module: Module, statement: ast.If) -> list[tuple[str, ast.Assign, ast.Assign]] | None:
    """What each arm gives the same names, one after the other; None where they do more."""
    layout = Layout(module.source, statement)
    if not layout.owns_lines or comments(module.source.code(statement)):
        return None
    if not all(isinstance(part, _ASKS) for part in ast.walk(statement.test)):
        return None
    body, other = ([*_given(module, block)] for block in (statement.body, statement.orelse))
    names = [name for name, _ in body]
    if names != [name for name, _ in other] or len({*names}) < len(names) or len(names) < 2:
        return None
    if len(body) != len(statement.body) or len(other) != len(statement.orelse):
        return None
    asked = {part.id for part in walk(statement.test) if isinstance(part, ast.Name)}
    if not asked.isdisjoint(names):
        return None
    return [(name, one, two) for (name, one), (_, two) in zip(body, other)]


def _given(module: Module, block: list[ast.stmt]) -> Iterator[tuple[str, ast.Assign]]:
    """The names of a block that are given what only computes."""
    for one in block:
        target = one.targets[0] if isinstance(one, ast.Assign) else None
        if not isinstance(one, ast.Assign) or not isinstance(target, ast.Name):
            continue
        calls = [part for part in walk(one.value) if isinstance(part, ast.Call)]
        computes = all(
            name_of(module, call) in COMPUTES or module.names.qualname(call.func) == "builtins.abs"
            for call in calls
        )
        if len(one.targets) == 1 and computes and Layout(module.source, one).owns_lines:
            yield target.id, one


def _fed_by(module: Module, scope: Scope, names: set[str]) -> frozenset[str]:
    """The placeholders that names of a scope are made of."""
    found: set[str] = set()
    waiting, seen = [*names], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for binding in scope.bindings.get(name, ()):
            statement = module.names.statement(binding.node)
            if not isinstance(statement, ast.Assign):
                continue
            if name_of(module, statement.value) in PLACEHOLDERS:
                found.add(name)
            waiting += (n.id for n in walk(statement.value) if isinstance(n, ast.Name))
    return frozenset(found)


def _written(
    module: Module, statement: ast.If, arms: list[tuple[str, ast.Assign, ast.Assign]]
) -> Edit:
    source, layout = module.source, Layout(module.source, statement)
    newline, test = source.newline, source.code(statement.test)
    text = ""
    for _, one, two in arms:
        code = source.code(one)
        if ast.dump(one) == ast.dump(two) and "\n" not in code:
            text += f"{layout.indent}{code}{newline}"
            continue
        for head, given in ((f"if {test}:", one), ("else:", two)):
            inside = Layout(source, given)
            text += f"{layout.indent}{head}{newline}"
            text += source.text[inside.line_start : inside.next_line]
    if not text.endswith(("\n", "\r")):
        text += newline
    return Edit(layout.line_start, layout.next_line, text)
