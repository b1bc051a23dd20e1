"""Keras's learning phase, set by the mode, as what each layer is told.

``if mode == TRAIN: K.set_learning_phase(1)`` / ``else: K.set_learning_phase(0)`` goes away, and
``Dropout(0.4)(net)`` becomes ``Dropout(0.4)(net, training=mode == TRAIN)``: the phase is the
graph's own, which no other Estimator shares.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.import_edits import remove_imports
from migrate_mgpu.analysis.modes import MODES, TRAIN, Modes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.network.keras_layers import is_sensitive, layer_name
from migrate_mgpu.models.front.network.layers import maker
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where it is not the mode's, or layers are made elsewhere too."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, node = function.module, function.node
    found = [(s, test) for s in node.body if (test := _training(module, node, s)) is not None]
    if len(found) != 1:
        return {}
    (statement, test), edits = found[0], [Layout(module.source, found[0][0]).replace([])]
    inside = set(walk(statement))
    calls = [call for call in walk(node) if isinstance(call, ast.Call)]
    for call in module.names.calls:
        if call not in inside and _sets_phase(module, call):
            return {}
        if call not in calls and _heeds_phase(module, call):
            return {}
    for called in filter(None, (graph.target(module, call.func) for call in calls)):
        other = called.module
        if other is not module and any(_heeds_phase(other, call) for call in other.names.calls):
            return {}
    for made in (call for call in calls if _heeds_phase(module, call)):
        applied = module.names.parents[made]
        if not isinstance(applied, ast.Call) or maker(applied) is not made:
            return {}
        if layer_name(module, made) == "BatchNormalization":
            return {}  # nothing updates its averages
        if any(keyword.arg == "training" for keyword in applied.keywords):
            continue
        if applied.lineno < statement.lineno:
            return {}
        told = CallEdit(module.source, applied)
        told.add("training", test)
        edits += told.edits()
    return {module: [*edits, *remove_imports(module, {statement}, edits)]}


def _heeds_phase(module: Module, node: ast.AST) -> bool:
    """Whether a call makes a layer of Keras's, which asks for the phase where it is not told."""
    return (
        is_sensitive(layer_name(module, node))
        and isinstance(node, ast.Call)
        and "keras" in (module.names.qualname(node.func) or "")
    )


def _sets_phase(module: Module, call: ast.Call) -> bool:
    return (module.names.qualname(call.func) or "").endswith("keras.backend.set_learning_phase")


def _training(module: Module, function: ast.FunctionDef, statement: ast.stmt) -> str | None:
    """The text of the condition that a statement sets the phase to; None for any other one."""
    modes = Modes(module, function, {"mode": {mode: mode for mode in MODES}})
    if isinstance(statement, ast.If):
        arms = [_phase(module, *arm) for arm in (statement.body, statement.orelse) if len(arm) == 1]
        told = [constant(value) for value in arms]
        if told not in ([1, 0], [0, 1]):
            return None
        test, trains = statement.test, bool(told[0])
    else:
        value = _phase(module, statement)
        if value is None:
            return None
        test, trains = value, True
    values = modes.values(test)
    if values != {mode: (mode == TRAIN) is trains for mode in MODES}:
        return None
    text = module.source.code(test)
    if "\n" in text:
        return None
    return text if trains else f"not ({text})"


def _phase(module: Module, statement: ast.stmt) -> ast.expr | None:
    """What a statement sets the phase to."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not _sets_phase(module, call):
        return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return given[0] if len(given) == 1 else None
