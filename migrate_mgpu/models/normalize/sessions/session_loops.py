"""A session that a loop makes anew and that restores a checkpoint first, as one around the loop.

    while True:
        with tf.Session() as sess:
            saver.restore(sess, tf.train.latest_checkpoint("run"))
            print(sess.run(accuracy, feed_dict=feed))
        time.sleep(10)

A new session has no values of the variables: what it runs has those that it restored, and so has
what one session runs that restores them again. That holds where nothing gives variables other
values, and nothing else is kept by the session: no iterator, metric, or stream of random numbers.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import INITIALIZES, SEED_PLACES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import session_calls, trains
from migrate_mgpu.source.blocks import Block, behind_header
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LOOPS = (ast.For, ast.While)
# What a session keeps besides variables, or gives these values by.
_KEPT = ("data.", "contrib.data.", "metrics.", "assign", "scatter_", "contrib.lookup.", "lookup.")
_CHANGES = {
    "assign", "assign_add", "assign_sub", "load", "initializer", "make_one_shot_iterator",
    "make_initializable_iterator", "get_next", "create_threads", "start_queue_runners",
}  # fmt: skip
_SEEDS = ("set_random_seed", "random.set_random_seed")
_DEEP = 12  # calls of functions within each other


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edit that takes one session out of its loop; none where all must stay."""
    for call in session_calls(module):
        edits = _out_of_loop(module, module.names.statement(call), graph)
        if edits:
            return edits
    return []


def _out_of_loop(module: Module, block: ast.stmt, graph: CallGraph) -> list[Edit]:
    loop = module.names.parents[block]
    if not isinstance(block, ast.With) or not isinstance(loop, _LOOPS) or loop.orelse:
        return []
    if len(block.items) != 1 or not isinstance(block.items[0].optional_vars, ast.Name):
        return []
    if block not in loop.body or not _only_restores(module, block, graph):
        return []
    session = block.items[0].optional_vars
    home = module.names.scope_of_name[session]
    inside = {*walk(block)}
    if any(one not in inside for one in module.names.mentions(session.id, home)):
        return []
    source = module.source
    layouts = Layout(source, loop), Layout(source, block)
    if not all(one.owns_start for one in layouts):
        return []
    head = source.text[source.span(loop)[0] : Layout(source, loop.body[0]).line_start]
    if loop.body[0].lineno == loop.lineno or block.body[0].lineno == block.lineno:
        return []
    header = source.text[source.span(block)[0] : source.span(session)[1]]
    if "\n" in header or ":" not in head.splitlines()[0]:
        return []
    text = Block(source, layouts[0].indent)
    text.comments(loop)
    text.line(f"{header}:")
    text.line(head.splitlines()[0].rstrip(), 1)
    for one in loop.body:
        if one is block:
            text.comments(block, 2)
            behind = behind_header(source, block)
            if behind:
                text.line(behind, 2)
        for statement in block.body if one is block else [one]:
            text.statement(statement, [], 2)
    start = layouts[0].line_start
    number = source.place(start)[0]
    while number > 1 and source.line_text(number - 1).strip().startswith("#"):
        number -= 1
    return [Edit(source.line_starts[number - 1], layouts[0].next_line, text.text())]


def _only_restores(module: Module, block: ast.With, graph: CallGraph) -> bool:
    """Whether a session's variables have the values of checkpoints, and it keeps no others."""
    inside = list(walk(block))
    if any(isinstance(part, ast.Try) for part in inside):
        return False  # it may go on where a checkpoint is not there
    if not any(isinstance(part, ast.Attribute) and part.attr == "restore" for part in inside):
        return False
    if any(use.symbol.name in _SEEDS for one in graph.modules for use in one.uses):
        return False
    around = module.names.scope_at(block).function()
    node = around if around is not None else module.tree
    return all(_keeps_nothing(*one) for one in _reached(module, node, graph))


def _reached(module: Module, node: ast.AST, graph: CallGraph) -> list[tuple[Module, ast.AST]]:
    """A function, or a module, and the functions that it calls."""
    found = {node: module}
    for _ in range(_DEEP):
        for part, home in list(found.items()):
            for call in (one for one in walk(part) if isinstance(one, ast.Call)):
                target = graph.target(home, call.func)
                if target is not None:
                    found.setdefault(target.node, target.module)
                known = graph.class_of(home, call.func)
                if known is not None:
                    found.setdefault(known[1], known[0])
    return [(home, part) for part, home in found.items()]


def _keeps_nothing(module: Module, node: ast.AST) -> bool:
    for part in walk(node):
        if isinstance(part, ast.Attribute) and part.attr in _CHANGES:
            return False
        if not isinstance(part, ast.Call):
            continue
        name = name_of(module, part)
        place = SEED_PLACES.get(name)
        seeds = [one.value for one in part.keywords if one.arg == "seed"]
        if place is not None:
            seeds += part.args[place : place + 1]
        if name in INITIALIZES or name.startswith(_KEPT) or trains(module, part):
            return False
        if place is not None and not all(map(is_none, seeds)):
            return False
    return True
