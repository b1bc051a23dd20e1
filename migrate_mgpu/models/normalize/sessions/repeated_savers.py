"""A saver of all variables that is made again by the name of the one before, and only restores.

    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, path)

In a notebook each cell may say so. Where no variable was made in between it restores the same.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import SETTINGS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_RUNS = ("Session", "InteractiveSession", "global_variables_initializer", "train.Saver")
_READS = ("train.latest_checkpoint", "train.get_checkpoint_state", "summary.FileWriter")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edit that takes one such saver away; none where there is none."""
    made = [module.names.statement(call) for call in calls_of_names(module).get("train.Saver", ())]
    savers = [one for one in made if _is_whole(module, one)]
    if len(savers) < 2 or len(savers) < len(made):
        return []
    savers.sort(key=position)
    names = {ast.unparse(one.targets[0]) for one in savers if isinstance(one, ast.Assign)}
    home = module.names.module_scope
    name = names.pop()
    if names or len(home.bindings[name]) > len(savers):
        return []
    for earlier, later in zip(savers, savers[1:]):
        between = [
            one
            for one in module.tree.body
            if position(earlier) < position(one) < position(later) or later in walk(one)
        ]
        whole = _alone(module, later)
        layout = Layout(module.source, whole) if whole is not None else None
        if layout is not None and _only_restores(module, name, later, savers) and layout.owns_lines:
            if not any(may_build(module, one) for one in between):
                return [layout.replace([])]
    return []


def _is_whole(module: Module, statement: ast.stmt) -> bool:
    """`saver = tf.train.Saver()`, which runs for sure."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    call, above = statement.value, module.names.ancestors(statement)
    plain = isinstance(call, ast.Call) and not call.args and not call.keywords
    alone = len(statement.targets) == 1 and name_of(module, call) == "train.Saver"
    return plain and alone and all(isinstance(one, (ast.With, ast.Module)) for one in above)


def _alone(module: Module, saver: ast.stmt) -> ast.stmt | None:
    """What goes with a saver: the `with graph.as_default():` that holds nothing else, too."""
    statement = saver
    while len(module.names.block(statement)) == 1:
        parent = module.names.parents[statement]
        if not isinstance(parent, ast.With) or any(item.optional_vars for item in parent.items):
            return None
        statement = parent
    return statement


def _only_restores(module: Module, name: str, saver: ast.stmt, savers: list[ast.stmt]) -> bool:
    """Whether a saver does no more, before another one has its name."""
    ends = (position(one) for one in savers if position(one) > position(saver))
    end = min(ends, default=None)
    home = module.names.module_scope
    for mention in module.names.mentions(name, home):
        if module.names.scope_of_name[mention] is not home:
            return False  # a function uses whichever there is
        behind = position(mention) > position(saver)
        if not behind or (end is not None and position(mention) >= end):
            continue
        if mention in walk(saver):
            continue
        user = module.names.parents[mention]
        if not isinstance(user, ast.Attribute) or user.attr != "restore":
            return False
    return True


def may_build(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement may make variables, itself or by what it calls of the module's."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return False
    waiting: list[ast.AST] = [statement]
    seen: set[ast.AST] = set()
    while waiting:
        node = waiting.pop()
        seen.add(node)
        for call in (part for part in walk(node) if isinstance(part, ast.Call)):
            name, func = name_of(module, call), call.func
            if name and name not in (*_RUNS, *_READS) and not name.startswith(SETTINGS):
                return True
            if isinstance(func, ast.Attribute) and func.attr in ("minimize", "apply_gradients"):
                return True
            known = module.names.only_definition(func) if isinstance(func, ast.Name) else None
            if isinstance(known, ast.ClassDef):
                return True
            if known is not None and known not in seen:
                waiting.append(known)
    return False
