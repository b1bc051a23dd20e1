"""What a value of a batch needs the labels as: integers, or of another value's shape."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import short_name_of
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.front.model_fn.shapes import operands, partners, reduces
from migrate_mgpu.models.ir import Computation, LabelUse

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


def has_named_labels(function: ast.AST) -> bool:
    """Whether a model_fn takes its labels out of a dictionary."""
    for part in ast.walk(function):
        key: ast.expr | None = None
        taken: ast.expr | None = None
        if isinstance(part, ast.Subscript):
            key, taken = part.slice, part.value
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if part.func.attr in ("get", "pop") and part.args:
                key, taken = part.args[0], part.func.value
        if isinstance(taken, ast.Name) and taken.id == "labels":
            if isinstance(constant(key), str):
                return True
    return False


def compared_otherwise(reading: Reading, computed: Computation) -> ast.expr | None:
    """What an operator has beside the labels in a value of a batch, if TF1 may broadcast there.

    Labels of shape [batch] and an output that is a column give [batch, batch] in TF1, and so do
    labels that are a column and an output without its last axis; `compile` gives both one shape.
    """
    module, flow, (output, made) = reading.module, reading.flow, reading.output

    def resolve(node: ast.expr) -> ast.expr:
        return flow.resolve(node, None, made)[0] or node

    def is_output(node: ast.expr) -> bool:
        found = resolve(node)
        return isinstance(found, ast.Name) and found.id == output

    for other in operands(module, [*computed.units, computed.value], resolve):
        if _may_be_column(reading) if is_output(other) else reduces(module, other, resolve):
            return other
    return None


def _may_be_column(reading: Reading) -> bool:
    """Whether the network's output may have one number for each example."""
    _, made = reading.output
    value = made.value if isinstance(made, ast.Assign) else None
    if not isinstance(value, ast.Call):
        return True
    if reading.layers.read(reading.module, value) is None:
        return True
    given = by_parameter(value, ("inputs", "units"))
    units = given.get("units", given.get("num_outputs"))
    size = constant(units) if units is not None else None
    return not isinstance(size, int) or size == 1


def _beside(reading: Reading, node: ast.AST, unit: ast.stmt | None) -> dict[ast.Name, ast.expr]:
    flow, (output, made) = reading.flow, reading.output

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
