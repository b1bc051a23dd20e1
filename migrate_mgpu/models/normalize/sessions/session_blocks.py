"""Sessions that several functions make, each for itself, as blocks.

    def test():
        sess = tf.Session()
        saver.restore(sess, "run/model")
        print(sess.run(accuracy, feed_dict=feed))

becomes `with tf.Session() as sess:` around what follows: nothing uses the session behind the
function, where it goes away, closed or not.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edit for one such function; none where there is none."""
    calls = session_calls(module)
    homes = [module.names.scope_at(call).function() for call in calls]
    if len(calls) < 2 or len({*homes}) < len(calls):
        return []
    for call, home in zip(calls, homes):
        statement = module.names.statement(call)
        if isinstance(home, ast.FunctionDef) and statement in home.body:
            edit = _as_block(module, home, statement, call)
            if edit is not None:
                return [edit]
    return []


def _as_block(
    module: Module, home: ast.FunctionDef, statement: ast.stmt, call: ast.Call
) -> Edit | None:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return None
    below = home.body[home.body.index(statement) + 1 :]
    if len(statement.targets) > 1 or statement.value is not call or not below:
        return None
    if module.names.only_binding(target) is None or not _stays_inside(module, home, target):
        return None
    layouts = [Layout(module.source, one) for one in (statement, *below)]
    code = module.source.code(call)
    if not all(one.owns_lines for one in layouts) or "\n" in code:
        return None
    text = Block(module.source, layouts[0].indent)
    text.line(f"with {code} as {target.id}:")
    for one in below:
        if _is_close(one, target.id):
            text.comments(one, 1)
        else:
            text.statement(one, [], 1)
    return Edit(layouts[0].line_start, layouts[-1].next_line, text.text())


def _stays_inside(module: Module, home: ast.FunctionDef, target: ast.Name) -> bool:
    """Whether a function's session is used by what it runs, and nothing keeps it."""
    for mention in module.names.mentions(target.id, module.names.scope_of_name[target]):
        user = module.names.parents[mention]
        if isinstance(user, ast.keyword):
            user = module.names.parents[user]
        called = isinstance(user, ast.Call) and mention is not user.func
        if mention is not target and not called and not isinstance(user, ast.Attribute):
            return False
        if module.names.scope_at(mention).function() is not home:
            return False
    return True


def _is_close(statement: ast.stmt, name: str) -> bool:
    """`sess.close()`"""
    return isinstance(statement, ast.Expr) and ast.unparse(statement) == f"{name}.close()"
