"""Queues of batches that towers take theirs of: each tower draws its own.

    images, labels = iterator.get_next()
    queue = tf.contrib.slim.prefetch_queue.prefetch_queue([images, labels], capacity=4)
    for i in range(num_gpus):
        with tf.device('/gpu:%d' % i):
            x, y = queue.dequeue()

becomes `x, y = iterator.get_next()` in the loop. What is computed of the batch before the queue
goes there, too.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.data.queue_pipelines import loaded, written
from migrate_mgpu.source.blocks import Block
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_QUEUE = "contrib.slim.prefetch_queue.prefetch_queue"


def drawn_by_towers(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one such queue; none where there is none."""
    del graph
    for module in modules:
        for call in calls_of_names(module).get(_QUEUE, ()):
            edits = _edits(modules, module, call)
            if edits:
                return {module: edits}
    return {}


def _edits(modules: Sequence[Module], module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    made = names.parents.get(call)
    queue = made.targets[0] if isinstance(made, ast.Assign) else None
    tensors = by_parameter(call, ("tensors",)).get("tensors")
    if not isinstance(queue, ast.Name) or not isinstance(tensors, (ast.List, ast.Tuple)):
        return []
    assert isinstance(made, ast.Assign)
    home = names.defining_scope(queue.id, names.scope_of_name[queue])
    block = names.block(made)
    above = block[: block.index(made)]
    begins = [place for place, one in enumerate(above) if _draws(one)]
    mentions = names.mentions(queue.id, home) if home is not None else []
    taken = [names.parents.get(one) for one in mentions if one is not queue]
    if not begins or len(taken) != 1 or not isinstance(taken[0], ast.Attribute):
        return []
    statement = names.statement(taken[0])
    targets = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if taken[0].attr != "dequeue" or not isinstance(targets, (ast.Tuple, ast.List)):
        return []
    region = above[begins[-1] :]
    moved = [one for one in region if not _shows(module, one)]
    inside = {part for one in (*region, made) for part in walk(one)}
    bound = {name for one in region for name in written(one)}
    if home is None or any(
        part not in inside for name in bound for part in names.mentions(name, home)
    ):
        return []
    if len(moved) < len(region) and not all(map(_only_of_scopes, modules)):
        return []
    layout, goes = Layout(source, statement), [Layout(source, one) for one in (*region, made)]
    if not all(one.owns_lines for one in (layout, *goes)) or loaded(made) & {queue.id}:
        return []
    pairs = list(zip(targets.elts, tensors.elts))
    renamed: dict[str, str] = {}
    for target, value in pairs:
        if not isinstance(target, ast.Name) or not isinstance(value, ast.Name):
            return []
        if target.id in bound | {*renamed.values()} or value.id in renamed:
            return []
        renamed[value.id] = target.id
    if len(pairs) != len(targets.elts) or len(pairs) != len(tensors.elts):
        return []
    changes = [
        Edit(*source.span(part), renamed[part.id])
        for one in moved
        for part in walk(one)
        if isinstance(part, ast.Name) and part.id in renamed
    ]
    text = Block(source, layout.indent)
    for one in moved:
        text.statement(one, changes)
    start = goes[0].line_start
    return [
        Edit(start, goes[-1].next_line, ""),
        Edit(layout.line_start, layout.next_line, text.text()),
        *_without_alias(module, call),
    ]


def _without_alias(module: Module, call: ast.Call) -> list[Edit]:
    """`slim = tf.contrib.slim`, which nothing else has, goes with the call."""
    names = module.names
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    mentions = names.mentions(root.id, names.module_scope) if isinstance(root, ast.Name) else []
    made = [one for one in mentions if one is not root]
    statement = names.parents.get(made[0]) if len(made) == 1 else None
    if not isinstance(statement, ast.Assign) or statement not in module.tree.body:
        return []
    layout = Layout(module.source, statement)
    if not layout.owns_lines or module.importers:
        return []
    return [without_paragraph(module.source, statement)]


def _draws(statement: ast.stmt) -> bool:
    """`images, labels = iterator.get_next()`"""
    value = statement.value if isinstance(statement, ast.Assign) else None
    func = value.func if isinstance(value, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "get_next"


def _shows(module: Module, statement: ast.stmt) -> bool:
    """`tf.summary.image('images', images)`"""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and name_of(module, value).startswith("summary.")


def _only_of_scopes(module: Module) -> bool:
    """Whether a module merges no summaries but those of scopes: of towers."""
    known = calls_of_names(module)
    if known.get("summary.merge_all") or known.get("merge_all_summaries"):
        return False
    given = (by_parameter(call, ("key", "scope")) for call in known.get("get_collection", ()))
    return all("scope" in one or not _may_be_summaries(module, one.get("key")) for one in given)


def _may_be_summaries(module: Module, key: ast.expr | None) -> bool:
    word = name_of(module, key)
    text = constant(key)
    return text == "summaries" if isinstance(text, str) else word in ("", "GraphKeys.SUMMARIES")
