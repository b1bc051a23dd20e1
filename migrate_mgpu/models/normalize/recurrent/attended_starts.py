"""What a recurrent network with attention begins with, where its cell is made.

    cell = AttentionWrapper(inner, attention, 8)
    start = cell.zero_state(rows, tf.float32).clone(cell_state=last)
    outputs, state = tf.nn.dynamic_rnn(cell, x, initial_state=start)

becomes `cell = AttentionWrapper(inner, attention, 8, initial_cell_state=last)`, and the network has
no start of its own: TF1's begins with the cell's zero state then, which has that state in it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import position, walk
from migrate_mgpu.api.recurrent import ATTENTION, CELLS, INNER_START, RUNS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.decoded_cells import inner_start
from migrate_mgpu.models.normalize.functions.searched_functions import one_line
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one network; none where there is none."""
    for call in module.names.calls:
        row = RUNS.by_name.get(name_of(module, call))
        given = by_parameter(call, row.signature) if row is not None else {}
        cell, start = given.get("cell"), given.get("initial_state")
        if row is not None and isinstance(cell, ast.Name) and start is not None:
            edits = _edits(module, call, row.signature, cell, start)
            if edits:
                return edits
    return []


def _edits(
    module: Module, run: ast.Call, signature: tuple[str, ...], cell: ast.Name, start: ast.expr
) -> list[Edit]:
    names, source = module.names, module.source
    begun = _above(module, start) if isinstance(start, ast.Name) else None
    value = begun.value if begun is not None else start
    state = inner_start(value, cell)
    made = _above(module, cell)
    wrapper = made.value if made is not None else None
    row = CELLS.by_name.get(name_of(module, wrapper))
    if state is None or made is None or row is None or row.cell != ATTENTION:
        return []
    if not isinstance(wrapper, ast.Call) or INNER_START in by_parameter(wrapper, row.signature):
        return []
    here, block = names.statement(run), names.block(made)
    place = begun or here
    if here not in block or place not in block or not Layout(source, made).owns_lines:
        return []
    if any(keyword.arg is None for keyword in wrapper.keywords) or "#" in source.code(made):
        return []
    between = block[block.index(made) + 1 : block.index(place)]
    read = {part.id for part in walk(wrapper) if isinstance(part, ast.Name)}
    if any(_stores(one, read) for one in between):
        return []
    zero = [part for part in walk(value) if isinstance(part, ast.Name) and part.id == cell.id]
    if _reads(module, made, cell) != [*zero, cell]:
        return []
    if begun is not None:
        layout = Layout(source, begun)
        if _reads(module, begun, start) != [start] or not layout.owns_lines:
            return []
    edit = CallEdit(source, wrapper, row.signature)
    edit.add(INNER_START, source.code(state))
    text = source.code(made)
    first = source.span(made)[0]
    for change in sorted(edit.edits(), key=lambda one: one.start, reverse=True):
        text = text[: change.start - first] + change.new + text[change.end - first :]
    lines = [one_line(text)]
    ran = CallEdit(source, run, signature)
    ran.drop("initial_state")
    edits = [Layout(source, made).replace([]), *ran.edits()]
    if begun is not None:
        return [*edits, Layout(source, begun).replace(lines)]
    return [*edits, Layout(source, here).insert_before(lines)]


def _above(module: Module, name: ast.expr) -> ast.Assign | None:
    """The statement above, in a block around, that gives a name the value that it has."""
    names = module.names
    if not isinstance(name, ast.Name) or name not in names.scope_of_name:
        return None
    home = names.scope_of_name[name]
    stores = [
        one
        for one in names.mentions(name.id, home)
        if not isinstance(one.ctx, ast.Load) and position(one) < position(name)
    ]
    statement = names.statement(max(stores, key=position)) if stores else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    return statement if isinstance(statement.targets[0], ast.Name) else None


def _reads(module: Module, made: ast.Assign, name: ast.expr) -> list[ast.Name]:
    """What reads the value that a statement gives a name, up to the next one that does."""
    assert isinstance(name, ast.Name)
    names = module.names
    inside = {*walk(made)}
    mentions = sorted(names.mentions(name.id, names.scope_of_name[name]), key=position)
    behind = [one for one in mentions if position(one) > position(made) and one not in inside]
    found: list[ast.Name] = []
    for one in behind:
        if not isinstance(one.ctx, ast.Load):
            own = {*walk(names.statement(one))}  # what it stores may be computed of what there was
            found += [part for part in behind if part in own and isinstance(part.ctx, ast.Load)]
            return list(dict.fromkeys(found))
        found.append(one)
    return found


def _stores(statement: ast.stmt, names: set[str]) -> bool:
    return any(
        isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part.id in names
        for part in walk(statement)
    )
