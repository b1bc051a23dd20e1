"""Savers of all variables that are made in a branch below the session: one, made above it.

    with tf.Session() as sess:
        if os.path.exists(path):
            saver = tf.train.Saver()
            saver.restore(sess, path)

The variables are the same in both places where nothing below the session builds any. A session that
a branch closes last, or right before the program ends, ends there anyway.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.repeated_savers import may_build
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ENDS = ("sys.exit", "builtins.exit", "builtins.quit", "os._exit")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for the savers of one session, and for one that closes it; none without these."""
    calls = session_calls(module)
    if len(calls) != 1:
        return []
    session = module.names.statement(calls[0])
    below = _below(module, session)
    other = len(calls[0].args) > 1 or any(one.arg == "graph" for one in calls[0].keywords)
    above = [] if other else _made_above(module, session, below)  # another graph, another saver
    return above or _closed(module, session, calls[0], below)


def _below(module: Module, session: ast.stmt) -> list[ast.stmt]:
    """The statements behind what makes a session, in its block or behind it."""
    block = module.names.block(session)
    found = block[block.index(session) + 1 :]
    return [*session.body, *found] if isinstance(session, ast.With) else found


def _made_above(module: Module, session: ast.stmt, below: list[ast.stmt]) -> list[Edit]:
    names, source = module.names, module.source
    made = [names.statement(call) for call in calls_of_names(module).get("train.Saver", ())]
    if not made or any(may_build(module, one) for one in below):
        return []
    texts = {source.code(one) for one in made}
    home = names.scope_at(session)
    first = made[0]
    target = first.targets[0] if isinstance(first, ast.Assign) else None
    if len(texts) > 1 or not isinstance(target, ast.Name) or not isinstance(first, ast.Assign):
        return []
    call = first.value
    if not isinstance(call, ast.Call) or call.args or call.keywords or len(first.targets) > 1:
        return []
    if len(home.bindings.get(target.id, ())) != len(made) or not _exclude_each_other(
        module, made, below
    ):
        return []
    found: list[Edit] = []
    for one in made:
        layout = Layout(source, one)
        if names.scope_at(one) is not home or not layout.owns_lines:
            return []
        alone = len(names.block(one)) == 1
        found.append(layout.replace(["pass"] if alone else []))
    above = Layout(source, session)
    return [above.insert_before([source.code(first)]), *found] if above.owns_lines else []


def _exclude_each_other(module: Module, made: list[ast.stmt], below: list[ast.stmt]) -> bool:
    """Whether each of some statements stands in an arm of its own of one condition, in no loop."""
    names = module.names
    arms: list[tuple[ast.AST, bool]] = []
    for one in made:
        outer: ast.AST = one
        found: tuple[ast.AST, bool] | None = None
        while outer not in below:
            parent = names.parents.get(outer)
            if not isinstance(parent, (ast.If, ast.With)):
                return False
            if isinstance(parent, ast.If):
                found = parent, any(outer is part for part in parent.body)
            outer = parent
        if found is None:
            return False
        arms.append(found)
    return len({id(node) for node, _ in arms}) == 1 and len({*arms}) == len(arms)


def _closed(module: Module, session: ast.stmt, call: ast.Call, below: list[ast.stmt]) -> list[Edit]:
    """The edit that takes out `sess.close()` of a branch behind which nothing runs."""
    names = module.names
    for mention in names.attributes.get("close", ()):
        closes, name = names.parents.get(mention), mention.value
        statement = names.parents.get(closes) if closes is not None else None
        if not isinstance(closes, ast.Call) or closes.args or not isinstance(name, ast.Name):
            continue
        if not isinstance(statement, ast.Expr) or not isinstance(names.parents[statement], ast.If):
            continue
        binding = names.only_binding(name)
        if binding is None or names.statement(binding.node) is not session:
            continue
        block = names.block(statement)
        behind = block[block.index(statement) + 1 :]
        if len(behind) == 1 and _ends(module, behind[0]) and statement not in below:
            layout = Layout(module.source, statement)
            return [layout.replace([])] if layout.owns_lines else []
    return []


def _ends(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement ends the program, or the function that has the session."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return module.names.qualname(statement.value.func) in _ENDS
    return isinstance(statement, ast.Return) and not any(
        isinstance(one, ast.Call) and name_of(module, one) for one in walk(statement)
    )
