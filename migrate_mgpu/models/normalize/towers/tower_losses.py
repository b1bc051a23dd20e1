"""Losses of `tf.losses` that each tower collects and asks for, by their names.

    with tf.name_scope('tower_%d' % i) as scope:
        tf.losses.sparse_softmax_cross_entropy(labels, logits)
        losses = tf.get_collection(tf.GraphKeys.LOSSES, scope)

becomes `loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)` and `losses = [loss]`: what
has the scope of a tower is what that tower made.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import (
    loops_on_devices,
    read_towers,
    scope_of_towers,
)
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_KEY = "losses"
# They make no loss of their own.
_READERS = ("get_losses", "get_regularization_loss", "get_regularization_losses", "Reduction")
# What may collect a loss besides, or read it elsewhere.
_OTHERS = ("losses.add_loss", "losses.get_total_loss", "losses.get_losses")
_LIBRARIES = ("contrib.losses", "contrib.slim.losses")


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the losses of one loop over devices; none where another code collects some.

    ``modules`` are all that the program has.
    """
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is None:
            continue
        line = set(in_line(loop.body))
        reads = [
            call
            for call in calls_of_names(module).get("get_collection", ())
            if len(call.args) == 2 and not call.keywords and _is_losses(module, call.args[0])
        ]
        if len(reads) != 1 or module.names.statement(reads[0]) not in line:
            continue
        (read,) = reads
        block = scope_of_towers(module, towers, read.args[1])
        if block is None or not is_inside(module, read, {block}):
            continue
        made = _made(modules)
        if made is None or not made:
            continue
        if not all(home is module and is_inside(module, call, {block}) for home, call in made):
            continue
        calls = sorted((call for _, call in made), key=position)
        edits = _named(module, calls, read, line)
        if edits:
            return edits
    return []


def _is_losses(module: Module, node: ast.expr) -> bool:
    return constant(node) == _KEY or name_of(module, node) == "GraphKeys.LOSSES"


def _made(modules: Sequence[Module]) -> list[tuple[Module, ast.Call]] | None:
    """The calls that make a loss and collect it; None where something else may, or may read it."""
    found: list[tuple[Module, ast.Call]] = []
    for module in modules:
        for call in module.names.calls:
            name = name_of(module, call)
            if name in _OTHERS or name.startswith(_LIBRARIES):
                return None
            collects = name.startswith("add_to_collection") or name == "get_collection_ref"
            if collects and any(_is_losses(module, one) for one in call.args):
                return None
            if not name.startswith("losses.") or name.endswith(_READERS):
                continue
            if any(one.arg in ("loss_collection", None) for one in call.keywords):
                return None
            if len(call.args) > 2:
                return None  # the collection may be among them
            found.append((module, call))
    return found


def _named(
    module: Module, calls: Sequence[ast.Call], read: ast.Call, line: set[ast.stmt]
) -> list[Edit]:
    """The edits that give each loss a name, and put these where all are asked for."""
    names, source = module.names, module.source
    home = names.scope_at(read)
    found: list[Edit] = []
    given: list[str] = []
    for number, call in enumerate(calls):
        statement = names.statement(call)
        if statement not in line or position(call) > position(read):
            return []
        if not Layout(source, statement).owns_lines:
            return []
        if isinstance(statement, ast.Assign) and statement.value is call:
            target = statement.targets[0]
            if len(statement.targets) > 1 or not isinstance(target, ast.Name):
                return []
            between = [
                one
                for one in names.mentions(target.id, home)
                if not isinstance(one.ctx, ast.Load) and one is not target
            ]
            if any(position(call) < position(one) < position(read) for one in between):
                return []
            given.append(target.id)
        elif isinstance(statement, ast.Expr) and statement.value is call:
            word = "loss" if len(calls) == 1 else f"loss_{number + 1}"
            name = names.fresh(home, word, f"{word}_of_tower", f"own_{word}")
            start = source.span(statement)[0]
            found.append(Edit(start, start, f"{name} = "))
            given.append(name)
        else:
            return []
    if len({*given}) < len(given):
        return []
    return [*found, Edit(*source.span(read), f"[{', '.join(given)}]")]
