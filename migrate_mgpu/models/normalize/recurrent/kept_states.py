"""Dropout of a recurrent cell's state by a setting that nobody gives, and that keeps all of it.

    def __init__(self, size, dropout=1.0):
        ...
        cell = DropoutWrapper(cell, output_keep_prob=dropout, state_keep_prob=dropout)

of which all calls leave `dropout` out becomes `DropoutWrapper(cell, output_keep_prob=dropout)`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind, defaults_of
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.recurrent import CELLS, DROPOUT
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_KEEPS = "state_keep_prob"


def normalize(module: Module, graph: CallGraph) -> list[Edit]:
    """The edits for one such cell; none where there is none."""
    known = calls_of_names(module)
    for name, row in CELLS.by_name.items():
        for call in known.get(name, ()) if row.cell == DROPOUT else ():
            given = by_parameter(call, row.signature).get(_KEEPS)
            if isinstance(given, ast.Name) and _keeps_all(module, given, graph):
                edit = CallEdit(module.source, call, row.signature)
                edit.drop(_KEEPS)
                return [*edit.edits()]
    return []


def _keeps_all(module: Module, name: ast.Name, graph: CallGraph) -> bool:
    """Whether a parameter is 1 by its default, and no call gives it."""
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    node = home.function() if home is not None and module.names.is_parameter(name) else None
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    default = dict(defaults_of(node.args)).get(name.id)
    value = constant(default)
    if default is None or isinstance(value, bool) or value not in (1, 1.0):
        return False
    function = Function(module, node)
    references = graph.references(function)
    for one in references:
        if one.call is None or bind(one.call, function).given(name.id) is not None:
            return False
        if any(isinstance(part, ast.Starred) for part in one.call.args):
            return False
        if any(keyword.arg is None for keyword in one.call.keywords):
            return False
    return bool(references)
