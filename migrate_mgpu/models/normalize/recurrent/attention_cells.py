"""Cells with attention, and what they attend by, where a recurrent network runs them.

`attention = BahdanauAttention(8, memory)`, `cell = AttentionWrapper(inner, attention, 8)` and
`tf.nn.dynamic_rnn(cell, x)` become `tf.nn.dynamic_rnn(AttentionWrapper(inner,
BahdanauAttention(8, memory), 8), x)`: one call has all that a step needs. So does a function of the
program's own that makes such a cell.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.recurrent import ATTENTION, CELLS, DECODERS, MECHANISMS, MEMORY, RUNS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.operator, ast.expr_context)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such cell; none where there is none."""
    known = calls_of_names(module)
    if not any(CELLS.by_name[name].cell in MECHANISMS for name in known.keys() & CELLS.by_name):
        return []
    for call in module.names.calls:
        row = CELLS.by_name.get(name_of(module, call))
        if row is not None and row.cell in MECHANISMS:
            edits = _named(module, call)
            if edits:
                return edits
    for call in module.names.calls:
        if call not in runs_of(module) and _decoded(module, call):
            edits = _called(module, call)
            if edits:
                return edits
    for call in module.names.calls:
        mechanism = _mechanism(call) if _is(module, call) and _decoded(module, call) else None
        edits = _within(module, call, mechanism, *MECHANISMS) if mechanism is not None else []
        if edits:
            return edits
    for call, cell in _runs(module):
        edits = _within(module, call, cell, ATTENTION)
        mechanism = _mechanism(cell) if _is(module, cell) else None
        if mechanism is not None and not edits:
            edits = _within(module, call, mechanism, *MECHANISMS)
        edits = edits or _called(module, cell)
        if edits:
            return edits
    return []


def _row(kind: str) -> tuple[str, ...]:
    return next(row.signature for row in CELLS.by_name.values() if row.cell == kind)


def _mechanism(cell: ast.expr) -> ast.expr | None:
    """What a cell with attention attends by."""
    wrapper = by_parameter(cell, _row(ATTENTION)) if isinstance(cell, ast.Call) else {}
    return wrapper.get("attention_mechanism")


def _is(module: Module, node: ast.expr) -> bool:
    row = CELLS.by_name.get(name_of(module, node))
    return row is not None and row.cell == ATTENTION


def _runs(module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The recurrent networks of a module, with their cells."""
    for call in module.names.calls:
        row = RUNS.by_name.get(name_of(module, call))
        cell = by_parameter(call, row.signature).get("cell") if row is not None else None
        if cell is not None:
            yield call, cell


def runs_of(module: Module) -> dict[ast.expr, ast.Call]:
    """The cells of a module's recurrent networks, with what runs them."""
    return {cell: run for run, cell in _runs(module)}


def _decoded(module: Module, call: ast.expr) -> bool:
    """Whether a function makes a cell that decoders are given, by a name."""
    parent = module.names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) and parent.value is call else None
    if not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
        return False
    home = module.names.scope_of_name[target]
    takers = (module.names.taker(one) for one in module.names.mentions(target.id, home))
    return any(one is not None and name_of(module, one) in DECODERS for one in takers)


def _named(module: Module, mechanism: ast.Call) -> list[Edit]:
    """A name for a memory that is computed where it is given."""
    source, names = module.source, module.names
    row = CELLS.by_name[name_of(module, mechanism)]
    memory = by_parameter(mechanism, row.signature).get(MEMORY)
    statement = names.statement(mechanism)
    layout = Layout(source, statement)
    if memory is None or isinstance(memory, ast.Name) or not layout.owns_lines:
        return []
    if not isinstance(statement, (ast.Assign, ast.Return)) or "\n" in source.code(memory):
        return []
    name = names.fresh(names.scope_at(mechanism), "memory", "attended")
    above = layout.insert_before([f"{name} = {source.code(memory)}"])
    return [above, Edit(*source.span(memory), name)]


def _within(module: Module, run: ast.Call, node: ast.expr, *kinds: str) -> list[Edit]:
    """A cell, or what it attends by, in the place of its name."""

    def fits(value: ast.expr) -> bool:
        row = CELLS.by_name.get(name_of(module, value))
        return row is not None and row.cell in kinds

    return within(module, run, node, fits)


def within(
    module: Module, run: ast.Call, node: ast.expr, fits: Callable[[ast.expr], bool]
) -> list[Edit]:
    """What a name stands for in its place; nothing where it is read elsewhere, or may differ."""
    names, source = module.names, module.source
    made = _made(module, node) if isinstance(node, ast.Name) else None
    value = made.value if made is not None else None
    if made is None or value is None or not fits(value):
        return []
    block, here = names.block(made), names.statement(run)
    if here not in block or not Layout(source, made).owns_lines:
        return []
    between = block[block.index(made) + 1 : block.index(here)]
    read = {part.id for part in walk(value) if isinstance(part, ast.Name)}
    for part in (part for statement in between for part in walk(statement)):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part.id in read:
            return []
    if any("#" in line for line in source.code(value).split("\n")):
        return []
    return [Layout(source, made).replace([]), Edit(*source.span(node), _flat(module, value))]


