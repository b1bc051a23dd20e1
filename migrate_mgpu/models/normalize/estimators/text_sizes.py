"""Sizes of variables that are texts (`"100,50".split(",")`), which TF1 takes for numbers.

``tf.get_variable("w", [fields, size])`` becomes ``tf.get_variable("w", [fields, int(size)])``.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.split_texts import split_lists
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.network.layer_calls import text_sizes
from migrate_mgpu.models.normalize.estimators.built_objects import reached
from migrate_mgpu.source.source import Edit


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of all such sizes in what an Estimator's model_fn calls."""
    found: dict[Module, list[Edit]] = {}
    texts = split_lists(graph.modules)
    for function in reached(flow.function, graph) if flow.function is not None else ():
        module = function.module
        for call in (part for part in ast.walk(function.node) if isinstance(part, ast.Call)):
            row = VARIABLES.by_name.get(name_of(module, call))
            if row is None or not module.writable:
                continue
            shape = NamedArguments(module, call, row.signature).get("shape")
            for size in text_sizes(module, shape, texts) if shape is not None else ():
                start, end = module.source.span(size)
                edits = [Edit(start, start, "int("), Edit(end, end, ")")]
                found.setdefault(module, []).extend(edits)
    return found
