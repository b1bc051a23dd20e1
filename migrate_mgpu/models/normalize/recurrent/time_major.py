"""Recurrent networks over sequences whose first index is the time: over turned ones.

    outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, time_major=True)

becomes

    rows, state = tf.nn.dynamic_rnn(cell, tf.transpose(inputs, [1, 0, 2]), dtype=tf.float32)
    outputs = tf.transpose(rows, [1, 0, 2])

which TF1 does by itself, the other way round, for those that are not.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.recurrent import cell_of
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_NETWORK = "nn.dynamic_rnn"


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such network; none where there is none."""
    if "time_major" not in module.source.text or not session_calls(module):
        return []
    for call in calls_of_names(module).get(_NETWORK, ()):
        edits = _turned(module, call)
        if edits:
            return edits
    return []


def _turned(module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    told = {one.arg: one.value for one in call.keywords}
    major, tf = told.get("time_major"), spelling(module, call)
    if major is None or constant(major) is not True or None in told or not tf:
        return []
    cell = call.args[0] if call.args else told.get("cell")
    inputs = call.args[1] if len(call.args) > 1 else told.get("inputs")
    if cell is None or inputs is None or not _is_known(module, cell):
        return []
    if not isinstance(inputs, (ast.Name, ast.Attribute, ast.Call)):
        return []
    made = names.parents[call]
    targets = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(targets, ast.Tuple) or len(targets.elts) != 2:
        return []
    assert isinstance(made, ast.Assign)
    output, layout = targets.elts[0], Layout(source, made)
    if not isinstance(output, (ast.Name, ast.Attribute)) or not layout.owns_lines:
        return []
    edit = CallEdit(source, call)
    edit.drop_value(major)
    found = [
        *edit.edits(),
        Edit(*source.span(inputs), f"{tf}.transpose({source.code(inputs)}, [1, 0, 2])"),
    ]
    home = names.defining_scope(output.id, names.scope_of_name[output]) if isinstance(
        output, ast.Name
    ) else None  # fmt: skip
    if isinstance(output, ast.Name) and home is not None:
        if not any(isinstance(one.ctx, ast.Load) for one in names.mentions(output.id, home)):
            return found
    rows = names.fresh(names.scope_at(call), "rows", "rows_of_outputs", "turned_outputs")
    text = f"{source.code(output)} = {tf}.transpose({rows}, [1, 0, 2])"
    return [*found, Edit(*source.span(output), rows), layout.insert_after([text])]


def _is_known(module: Module, cell: ast.expr) -> bool:
    """Whether a cell is one of TensorFlow's, whose inputs have three dimensions."""
    made = module.names.only_value(cell) if isinstance(cell, ast.Name) else cell
    name = cell_of(module, made)
    return bool(name) and "Conv" not in name
