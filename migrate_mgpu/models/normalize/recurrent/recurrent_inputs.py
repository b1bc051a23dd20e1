"""Inputs of recurrent networks, and lengths of their sequences, that are computed where they stand.

`tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, x), lengths)` becomes
`inputs = tf.nn.embedding_lookup(table, x)` above it, which both the network and a mask can read.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.api.recurrent import RUNS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such network; none where there is none."""
    for call in module.names.calls:
        row = RUNS.by_name.get(name_of(module, call))
        statement = module.names.statement(call) if row is not None else None
        if row is None or not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        try:
            given = NamedArguments(module, call, row.signature)
        except Refused:  # its arguments are not known
            continue
        inputs, layout = given.get("inputs"), Layout(module.source, statement)
        if given.given("sequence_length") is None or not layout.owns_lines:
            continue
        if not isinstance(inputs, ast.Call) or "\n" in module.source.code(inputs):
            continue
        name = module.names.fresh(module.names.scope_at(call), "inputs", "rnn_inputs")
        above = layout.insert_before([f"{name} = {module.source.code(inputs)}"])
        return [above, Edit(*module.source.span(inputs), name)]
    return []
