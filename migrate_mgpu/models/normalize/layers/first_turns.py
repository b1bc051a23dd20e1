"""Loops of layers whose first turn takes another tensor than the others.

    for index, size in enumerate(sizes):
        w = weights(n_in, size)
        if index == 0:
            net = tf.nn.relu(tf.matmul(x, w))
        else:
            net = tf.nn.relu(tf.matmul(net, w))

becomes `net = x` above the loop, and the other arm in each turn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.functions.graph_settings import taken_arm
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loop; none where there is none."""
    for loop in walk(module.tree):
        index = _index(module, loop) if isinstance(loop, ast.For) else None
        if not isinstance(loop, ast.For) or index is None:
            continue
        for node in loop.body:
            arms = _arms(node, index) if isinstance(node, ast.If) else None
            if isinstance(node, ast.If) and arms is not None:
                edits = _edits(module, loop, node, *arms)
                if edits:
                    return edits
    return []


def _index(module: Module, loop: ast.For) -> str | None:
    """The name that counts a loop's turns from 0."""
    call, target = loop.iter, loop.target
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords or loop.orelse:
        return None
    name = module.names.qualname(call.func)
    if name == "builtins.enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[0]
    elif name != "builtins.range":
        return None
    if not isinstance(target, ast.Name) or _stores(target.id, *loop.body):
        return None
    return target.id


def _arms(node: ast.If, index: str) -> tuple[list[ast.stmt], list[ast.stmt], bool] | None:
    """What the first turn does, what the others do, and whether the `else` is what these do."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return None
    if test.left.id != index or len(test.ops) > 1 or constant(test.comparators[0]) != 0:
        return None
    if isinstance(test.ops[0], ast.Eq):
        return node.body, node.orelse, True
    later = isinstance(test.ops[0], (ast.Gt, ast.NotEq))
    return (node.orelse, node.body, False) if later else None


def _edits(
    module: Module,
    loop: ast.For,
    node: ast.If,
    first: list[ast.stmt],
    others: list[ast.stmt],
    of_else: bool,
) -> list[Edit]:
    pairs = [*_differences(first, others)]
    if not pairs or None in pairs or len({(ast.dump(a), b.id) for a, b in filter(None, pairs)}) > 1:
        return []
    given, carried = next(filter(None, pairs))
    names = module.names
    home = names.scope_of_name.get(carried)
    if home is None or names.defining_scope(carried.id, home) is not home:
        return []
    if not any(name_of(module, one) for body in others for one in walk(body)):
        return []
    if any(isinstance(one, _LEAVES) for one in walk(loop)):
        return []
    stored = [one for one in names.mentions(carried.id, home) if not isinstance(one.ctx, ast.Load)]
    inside = {part for one in (*first, *others) for part in walk(one)}
    before = [one for one in stored if position(one) < position(loop)]
    within = [one for one in stored if one in {*walk(loop)} and one not in inside]
    told = {one.id for one in walk(given) if isinstance(one, ast.Name)}
    if before or within or any(_stores(name, *loop.body) for name in told):
        return []
    ends = [_stores(carried.id, *arm) for arm in (first, others)]
    above = loop.body[: loop.body.index(node)]
    early = any(isinstance(n, ast.Name) and n.id == carried.id for o in above for n in walk(o))
    layout = Layout(module.source, loop)
    edit = taken_arm(module, node, not of_else)
    if not all(ends) or early or edit is None or not layout.owns_lines:
        return []
    line = f"{carried.id} = {module.source.code(given)}"
    return [layout.insert_before([line]), edit]


def _differences(
    first: list[ast.stmt], others: list[ast.stmt]
) -> Iterator[tuple[ast.expr, ast.Name] | None]:
    """Where the first turn takes another tensor; None where it does something else."""
    if len(first) != len(others):
        yield None
        return
    waiting: list[tuple[ast.AST, ast.AST]] = list(zip(first, others))
    while waiting:
        one, other = waiting.pop()
        if ast.dump(one) == ast.dump(other):
            continue
        plain = isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Load)
        if plain and isinstance(one, ast.expr) and isinstance(other, ast.Name):
            yield one, other
            continue
        ours, theirs = (list(ast.iter_child_nodes(one_of)) for one_of in (one, other))
        alike = type(one) is type(other) and len(ours) == len(theirs) and ours
        if not alike or _plain_fields(one) != _plain_fields(other):
            yield None
            return
        waiting += zip(ours, theirs)


def _plain_fields(node: ast.AST) -> list[object]:
    """What a node says besides the nodes in it: names of attributes and keywords."""
    return [
        value
        for _, value in ast.iter_fields(node)
        if not isinstance(value, (ast.AST, list)) and value is not None
    ]


def _stores(name: str, *statements: ast.stmt) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
        for statement in statements
        for one in walk(statement)
    )
