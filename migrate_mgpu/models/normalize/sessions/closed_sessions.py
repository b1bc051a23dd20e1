"""A session that is closed where the program leaves it: its block, or the end, closes it.

with tf.Session() as sess:
    if ckpt:
        saver.restore(sess, ckpt)
        sess.close()
        exit()
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_paragraph

_LEAVES = ("builtins.exit", "builtins.quit", "sys.exit", "os._exit")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such calls."""
    names, found = module.names, list[Edit]()
    for call in session_calls(module):
        made = names.statement(call)
        target = _named(made)
        if target is None or names.only_binding(target) is None:
            continue
        for mention in names.mentions(target.id, names.scope_of_name[target]):
            statement = names.statement(mention) if isinstance(mention.ctx, ast.Load) else made
            own = names.scope_at(mention) is names.scope_at(made)
            inside = made in names.ancestors(statement) or isinstance(
                names.parents.get(statement), ast.If
            )
            if own and inside and _closes(statement, mention):
                below = names.block(statement)
                rest = below[below.index(statement) + 1 :]
                if rest and _leaves(module, rest[0]):
                    found.append(without_paragraph(module.source, statement))
    return found


def _named(made: ast.stmt) -> ast.Name | None:
    """The name of a session: of a block of its own, or an assignment."""
    if isinstance(made, ast.With):
        target = made.items[0].optional_vars if len(made.items) == 1 else None
    else:
        target = made.targets[0] if isinstance(made, ast.Assign) else None
    return target if isinstance(target, ast.Name) else None


def _closes(statement: ast.stmt, mention: ast.Name) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "close" and func.value is mention


def _leaves(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement ends the program, or what the block is in, and asks for nothing."""
    if isinstance(statement, ast.Return):
        return statement.value is None or isinstance(statement.value, (ast.Name, ast.Constant))
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or module.names.qualname(call.func) not in _LEAVES:
        return False
    return not call.keywords and all(isinstance(one, ast.Constant) for one in call.args)
