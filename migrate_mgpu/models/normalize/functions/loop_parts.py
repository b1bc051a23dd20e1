"""Parts of a graph that a loop builds anew each time before it runs them, above the loop.

    for i in range(1000):
        sess.run(train_step, feed_dict={x: batch, y_: labels})
        right = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
        print(sess.run(tf.reduce_mean(tf.cast(right, tf.float32)), feed_dict={x: test, y_: wanted}))

They are the same each time where they are made of what is there before the loop, and draw nothing:
each of those has numbers of its own, which begin where it is built.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import Scope, position, walk
from migrate_mgpu.api.graph import COMPUTES, DRAWS, DRAWS_IMAGES, SAMPLES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LOOPS = (ast.For, ast.While)
_SAME = COMPUTES - DRAWS - SAMPLES - DRAWS_IMAGES.keys()


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one loop; none where none builds what it runs."""
    names = module.names
    homes = {names.scope_at(call) for call in session_calls(module)}
    for loop in (node for node in names.parents if isinstance(node, _LOOPS)):
        if names.scope_at(loop) not in homes or not _runs(loop):
            continue
        made = [one for one in loop.body if _is_same_each_time(module, one, loop)]
        layouts = [Layout(module.source, one) for one in made]
        texts = [module.source.code(one) for one in made]
        plain = all(one.owns_lines for one in layouts) and not any("\n" in text for text in texts)
        if not made or not plain or len(made) == len(loop.body):
            continue
        above = Layout(module.source, loop)
        if above.owns_lines:
            gone = [Edit(one.line_start, one.next_line, "") for one in layouts]
            return [above.insert_before(texts), *gone]
    return []


def _runs(loop: ast.stmt) -> bool:
    calls = (part for part in walk(loop) if isinstance(part, ast.Call))
    return any(isinstance(c.func, ast.Attribute) and c.func.attr in ("run", "eval") for c in calls)


def _is_same_each_time(module: Module, statement: ast.stmt, loop: ast.stmt) -> bool:
    """Whether a statement only computes a part of the graph, of what no loop changes."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return False
    names = module.names
    home = names.scope_of_name[target]
    if len(statement.targets) != 1 or len(home.bindings[target.id]) != 1:
        return False
    mentions = names.mentions(target.id, home)
    if not all(
        is_inside(module, one, {loop}) and names.scope_of_name[one] is home for one in mentions
    ):
        return False
    calls = [part for part in walk(statement.value) if isinstance(part, ast.Call)]
    if not calls or not all(name_of(module, call) in _SAME for call in calls):
        return False
    read = [part for part in walk(statement.value) if isinstance(part, ast.Name)]
    return all(_is_fixed(module, one, home, loop) for one in read)


def _is_fixed(module: Module, name: ast.Name, home: Scope, loop: ast.stmt) -> bool:
    """Whether a name has its only value above a loop, or made by a statement of this kind in it."""
    names = module.names
    scope = names.defining_scope(name.id, names.scope_of_name[name])
    if scope is None:
        return False
    bindings = scope.bindings[name.id]
    if all(one.kind in ("import", "def") for one in bindings):
        return True
    if len(bindings) != 1:
        return False
    node = bindings[0].node
    if scope is not home or not is_inside(module, node, {loop}):
        return scope is not home or position(node) < position(loop)
    made = names.statement(node)
    return made is not names.statement(name) and _is_same_each_time(module, made, loop)
