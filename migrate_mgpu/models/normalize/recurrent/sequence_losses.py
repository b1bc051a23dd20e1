"""Losses of sequences that are one tensor each, as what they compute.

    loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example([logits], [targets], [weights])

becomes the weighted cross entropy of the rows, divided by the rows' weights.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.style import spelling
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit

_LOSS = "contrib.legacy_seq2seq.sequence_loss_by_example"
_GIVEN = (
    "logits", "targets", "weights", "average_across_timesteps", "softmax_loss_function", "name",
)  # fmt: skip
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such loss; none where there is none."""
    for call in calls_of_names(module).get(_LOSS, ()) if session_calls(module) else ():
        text = _written(module, call)
        if text:
            return [Edit(*module.source.span(call), text)]
    return []


def _written(module: Module, call: ast.Call) -> str:
    """What a call computes; empty where that is not seen."""
    told, tf = by_parameter(call, _GIVEN), spelling(module, call)
    known = len(told) == len(call.args) + len(call.keywords)
    lists = [told.get(name) for name in _GIVEN[:3]]
    single = [
        one.elts[0]
        for one in lists
        if isinstance(one, (ast.List, ast.Tuple)) and len(one.elts) == 1
    ]
    averages = constant(told["average_across_timesteps"]) if _GIVEN[3] in told else True
    if not known or not tf or len(single) != 3 or not isinstance(averages, bool):
        return ""
    if any(not isinstance(one, _SIMPLE) for one in single):
        return ""
    logits, targets, weights = map(module.source.code, single)
    function = told.get("softmax_loss_function")
    if function is None or is_none(function):
        loss = f"{tf}.nn.sparse_softmax_cross_entropy_with_logits"
        given = f"labels={tf}.reshape({targets}, [-1]), logits={logits}"
    elif isinstance(function, (ast.Name, ast.Attribute)):
        loss, given = module.source.code(function), f"labels={targets}, logits={logits}"
    else:
        return ""
    text = f"{loss}({given}) * {weights}"
    if averages:
        text = f"{text} / ({weights} + 1e-12)"
    return text if isinstance(module.names.parents[call], ast.Assign) else f"({text})"
