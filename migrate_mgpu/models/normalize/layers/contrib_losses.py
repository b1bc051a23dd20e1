"""Losses of `tf.contrib.losses` as those of `tf.losses` that they became.

Without weights both are the mean over the elements, and both are collected; they take labels and
predictions in the other order.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

# By name: TF1's parameters for what is predicted and for the labels.
_LOSSES = {
    "absolute_difference": ("predictions", "labels"),
    "mean_squared_error": ("predictions", "labels"),
    "sigmoid_cross_entropy": ("logits", "multi_class_labels"),
    "softmax_cross_entropy": ("logits", "onehot_labels"),
    "sparse_softmax_cross_entropy": ("logits", "labels"),
}
_REST = ("weights", "label_smoothing", "scope")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such losses of a model_fn; those with weights or smoothing stay."""
    if flow.function is None:
        return {}
    module, found = flow.function.module, []
    source = module.source
    for call in (part for part in walk(flow.function.node) if isinstance(part, ast.Call)):
        head, _, last = name_of(module, call).rpartition(".")
        if head != "contrib.losses" or last not in _LOSSES:
            continue
        outputs, labels = _LOSSES[last]
        given = by_parameter(call, (outputs, labels))
        rest = given.keys() - {outputs, labels}
        if len(call.args) > 2 or not {outputs, labels} <= given.keys() or not rest <= set(_REST):
            continue
        if constant(given.get("weights")) not in (None, 1, 1.0):
            continue
        if "weights" in given and constant(given["weights"]) is None:
            continue
        if "label_smoothing" in given and constant(given["label_smoothing"]) != 0:
            continue
        tf = style_at(module, call).tensorflow
        shown = [source.code(given[labels]), source.code(given[outputs])]
        found.append(Edit(*source.span(call), f"{tf}.losses.{last}({', '.join(shown)})"))
    return {module: found} if found else {}
