"""Batches that a tower draws in a function that it calls, and takes the parts of by their places.

    def training_loss(input_fn):
        batch = input_fn()
        return cost(network(batch[0]), batch[1])

    for i, device in enumerate(devices):
        with tf.device(device):
            loss = training_loss(input_fn)

becomes

            batch_0, batch_1 = iterator.get_next()
            loss = cost(network(batch_0), batch_1)

with `input_fn`, a function within, that gives `iterator.get_next()`: what draws for a tower is
known where the tower is. How many parts a batch has must be known of its dataset.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Union

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.mnist import is_mnist_batch
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.towers.loop import loops_on_devices, read_towers
from migrate_mgpu.models.normalize.functions.moved_calls import MovedCall
from migrate_mgpu.models.normalize.functions.single_calls import (
    imports_for,
    joined,
    with_imports,
    without_imports,
    without_unused,
)
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import without_function

Home = Union[ast.FunctionDef, ast.Module]

_NEXT = "get_next"
_SLICES = "data.Dataset.from_tensor_slices"
_ITERATORS = ("data.make_one_shot_iterator", "data.make_initializable_iterator")
_MAKERS = tuple(name.rpartition(".")[2] for name in _ITERATORS)
# Of a dataset: its elements have the parts that they had.
_KEEP = ("batch", "cache", "prefetch", "repeat", "shard", "shuffle", "skip", "take")


def written_in_towers(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one such function and its call, or of one batch; none where there is none."""
    for module in modules:
        for loop in loops_on_devices(module):
            towers = read_towers(module, loop, graph)
            around = graph.enclosing(module, loop)
            home = around.node if around is not None else module.tree
            if towers is None or not isinstance(home, (ast.FunctionDef, ast.Module)):
                continue
            for statement in (part for part in walk(loop) if isinstance(part, ast.Assign)):
                edits = _written(modules, module, graph, home, statement) or _apart(
                    module, graph, home, statement
                )
                if edits:
                    return edits
    return {}


# Functions that draw ----------------------------------------------------------------------


def _written(
    modules: Sequence[Module], module: Module, graph: CallGraph, home: Home, statement: ast.Assign
) -> dict[Module, list[Edit]]:
    call = statement.value
    target = graph.target(module, call.func) if isinstance(call, ast.Call) else None
    if target is None or not isinstance(target.node, ast.FunctionDef) or not _draws(target):
        return {}
    origin = target.module
    within = origin is module and home in module.names.ancestors(target.node)
    if not within and target.node not in origin.tree.body:
        return {}
    references = graph.references(target)
    if any(one.call is None for one in references):
        return {}
    assert isinstance(call, ast.Call)
    more = imports_for(module, call, target) if origin is not module else {}
    if more is None:
        return {}
    moved = MovedCall(module, home, statement, target.node, origin=origin, imported={*more})
    edit = moved.edit()
    if edit is None:
        return {}
    if origin is not module and (origin not in modules or len(references) > 1):
        return {module: [edit, *more.values()]}
    gone = [without_function(origin.source, target.node)] if len(references) == 1 else []
    if origin is module:
        return {module: [edit, *gone]}
    imports = without_imports(modules, graph, target)
    if imports is None:
        return {}
    imports[module] = [edit, *with_imports(module, imports.get(module, []), more)]
    unused = without_unused(origin, target, {*more})
    return {**imports, origin: joined([*gone, *unused])} if unused is not None else {}


def _draws(function: Function) -> bool:
    """Whether it takes the next element of an iterator, or calls what it is given."""
    node = function.node
    given = {one.arg for one in node.args.args}
    return any(
        (isinstance(call.func, ast.Attribute) and call.func.attr == _NEXT)
        or (isinstance(call.func, ast.Name) and call.func.id in given)
        for call in walk(node)
        if isinstance(call, ast.Call)
    )


# Batches by their parts -------------------------------------------------------------------


def _apart(
    module: Module, graph: CallGraph, home: Home, statement: ast.Assign
) -> dict[Module, list[Edit]]:
    """The edits for a batch that is only asked for its parts, by constant numbers."""
    target, call = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return {}
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return {}
    if call.func.attr != _NEXT or call.args or call.keywords:
        return {}
    names = module.names
    if len(names.bindings_of(target)) != 1:
        return {}
    asked: list[tuple[ast.Subscript, int]] = []
    for mention in names.mentions(target.id, names.scope_of_name[target]):
        if mention is target:
            continue
        above = names.parents.get(mention)
        place = above.slice if isinstance(above, ast.Subscript) else None
        if not isinstance(above, ast.Subscript) or above.value is not mention:
            return {}
        if not isinstance(above.ctx, ast.Load) or not isinstance(place, ast.Constant):
            return {}
        if type(place.value) is not int or place.value < 0:
            return {}
        asked.append((above, place.value))
    count = _parts(module, graph, call.func.value)
    if count is None or count < 2 or not asked or max(at for _, at in asked) >= count:
        return {}
    taken = {one.id for one in walk(module.tree) if isinstance(one, ast.Name)}
    parts = [f"{target.id}_{n}" for n in range(count)]
    if taken & {*parts}:
        return {}
    source = module.source
    edits = [Edit(*source.span(target), ", ".join(parts))]
    edits += [Edit(*source.span(node), parts[at]) for node, at in asked]
    return {module: sorted(edits, key=lambda one: one.start)}


def _parts(module: Module, graph: CallGraph, iterator: ast.expr) -> int | None:
    """How many parts the elements of an iterator have; None where that is not known."""
    made = module.names.only_value(iterator) if isinstance(iterator, ast.Name) else iterator
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return None
    if name_of(module, made) in _ITERATORS:
        dataset = made.args[0] if made.args else None
    else:
        dataset = made.func.value if made.func.attr in _MAKERS else None
    found = {*_counts(module, graph, dataset, ())} if dataset is not None else set()
    return found.pop() if len(found) == 1 else None


def _counts(
    module: Module, graph: CallGraph, node: ast.expr, seen: tuple[tuple[Module, str], ...]
) -> Iterator[int | None]:
    """The numbers that the elements of a dataset may have."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _KEEP
        and not name_of(module, node)
    ):
        node = node.func.value
    if isinstance(node, ast.Call) and name_of(module, node) == _SLICES:
        given = node.args[0] if node.args and not node.keywords else None
        if isinstance(given, ast.Name):
            given = module.names.only_value(given)
        if given is not None and is_mnist_batch(module, given):
            yield 2  # images and labels
        else:
            yield len(given.elts) if isinstance(given, ast.Tuple) else None
        return
    target = graph.target(module, node.func) if isinstance(node, ast.Call) else None
    if target is not None and isinstance(target.node, ast.FunctionDef) and len(seen) < 8:
        parts = [part for part in walk(target.node) if isinstance(part, ast.Return)]
        for part in parts:
            value = part.value or ast.Constant(None)
            yield from _counts(target.module, graph, value, (*seen, (target.module, "")))
        if not parts:
            yield None
        return
    if not isinstance(node, ast.Name):
        yield None
        return
    key = (module, node.id)
    if key in seen:
        return  # `data = data.repeat()`: what it was
    bindings = module.names.bindings_of(node)
    for binding in bindings:
        statement = module.names.statement(binding.node)
        plain = isinstance(statement, ast.Assign) and statement.targets == [binding.node]
        if not plain:
            yield None
            return
        assert isinstance(statement, ast.Assign)
        yield from _counts(module, graph, statement.value, (*seen, key))
    if not bindings:
        yield None
