"""A layer that is said to be trained where the mode is training: one that is trained.

``trainable=mode == tf.estimator.ModeKeys.TRAIN`` goes, also in a function that the model_fn gives
the mode: nothing is trained in the other modes. It stays where code asks which variables are
trained.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.modes import MODES, Modes, Value
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_ASKS = ("trainable_variables", "TRAINABLE_VARIABLES", "get_trainable_variables")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of a model_fn and of the functions that it calls."""
    function = flow.function
    if function is None or any(
        module.names.attributes.get(name) for module in flow.modules for name in _ASKS
    ):
        return {}
    found: dict[Module, list[Edit]] = {}
    known = {"mode": {mode: mode for mode in MODES}}
    for module, call in _layers(function, known, graph):
        edit = CallEdit(module.source, call)
        edit.drop("trainable")
        found.setdefault(module, []).extend(edit.edits())
    return found


def _layers(
    function: Function, known: Mapping[str, Mapping[str, Value]], graph: CallGraph
) -> Iterator[tuple[Module, ast.Call]]:
    """The layers that are told the mode so."""
    module, node = function.module, function.node
    if not isinstance(node, ast.FunctionDef) or not module.writable:
        return
    modes = Modes(module, node, known)
    for call in (n for n in walk(node) if isinstance(n, ast.Call)):
        if tensorflow_name(module, call.func).startswith("layers."):
            told = [one.value for one in call.keywords if one.arg == "trainable"]
            if told and modes.training(told[0]) == "training":
                yield module, call
            continue
        inner = graph.target(module, call.func)
        if inner is None or inner.node is node or len(graph.references(inner)) != 1:
            continue
        given = {n: modes.values(v) for n, v in bind(call, inner).written().items()}
        told_of = {name: values for name, values in given.items() if values is not None}
        if told_of:
            yield from _layers(inner, told_of, graph)
