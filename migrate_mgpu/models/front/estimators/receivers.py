"""The receiver functions of exports, and the Estimators that have one in common."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.call_graph import CallGraph, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow

RECEIVER = "serving_input_receiver_fn"


def receivers(flow: EstimatorFlow) -> Iterator[tuple[Module, ast.expr]]:
    """The expressions that name the receivers of an Estimator's exports."""
    exporters = [made for call in flow.driving.calls for made in call.exporters]
    for one in (*flow.driving.exports, *exporters):
        if RECEIVER in one.arguments:
            yield one.module, one.arguments[RECEIVER]


@record(frozen=True)
class ReceiverTable:
    """Receiver functions in a dictionary that nothing changes, of which exports take one.

    ``functions`` have their keys; ``uses`` are where the dictionary is read.
    """

    module: Module
    node: ast.Dict
    functions: dict[ast.expr, Function]
    uses: tuple[Value, ...]


def receiver_table(graph: CallGraph, module: Module, node: ast.expr) -> ReceiverTable | None:
    """The dictionary that ``RECEIVERS[args.format]`` takes a function out of."""
    if not isinstance(node, ast.Subscript):
        return None
    values = ValueFlow(graph)
    made = values.definitions(module, node.value)
    table = made[0].node if len(made) == 1 else None
    if not isinstance(table, ast.Dict) or len(values.definitions(module, node)) < 2:
        return None  # or it may change, or one of its functions is taken by name
    found: dict[ast.expr, Function] = {}
    for key, value in zip(table.keys, table.values):
        function = graph.target(made[0].module, value)
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Name) or not function:
            return None
        found[key] = function
    if len({key.value for key in found if isinstance(key, ast.Constant)}) < len(found):
        return None
    return ReceiverTable(made[0].module, table, found, tuple(values.uses(made[0].module, table)))


def share_receivers(flows: list[EstimatorFlow], graph: CallGraph) -> None:
    """Notes the Estimators whose exports ask the same function: it becomes the same for all."""
    found: dict[ast.AST, list[EstimatorFlow]] = {}
    for flow in flows:
        for module, node in receivers(flow):
            function = graph.target(module, node)
            table = None if function is not None else receiver_table(graph, module, node)
            several = list(table.functions.values()) if table is not None else [function]
            for one in several:
                if one is not None and flow not in found.setdefault(one.node, []):
                    found[one.node].append(flow)
    for together in found.values():
        for flow in together:
            flow.served += [one for one in together if one is not flow and one not in flow.served]
