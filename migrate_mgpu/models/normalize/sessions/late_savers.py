"""Savers of all variables that are made in a branch below the session: one, made above it.

    with tf.Session() as sess:
        if os.path.exists(path):
            saver = tf.train.Saver()
            saver.restore(sess, path)

The variables are the same in both places where nothing below the session builds any.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.sessions.repeated_savers import may_build
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for the savers of one session; none without these."""
    calls = session_calls(module)
    if len(calls) != 1:
        return []
    session = module.names.statement(calls[0])
    below = _below(module, session)
    other = len(calls[0].args) > 1 or any(one.arg == "graph" for one in calls[0].keywords)
    return [] if other else _made_above(module, session, below)  # another graph, another saver


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
