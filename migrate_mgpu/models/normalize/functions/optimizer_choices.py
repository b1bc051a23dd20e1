"""Chains of conditions whose arms give one name a value each.

`if name == "adam": train = tf.train.AdamOptimizer(0.1).minimize(loss) else: ...` chooses an
optimizer, which then minimizes the loss: `optimizer` gets its value in each arm, and `train` one
below the chain.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.expressions import statements_of
from migrate_mgpu.models.front.session.optimizer_choices import arms_of, makes_optimizer
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def statements_of_arms(statement: ast.If) -> Iterator[ast.stmt]:
    """The statements of all arms, without those of other blocks in them."""
    for arm in arms_of(statement):
        yield from arm


def gives_always(statement: ast.If, given: Collection[ast.stmt]) -> bool:
    """Whether each arm has one of some statements, or ends with an error; there is an `else`."""
    last = statement
    while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
        last = last.orelse[0]
    return bool(last.orelse and given) and all(
        any(one in given or isinstance(one, ast.Raise) for one in arm) for arm in arms_of(statement)
    )


def given_in_line(
    lines: Collection[ast.stmt], given: Collection[ast.stmt], read: Collection[ast.stmt] = ()
) -> bool:
    """Whether a name has its last value behind some lines, which statements of them give it.

    In an arm the others give one too, or a line before has given it one. So it has in a loop. Of
    the lines, those that ``read`` the name would end the program where no arm has given it one.
    """
    sure = {one for one in given if one in lines}
    first = min((one.lineno for one in sure), default=0)
    last = max((one.lineno for one in lines if one in read), default=0)
    for one in lines:
        inside: set[ast.stmt] = set()
        if isinstance(one, ast.If):
            inside = {*given} & {*statements_of_arms(one)}
            if gives_always(one, inside) or (inside and one.lineno < last):
                sure |= inside
                first = first or one.lineno
        if isinstance(one, (ast.If, ast.For)) and first and first < one.lineno:
            sure |= {*given} & {*statements_of([one])}
    plain = (ast.Assign, ast.AugAssign)
    return {*given} == sure and all(isinstance(one, plain) for one in given)


def normalize(module: Module) -> list[Edit]:
    """The edits for one chain; none where there is none."""
    names, source = module.names, module.source
    for node in names.parents:
        if not isinstance(node, ast.If) or _is_elif(module, node):
            continue
        made = _minimizing(module, node)
        if not made or not Layout(source, node).owns_lines:
            continue
        name = names.fresh(names.scope_at(node), "optimizer", "train_optimizer")
        found: list[Edit] = []
        for one in made:
            found.append(Edit(*source.span(one.target), name))
            found.append(Edit(source.span(one.optimizer)[1], source.span(one.call)[1], ""))
        first, below = made[0], Layout(source, node).next_line
        minimizes = source.text[source.span(first.optimizer)[1] : source.span(first.call)[1]]
        code = f"{source.code(first.target)} = {name}{' '.join(minimizes.split())}"
        line = f"{source.indent_of(node)}{code}{source.newline}"
        at_end = below == len(source.text) and not source.text.endswith("\n")
        found.append(Edit(below, below, source.newline + line if at_end else line))
        return found
    return []


def _is_elif(module: Module, node: ast.If) -> bool:
    parent = module.names.parents.get(node)
    return isinstance(parent, ast.If) and parent.orelse == [node]


@record(frozen=True)
class _Minimizing:
    """An arm: the ``call`` of `minimize` that gives the ``target`` its value."""

    target: ast.expr
    optimizer: ast.Call
    call: ast.Call


def _minimizing(module: Module, node: ast.If) -> list[_Minimizing]:
    """The arms of a chain that minimize alike; none where they do anything else."""
    found: list[_Minimizing] = []
    given: set[tuple[str, ...]] = set()
    for arm in arms_of(node):
        made = [one for one in arm if isinstance(one, ast.Assign)]
        if len(made) > 1 or not (made or any(isinstance(one, ast.Raise) for one in arm)):
            return []
        if any(not isinstance(one, (ast.Assign, ast.Expr, ast.Raise, ast.Pass)) for one in arm):
            return []
        for one in made:
            call = one.value
            func = call.func if isinstance(call, ast.Call) else None
            if not isinstance(func, ast.Attribute) or func.attr != "minimize":
                return []
            assert isinstance(call, ast.Call)
            optimizer = func.value
            if not isinstance(optimizer, ast.Call) or not makes_optimizer(module, optimizer):
                return []
            if len(one.targets) != 1:
                return []
            told = (module.source.code(one.targets[0]), *map(ast.dump, call.args))
            given.add((*told, *map(ast.dump, call.keywords)))
            found.append(_Minimizing(one.targets[0], optimizer, call))
    return found if len(found) > 1 and len(given) == 1 else []
