"""Names that tell the first tower from the others, and those that are its number.

    reuse = None
    for i, gpu in enumerate(gpus):
        with tf.device('/gpu:%d' % gpu), tf.variable_scope('net', reuse=reuse):
            ...
            if reuse is None:
                tf.summary.scalar('loss', loss)
            reuse = True

becomes `reuse=i > 0` and `if i == 0:`. An item of `gpus = list(range(n))` is its number, so what
is called by `gpu` here is called by `i`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.summaries import SUMMARIES
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.front.towers.loop import COUNTS, loops_on_devices, read_towers
from migrate_mgpu.models.normalize.objects.graph_methods import in_line
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one name that only the first tower finds unset; none where there is none."""
    for loop in loops_on_devices(module):
        towers = read_towers(module, loop, graph)
        if towers is None or not towers.index:
            continue
        for statement in in_line(loop.body):
            name = _set(statement)
            if name is not None:
                edits = _asked(module, loop, towers.index, statement, name)
                if edits:
                    return edits
    return []


def counted_items(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for the items of one loop that are their own numbers; none where there is none.

    ``modules`` are all that the program has.
    """
    names = module.names
    if SUMMARIES.by_name.keys().isdisjoint(calls_of_names(module)):
        return []
    for loop in loops_on_devices(module):
        if read_towers(module, loop, graph) is None:
            continue
        home = names.scope_at(loop)
        over, target, index = loop.iter, loop.target, ""
        counts = isinstance(over, ast.Call) and names.qualname(over.func) == "builtins.enumerate"
        if counts and isinstance(over, ast.Call) and isinstance(target, ast.Tuple):
            first = target.elts[0]
            if len(over.args) != 1 or over.keywords or len(target.elts) != 2:
                continue
            if not isinstance(first, ast.Name):
                continue
            over, target, index = over.args[0], target.elts[1], first.id
        if not isinstance(over, ast.Name) or not isinstance(target, ast.Name):
            continue
        if not _counts_up(module, over, modules) or names.only_binding(target) is None:
            continue
        if not any(_names_scope(module, one) for one in names.mentions(target.id, home)):
            continue  # devices alone are told by it
        found = [Edit(*module.source.span(loop.iter), f"range(len({over.id}))")]
        if index:
            found.append(Edit(*module.source.span(loop.target), index))
            for mention in names.mentions(target.id, names.scope_at(loop)):
                if mention is not target:
                    found.append(Edit(*module.source.span(mention), index))
        return found
    return []


def _names_scope(module: Module, mention: ast.Name) -> bool:
    """Whether a mention is in the name of a scope, by which summaries are called."""
    calls = (one for one in module.names.ancestors(mention) if isinstance(one, ast.Call))
    return any(name_of(module, call) in ("name_scope", "variable_scope") for call in calls)


def _counts_up(module: Module, node: ast.Name, modules: Sequence[Module]) -> bool:
    """Whether a name is a list of the numbers from zero on, which nothing changes."""
    names = module.names
    made = names.only_value(node)
    if isinstance(made, ast.Call) and names.qualname(made.func) == "builtins.list":
        made = made.args[0] if len(made.args) == 1 and not made.keywords else None
    if not isinstance(made, ast.Call) or names.qualname(made.func) not in COUNTS:
        return False
    zero = len(made.args) == 2 and constant(made.args[0]) == 0
    if made.keywords or not (len(made.args) == 1 or zero):
        return False
    home = names.defining_scope(node.id, names.scope_of_name[node])
    if home is None:
        return False
    for mention in names.mentions(node.id, home):
        parent = names.parents.get(mention)
        asked = isinstance(parent, ast.Call) and names.qualname(parent.func) in (
            "builtins.len", "builtins.enumerate",
        )  # fmt: skip
        looped = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is mention
        if isinstance(mention.ctx, ast.Load) and not asked and not looped:
            return False
    return not any(other.names.attributes.get(node.id) for other in modules)


def _set(statement: ast.stmt) -> ast.Name | None:
    """The name in `reuse = True`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return target if isinstance(target, ast.Name) and constant(statement.value) is True else None


def _asked(
    module: Module, loop: ast.For, index: str, again: ast.stmt, name: ast.Name
) -> list[Edit]:
    """The edits for a name that is unset above a loop, and set in it, and read before that."""
    names, source = module.names, module.source
    home = names.scope_at(loop)
    bindings = home.bindings.get(name.id, ())
    others = [one for one in bindings if one.node is not name]
    first = names.parents.get(others[0].node) if len(others) == 1 else None
    if not isinstance(first, ast.Assign) or first not in names.block(loop):
        return []
    unset = is_none(first.value) or constant(first.value) is False
    if not unset or len(first.targets) != 1 or position(first) > position(loop):
        return []
    layouts = [Layout(source, one) for one in (first, again)]
    if not all(layout.owns_lines for layout in layouts):
        return []
    found = [Edit(layout.line_start, layout.next_line, "") for layout in layouts]
    for mention in names.mentions(name.id, home):
        if not isinstance(mention.ctx, ast.Load):
            continue
        if not is_inside(module, mention, {loop}) or position(mention) > position(again):
            return []
        edit = _as_number(module, mention, index, is_none(first.value))
        if edit is None:
            return []
        found.append(edit)
    return found


def _as_number(module: Module, mention: ast.Name, index: str, none: bool) -> Edit | None:
    """What a mention asks, asked of the number of the tower; None where it asks something else."""
    names, source = module.names, module.source
    if names.scope_of_name[mention] is not names.scope_at(names.statement(mention)):
        return None  # something within reads it, perhaps later
    parent = names.parents.get(mention)
    if isinstance(parent, ast.keyword) and parent.arg == "reuse":
        return Edit(*source.span(mention), f"{index} > 0")
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return Edit(*source.span(parent), f"{index} == 0")
    if isinstance(parent, ast.Compare) and parent.left is mention and len(parent.ops) == 1:
        if none and is_none(parent.comparators[0]):
            if isinstance(parent.ops[0], (ast.Is, ast.Eq)):
                return Edit(*source.span(parent), f"{index} == 0")
            if isinstance(parent.ops[0], (ast.IsNot, ast.NotEq)):
                return Edit(*source.span(parent), f"{index} > 0")
    if isinstance(parent, ast.If) and parent.test is mention:
        return Edit(*source.span(mention), f"{index} > 0")
    return None
