"""The receiver functions of exports, and the Estimators that have one in common."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow

RECEIVER = "serving_input_receiver_fn"


def receivers(flow: EstimatorFlow) -> Iterator[tuple[Module, ast.expr]]:
    """The expressions that name the receivers of an Estimator's exports."""
    exporters = [made for call in flow.driving.calls for made in call.exporters]
    for one in (*flow.driving.exports, *exporters):
        if RECEIVER in one.arguments:
            yield one.module, one.arguments[RECEIVER]


def share_receivers(flows: list[EstimatorFlow], graph: CallGraph) -> None:
    """Notes the Estimators whose exports ask the same function: it becomes the same for all."""
    found: dict[ast.AST, list[EstimatorFlow]] = {}
    for flow in flows:
        for module, node in receivers(flow):
            function = graph.target(module, node)
            if function is not None and flow not in found.setdefault(function.node, []):
                found[function.node].append(flow)
    for together in found.values():
        for flow in together:
            flow.served += [one for one in together if one is not flow and one not in flow.served]
