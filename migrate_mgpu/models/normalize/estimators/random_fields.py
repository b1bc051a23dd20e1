"""Conditional random fields of `tf.contrib.crf` in a model_fn, as functions of the program's own.

`crf_log_likelihood` and `crf_decode` are written above the model_fn, of functions that TF1 and TF2
both have. Where `crf_log_likelihood` makes the transitions, they become a variable of the model_fn
first (`crf_transitions.py`).
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.definitions import defined_above
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.random_fields import LIKELIHOOD, TF1_FUNCTIONS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.layers import crf_transitions
from migrate_mgpu.source.source import Edit


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all such calls in the module of a model_fn; none if one is not understood."""
    if flow.function is None:
        return {}
    module = flow.function.module
    calls = [call for call in module.names.calls if name_of(module, call) in TF1_FUNCTIONS]
    if not calls or not module.writable:
        return {}
    made = crf_transitions.normalize(module)
    if made:
        return {module: made}
    edits = _edits(module, calls)
    return {module: edits} if edits else {}


def _edits(module: Module, calls: list[ast.Call]) -> list[Edit]:
    names = module.names
    called: dict[str, str] = {}
    found: list[Edit] = []
    for call in calls:
        name = name_of(module, call)
        parameters, definition = TF1_FUNCTIONS[name]
        given = by_parameter(call, parameters)
        if any(isinstance(one, ast.Starred) for one in call.args) or given.keys() != {*parameters}:
            return []
        if name == LIKELIHOOD and is_none(given["transition_params"]):
            return []
        if name not in called:
            called[name] = names.fresh(names.module_scope, definition.name)
        edit = BoundCall(module, call, parameters)
        edit.function(called[name])
        found += edit.edits()
    style = style_at(module, calls[0])
    texts = [TF1_FUNCTIONS[key][1].written(name, style) for key, name in called.items()]
    first = min(calls, key=lambda call: call.lineno)
    above = [first, *names.ancestors(first)][-2]
    assert isinstance(above, ast.stmt)
    return [defined_above(module, above, texts), *found]
