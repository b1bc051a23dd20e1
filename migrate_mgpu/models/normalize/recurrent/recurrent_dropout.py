"""Dropout around the cell of a recurrent network, as dropout of its inputs and its outputs.

`tf.nn.dynamic_rnn(DropoutWrapper(cell, output_keep_prob=keep), x)` drops other parts of the outputs
at each step: `outputs = tf.nn.dropout(outputs, keep)` does the same to all steps at once. The state
that the cell hands on is dropped by neither. What a list of steps gives is a list, whose tensors
are dropped one by one.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.recurrent import CELLS, DROPOUT, RUNS, RunRow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.network.cell_states import value_of
from migrate_mgpu.models.front.network.recurrent import reads
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_PROBABILITIES = ("input_keep_prob", "output_keep_prob")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such network; none where there is none."""
    for call in module.names.calls:
        row = RUNS.by_name.get(name_of(module, call))
        if row is not None:
            try:
                edits = _edits(module, call, row)
            except Refused:  # its arguments are not known
                continue
            if edits:
                return edits
    return []


def _edits(module: Module, call: ast.Call, row: RunRow) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(call)
    given = by_parameter(call, row.signature)
    cell, inputs = given.get("cell"), given.get("inputs")
    made = value_of(module, cell) if cell is not None else None
    known = CELLS.by_name.get(name_of(module, made))
    if known is None or known.cell != DROPOUT or not isinstance(made, ast.Call) or inputs is None:
        return []
    wrapper = by_parameter(made, known.signature)
    inner = wrapper.pop("cell", None)
    keeps = {name: value for name, value in wrapper.items() if name in _PROBABILITIES}
    if inner is None or not _says_nothing(wrapper, known.signature):
        return []
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    outputs = parts[0] if len(parts) == 2 else None
    layout = Layout(source, statement)
    if not isinstance(outputs, ast.Name) or not layout.owns_lines:
        return []
    assert cell is not None
    edits = _unwrapped(module, cell, made, inner)
    if not edits:
        return []
    tf = style_at(module, call).tensorflow
    fed, gives = (keeps.get(name) for name in _PROBABILITIES)
    step = names.fresh(names.scope_at(call), "step")
    if fed is not None and constant(fed) not in (1, 1.0):
        start, end = source.span(inputs)
        before, behind = f"{tf}.nn.dropout(", f", {source.code(fed)})"
        if row.listed:
            before, behind = f"[{before}{step}{behind} for {step} in ", "]"
        edits += [Edit(start, start, before), Edit(end, end, behind)]
    if gives is not None and constant(gives) not in (1, 1.0) and reads(module, outputs):
        dropped = f"{tf}.nn.dropout({step if row.listed else outputs.id}, {source.code(gives)})"
        if row.listed:
            dropped = f"[{dropped} for {step} in {outputs.id}]"
        text = f"{outputs.id} = {dropped}"
        edits.append(Edit(layout.next_line, layout.next_line, layout.lines([text])))
    return edits


def _says_nothing(given: dict[str, ast.expr], signature: tuple[str, ...]) -> bool:
    """Whether a wrapper is given no more than its probabilities."""
    allowed: dict[str, tuple[object, ...]] = {
        "state_keep_prob": (1, 1.0), "variational_recurrent": (False,)
    }  # fmt: skip
    return all(
        name in _PROBABILITIES or is_none(value) or constant(value) in allowed.get(name, ())
        for name, value in given.items()
    )


def _unwrapped(module: Module, cell: ast.expr, made: ast.Call, inner: ast.expr) -> list[Edit]:
    """The cell itself where its wrapper stood; none where something else has that, too."""
    names, source = module.names, module.source
    if made is cell:
        return [Edit(*source.span(made), source.code(inner))]
    statement = names.statement(made)
    if not isinstance(cell, ast.Name) or not isinstance(statement, ast.Assign):
        return []
    if names.statement(cell) not in names.block(statement) or statement.value is not made:
        return []
    last = statement.end_lineno or statement.lineno
    behind = [m for m in reads(module, cell) if m.lineno > last]
    if not all(m is cell or isinstance(names.parents[m], ast.Attribute) for m in behind):
        return []
    if isinstance(inner, ast.Name) and inner.id == cell.id:
        return [Layout(source, statement).replace([])]
    if isinstance(inner, ast.Name):
        others = [Edit(*source.span(m), inner.id) for m in behind]
        return [Layout(source, statement).replace([]), *others]
    return [Edit(*source.span(made), source.code(inner))]
