"""Receivers of an export that TF1 builds, and that no export takes.

    export_input_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    # classifier.export_savedmodel(folder, export_input_fn)

The function that is built is never called: its statement goes.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_BUILDERS = (
    "estimator.export.build_parsing_serving_input_receiver_fn",
    "estimator.export.build_raw_serving_input_receiver_fn",
)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such statements of the modules that an Estimator has."""
    found: dict[Module, list[Edit]] = {}
    for module in (one for one in flow.modules if one.writable and not one.importers):
        for call in module.names.calls:
            if tensorflow_name(module, call.func) in _BUILDERS and _is_idle(module, call):
                statement = module.names.statement(call)
                found.setdefault(module, []).append(without_paragraph(module.source, statement))
    return found


def _is_idle(module: Module, call: ast.Call) -> bool:
    """Whether a variable alone gets what a call builds, of names, and nothing reads it."""
    names, statement = module.names, module.names.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return False
    (target, *others) = statement.targets
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if others or not isinstance(target, ast.Name):
        return False
    if not all(isinstance(value, (ast.Constant, ast.Name)) for value in given):
        return False
    home = names.defining_scope(target.id, names.scope_of_name[target])
    alone = home is not None and names.mentions(target.id, home) == [target]
    block = names.block(statement)
    return alone and len(block) > 1 and Layout(module.source, statement).owns_lines
