"""`tf.contrib.layers.stack` as the loop that it is: the layer with each of its settings in turn.

``net = stack(net, fully_connected, [8, 4], activation_fn=f)`` becomes
``for units in [8, 4]: net = fully_connected(net, units, activation_fn=f)``.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, comments

STACK = "contrib.layers.stack"
_STACK = ("inputs", "layer", "stack_args")
# What takes one number, besides what the layer is applied to.
_OF_ONE_NUMBER = ("contrib.layers.fully_connected", "contrib.layers.linear", "contrib.layers.relu")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all stacks of the module that has the model_fn, each in its own statement."""
    if flow.function is None:
        return {}
    module = flow.function.module
    found = [
        edit
        for call in module.names.calls
        if name_of(module, call) == STACK
        if (edit := _loop(module, call)) is not None
    ]
    return {module: found} if found else {}


def _loop(module: Module, call: ast.Call) -> Edit | None:
    source, names = module.source, module.names
    statement = names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or not isinstance(statement, ast.Assign):
        return None
    if statement.value is not call or len(statement.targets) > 1:
        return None
    given = by_parameter(call, _STACK)
    if not set(_STACK) <= given.keys() or "**" in given or "scope" in given or len(call.args) > 3:
        return None
    layer, sizes = given["layer"], given["stack_args"]
    if name_of(module, layer) not in _OF_ONE_NUMBER:
        return None
    if any(isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(sizes)):
        return None
    layout = Layout(source, statement)
    if not layout.owns_lines:
        return None
    code = source.code
    own = [f"{name}={code(node)}" for name, node in given.items() if name not in _STACK]
    scope = names.scope_at(statement)
    units = names.fresh(scope, "units", "layer_units", "stack_units")
    inner = layout.indent + source.indent_unit
    style = style_at(module, call)
    applied = style.call(code(layer), [target.id, units, *own], inner, len(inner + target.id) + 3)
    lines = [comment.text for comment in comments(code(statement))]
    if code(given["inputs"]) != target.id:
        lines.append(f"{target.id} = {code(given['inputs'])}")
    first, *rest = applied.split("\n")
    lines.append(f"for {units} in {code(sizes)}:")
    lines.append(f"{source.indent_unit}{target.id} = {first}")
    lines += [line.removeprefix(layout.indent) for line in rest]
    return layout.replace(lines)
