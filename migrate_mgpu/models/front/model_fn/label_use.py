"""What a value of a batch needs the labels as: integers, or of another value's shape."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import short_name_of
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import columns, partners
from migrate_mgpu.models.ir import LabelUse

# Functions that take classes as integers.
_INTEGERS = {
    "one_hot",
    "in_top_k",
    "sparse_softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy",
}


def read_label_use(
    reading: Reading, value: ast.expr, unit: ast.stmt | None, units: list[ast.stmt]
) -> LabelUse:
    """How a value, standing in ``unit`` behind ``units``, takes the labels."""
    beside: dict[ast.Name, ast.expr] = {}
    for one in units:
        beside.update(_beside(reading, one, one))
    beside.update(_beside(reading, value, unit))
    return LabelUse(_bits(reading, [*units, value]), beside)


def beside_column(reading: Reading, value: ast.expr, units: list[ast.stmt]) -> ast.expr | None:
    """The output beside the labels in a loss, where a layer of the model_fn has one unit."""
    module = reading.module
    calls = [node for node in ast.walk(reading.function) if isinstance(node, ast.Call)]
    given = [by_parameter(call, ("inputs", "units")) for call in calls]
    sizes = [one.get("units", one.get("num_outputs")) for one in given]
    if not any(size is not None and constant(size) == 1 for size in sizes):
        return None
    flow, (output, made) = reading.flows[TRAIN], reading.output

    def resolve(node: ast.expr) -> ast.expr:
        return flow.resolve(node, None, made)[0] or node

    def is_output(node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == output

    return next(columns(module, [*units, value], resolve, is_output), None)


def _beside(reading: Reading, node: ast.AST, unit: ast.stmt | None) -> dict[ast.Name, ast.expr]:
    flow, (output, made) = reading.flows[TRAIN], reading.output

    def resolve(value: ast.expr) -> ast.expr:
        return flow.resolve(value, unit, made)[0] or value

    def is_output(value: ast.expr) -> bool:
        found = resolve(value)
        return isinstance(found, ast.Name) and found.id == output

    return partners(reading.module, [node], resolve, is_output)


def _bits(reading: Reading, nodes: list[ast.AST]) -> int | None:
    """The size of the integers that the labels are, as classes.

    They meet the output's argmax, or a function that takes integers; None where they do not, or
    are of several classes themselves.
    """
    module, (output, _) = reading.module, reading.output
    found: int | None = None
    for call in (c for n in nodes for c in ast.walk(n) if isinstance(c, ast.Call)):
        name = short_name_of(module, call)
        if name in _INTEGERS and _mentions_labels(module, call):
            return 32
        if name == "argmax":
            if any(isinstance(part, ast.Name) and part.id == output for part in ast.walk(call)):
                found = 32 if any(k.arg == "output_type" for k in call.keywords) else 64
    return found if any(_mentions_labels(module, node) for node in nodes) else None


def _mentions_labels(module: Module, node: ast.AST) -> bool:
    """Whether labels are read as they are, not as the argmax of several columns."""
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name) and part.id == "labels":
            return True
        if isinstance(part, ast.Call) and short_name_of(module, part) in ("argmax", "arg_max"):
            continue
        stack.extend(ast.iter_child_nodes(part))
    return False