def _made(module: Module, name: ast.Name) -> ast.Assign | None:
    """The statement that gives a name its value, which nothing else reads."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    if home is None or names.scope_of_name[name] is not home:
        return None
    mentions = sorted(names.mentions(name.id, home), key=position)
    stores = [one for one in mentions if not isinstance(one.ctx, ast.Load)]
    before = [one for one in stores if position(one) < position(name)]
    statement = names.statement(before[-1]) if before else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    if statement.targets[0] is not before[-1] or mentions[0] is not stores[0]:
        return None
    behind = next((one for one in stores if position(one) > position(name)), None)
    read = [
        one
        for one in mentions
        if isinstance(one.ctx, ast.Load)
        and position(before[-1]) < position(one)
        and (behind is None or position(one) < position(behind))
    ]
    inside = all(names.scope_of_name[one] is home for one in mentions)
    return statement if inside and read == [name] else None


def _flat(module: Module, node: ast.expr, given: Mapping[str, str] | None = None) -> str:
    """The code of an expression on one line, with what stands for some of its names."""
    source = module.source
    start, _ = source.span(node)
    text = source.code(node)
    names = [part for part in walk(node) if isinstance(part, ast.Name) and part.id in (given or {})]
    for part in sorted(names, key=position, reverse=True):
        first, last = (place - start for place in source.span(part))
        inner = (given or {})[part.id]
        alone = isinstance(module.names.parents[part], (ast.Call, ast.keyword))
        alone |= inner.isidentifier() or inner.isdigit()
        text = text[:first] + (inner if alone else f"({inner})") + text[last:]
    head, *rest = (line.strip() for line in text.split("\n"))
    for line in rest:
        head += line if head.endswith("(") or line.startswith(")") else f" {line}"
    return head


# -- functions that make such cells -------------------------------------------------


def _called(module: Module, cell: ast.expr) -> list[Edit]:
    """A function that makes such a cell, written at all of its calls."""
    names, source = module.names, module.source
    if not isinstance(cell, ast.Call) or not isinstance(cell.func, ast.Name):
        return []
    bindings = names.bindings_of(cell.func)
    node = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return []
    made = _value(module, node)
    home = names.defining_scope(node.name, names.scope_of_name[cell.func])
    if made is None or home is None or not Layout(source, node).owns_lines:
        return []
    wrapper, local = made
    function, edits = Function(module, node), [Layout(source, node).replace([])]
    runs = runs_of(module)
    for mention in names.mentions(node.name, home):
        call = names.parents.get(mention)
        if not isinstance(call, ast.Call) or call.func is not mention:
            return []
        if call not in runs and not _decoded(module, call):
            return []
        if names.scope_of_name[mention] is not home:
            return []
        given = _given(module, function, call)
        if given is None:
            return []
        inner = {name: _flat(module, value, given) for name, value in local.items()}
        edits.append(Edit(*source.span(call), _flat(module, wrapper, {**given, **inner})))
    return edits


def _value(module: Module, node: ast.FunctionDef) -> tuple[ast.expr, dict[str, ast.expr]] | None:
    """The cell that a function gives, and what it attends by, where that has a name there."""
    local: dict[str, ast.expr] = {}
    *above, last = node.body
    for statement in above:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        row = CELLS.by_name.get(name_of(module, value))
        if not isinstance(target, ast.Name) or value is None or row is None or local:
            return None
        if row.cell not in MECHANISMS:
            return None
        local[target.id] = value
    value = last.value if isinstance(last, ast.Return) else None
    if value is None or not _is(module, value) or "#" in module.source.code(node):
        return None
    names = module.names
    own = names.scopes[node].bindings
    stored = [part for part in walk(node) if isinstance(part, ast.Name) and part.id in own]
    homes = (names.defining_scope(part.id, names.scope_of_name[part]) for part in stored)
    if any(home is not names.scopes[node] for home in homes):
        return None  # a comprehension's own, or a lambda's
    return (value, local) if sum(part.id in local for part in stored) == 2 * len(local) else None


def _given(module: Module, function: Function, call: ast.Call) -> dict[str, str] | None:
    """What stands for a function's parameters in a call; None where it is more than a name."""
    arguments = function.node.args
    if arguments.vararg or arguments.kwarg:
        return None
    found = bind(call, function)
    if found.unclear is not None:
        return None
    texts: dict[str, str] = {}
    for name, value in {**found.defaults, **found.values()}.items():
        if not all(isinstance(part, _PLAIN) for part in walk(value)):
            return None
        texts[name] = module.source.code(value)
    return texts
