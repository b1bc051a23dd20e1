"""Summaries that a setting chooses, made in any case.

    if FLAGS.log:
        tf.summary.scalar('loss', loss)
    merged = tf.summary.merge_all()
    ...
        if FLAGS.log:
            writer.add_summary(sess.run(merged), step)

What they are merged to runs under that setting alone: without it nothing asks for a summary,
whether there is one or not. So the condition around what makes them goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.functions.graph_settings import settings, taken_arm
from migrate_mgpu.source.source import Edit

_MERGES = ("summary.merge", "summary.merge_all")
_MADE = (*SUMMARIES.by_name, *_MERGES)
_ITERATORS = ("zip", "map", "filter", "iter", "enumerate", "reversed")
_ASKED = ("trainable_variables", "global_variables", "all_variables")


def normalize(module: Module, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the summaries of one setting; none where there is none.

    ``modules`` are all that the program has.
    """
    merges = [call for name in _MERGES for call in calls_of_names(module).get(name, ())]
    others = (name for one in modules if one is not module for name in calls_of_names(one))
    if not merges or any(name in _MERGES for name in others):
        return []
    every = (one for name in _MADE for one in calls_of_names(module).get(name, ()))
    around = {block for call in every for block in module.names.ancestors(call)}
    found: dict[str, list[ast.If]] = {}
    for node in walk(module.tree) if around else ():
        if isinstance(node, ast.If):
            found.setdefault(ast.dump(node.test), []).append(node)
    for blocks in found.values():
        makes = [
            one
            for one in blocks
            if one in around and not one.orelse and _only_makes(module, one, one.body)
        ]
        if not makes or not all(settings(module, one.test, modules) for one in blocks):
            continue
        runs = {statement for one in blocks if one not in makes for statement in one.body}
        if not all(_runs_within(module, call, runs) for call in merges):
            continue
        if all(_only_merged(module, name, runs) for name in _lists(module, makes)):
            edits = [taken_arm(module, one, True) for one in makes]
            return [] if None in edits else [one for one in edits if one is not None]
    return []


def _only_makes(module: Module, block: ast.If, body: Sequence[ast.stmt]) -> bool:
    """Whether statements make summaries, with names and loops for that, and nothing else."""
    made = False
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Constant):
            continue
        if isinstance(statement, ast.Assign) and name_of(module, statement.value) in _MERGES:
            made = True  # who has what they are merged to is asked for each
        elif isinstance(statement, ast.Assign):
            names = [one for one in statement.targets if isinstance(one, ast.Name)]
            if len(names) < len(statement.targets) or not _are_own(module, names, block):
                return False
            if not _computes(module, statement.value):
                return False
        elif isinstance(value, ast.Call):
            call = _added(value) or value
            if name_of(module, call) not in SUMMARIES.by_name or not _computes(module, call):
                return False
            made = True
        elif isinstance(statement, (ast.For, ast.If)):
            if statement.orelse or not _only_makes(module, block, statement.body):
                return False
            told = statement.iter if isinstance(statement, ast.For) else statement.test
            target = walk(statement.target) if isinstance(statement, ast.For) else ()
            names = [one for one in target if isinstance(one, ast.Name)]
            if not _are_own(module, names, block) or not _computes(module, told):
                return False
            if isinstance(statement, ast.For) and _ends(module, told):
                return False
            made = True
        else:
            return False
    return made


def _added(call: ast.Call) -> ast.Call | None:
    """What is put in a list by `summaries.append(...)`."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "append" or len(call.args) != 1:
        return None
    listed = isinstance(func.value, ast.Name) and not call.keywords
    return call.args[0] if listed and isinstance(call.args[0], ast.Call) else None


def _computes(module: Module, node: ast.AST) -> bool:
    """Whether what an expression asks of TensorFlow computes, or makes summaries, and no more."""
    for part in walk(node):
        if not isinstance(part, ast.Call):
            continue
        name = name_of(module, part)
        plain = module.names.qualname(part.func) or ""
        if name:
            if name not in COMPUTES and name not in SUMMARIES.by_name and name not in _ASKED:
                return False
        elif not plain.startswith(("re.", "builtins.str", "builtins.zip", "builtins.len")) and not (
            isinstance(part.func, ast.Attribute) and part.func.attr in ("format", "replace", "join")
        ):
            return False
    return True


def _ends(module: Module, node: ast.expr) -> bool:
    """Whether what a loop goes through may be at its end behind it: that of `zip`, say."""
    values = (
        [one.value for one in module.names.bindings_of(node)] if isinstance(node, ast.Name) else []
    )
    return any(
        isinstance(one, ast.GeneratorExp)
        or (
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Name)
            and one.func.id in _ITERATORS
        )
        for one in values
    )


def _are_own(module: Module, names: Sequence[ast.Name], block: ast.If) -> bool:
    """Whether nothing behind a block reads what names have there.

    Each other mention is in a loop, or under a condition, that gives the name a value first.
    """
    for name in names:
        mentions = module.names.mentions(name.id, module.names.scope_at(name))
        for mention in mentions:
            around = [
                one
                for one in module.names.ancestors(mention)
                if isinstance(one, (ast.For, ast.If))
                and isinstance(_first(module, mentions, one).ctx, ast.Store)
            ]
            if not around:
                return False
    return True


def _first(module: Module, mentions: Sequence[ast.Name], block: ast.AST) -> ast.Name:
    return min((one for one in mentions if is_inside(module, one, {block})), key=position)


def _runs_within(module: Module, merge: ast.Call, runs: set[ast.stmt]) -> bool:
    """Whether what summaries are merged to is used in some statements alone."""
    if is_inside(module, merge, runs):
        return True
    statement = module.names.statement(merge)
    if not isinstance(statement, ast.Assign) or statement.value is not merge:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or module.names.only_binding(target) is None:
        return False
    scope = module.names.scope_at(target)
    mentions = module.names.mentions(target.id, scope)
    return all(one is target or is_inside(module, one, runs) for one in mentions)


def _lists(module: Module, blocks: Sequence[ast.If]) -> Iterator[ast.Name]:
    """The names that have summaries: what is appended to, and what collections are assigned to."""
    for block in blocks:
        for call in walk(block):
            if isinstance(call, ast.Call) and _added(call) is not None:
                assert isinstance(call.func, ast.Attribute)
                assert isinstance(call.func.value, ast.Name)
                yield call.func.value
    for use in module.uses:
        if use.symbol.name == "GraphKeys.SUMMARIES":
            statement = module.names.statement(use.node)
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            yield target if isinstance(target, ast.Name) else ast.Name("", ast.Load())


def _only_merged(module: Module, name: ast.Name, runs: set[ast.stmt]) -> bool:
    """Whether a list of summaries is made, added to and merged, and nothing else."""
    if not name.id:
        return False
    for mention in module.names.mentions(name.id, module.names.scope_at(name)):
        parent = module.names.parents.get(mention)
        if isinstance(mention.ctx, ast.Store) or is_inside(module, mention, runs):
            continue
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "add"):
            continue
        if not isinstance(parent, ast.Call) or name_of(module, parent) not in _MERGES:
            return False
    return True
