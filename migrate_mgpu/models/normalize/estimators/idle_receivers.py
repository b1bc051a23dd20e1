"""Receivers of an export that TF1 builds, and that no export takes.

    export_input_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    # classifier.export_savedmodel(folder, export_input_fn)

The function that is built is never called: its statement goes. So does a function of the author's
that makes a receiver, where nothing mentions it.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.value_flow import own_nodes
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_functions, without_paragraph

_BUILDERS = (
    "estimator.export.build_parsing_serving_input_receiver_fn",
    "estimator.export.build_raw_serving_input_receiver_fn",
)
_RECEIVERS = (
    "contrib.learn.utils.input_fn_utils.InputFnOps",
    "contrib.learn.InputFnOps",
    "estimator.export.ServingInputReceiver",
    "estimator.export.TensorServingInputReceiver",
)
_BY_TEXT = ("__all__", "__dict__", "globals()", "locals()")  # what names are looked up in


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such statements of the modules that an Estimator has."""
    found: dict[Module, list[Edit]] = {}
    for module in (one for one in flow.modules if one.writable and not one.importers):
        for call in module.names.calls:
            if tensorflow_name(module, call.func) in _BUILDERS and _is_idle(module, call):
                statement = module.names.statement(call)
                found.setdefault(module, []).append(without_paragraph(module.source, statement))
        idle = [one for one in module.tree.body if _makes_receiver(module, one)]
        if idle:
            found.setdefault(module, []).extend(without_functions(module.source, idle))
    return found


def _makes_receiver(module: Module, node: ast.stmt) -> bool:
    """Whether it is a function that returns a receiver, and that nothing mentions."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    if node.name in module.names.by_id or any(one in module.source.text for one in _BY_TEXT):
        return False
    given = [one for one in own_nodes(node) if isinstance(one, ast.Return)]
    calls = [one.value for one in given if isinstance(one.value, ast.Call)]
    return (
        bool(given)
        and len(calls) == len(given)
        and all(tensorflow_name(module, one.func) in _RECEIVERS for one in calls)
    )


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
