"""Data that meets the network's values in a loss: TF1's network had its type, Keras's has its own.

TF1 made a network of float64 for features of float64, which meet labels of float64. Keras
casts features and labels where it calls the network and its own losses; a model's own step does
so where its author calculates with them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate_mgpu.analysis.dataflow import Dataflow, loaded
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of, short_name_of

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_FUNCTIONS = {
    "squared_difference", "subtract", "add", "multiply", "divide", "div", "maximum", "minimum",
}  # fmt: skip
# These have the type that is asked for, or no numbers to calculate with.
_TYPED = {
    "argmax", "argmin", "cast", "equal", "greater", "greater_equal", "less", "less_equal",
    "not_equal", "one_hot", "sequence_mask", "to_double", "to_float", "to_int32", "to_int64",
}  # fmt: skip


def casts(
    module: Module,
    flow: Dataflow,
    node: ast.AST,
    unit: ast.stmt | None,
    outputs: Collection[str],
) -> dict[ast.expr, str]:
    """The values within a node that get the type of one of the network's values, with its name."""
    found: dict[ast.expr, str] = {}
    for pair in _pairs(module, node):
        for mine, other in (pair, pair[::-1]):
            output = _output(flow, other, unit, outputs)
            if output is None or _output(flow, mine, unit, outputs) is not None:
                continue
            given = any(flow.depends(mine, unit, name) for name in ("features", "labels"))
            typed = _typed(module, flow, mine, unit) or _typed(module, flow, other, unit)
            if given and not typed:
                found[mine] = output
    return found


def _pairs(module: Module, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for part in ast.walk(node):
        if isinstance(part, ast.BinOp) and isinstance(part.op, _ARITHMETIC):
            yield part.left, part.right
        elif isinstance(part, ast.Call):
            given = {k.arg: k.value for k in part.keywords}
            if name_of(module, part) == "nn.sigmoid_cross_entropy_with_logits":
                if "labels" in given and "logits" in given:
                    yield given["labels"], given["logits"]
            elif short_name_of(module, part) in _FUNCTIONS and len(part.args) > 1:
                yield part.args[0], part.args[1]


def _output(
    flow: Dataflow, node: ast.AST, unit: ast.stmt | None, outputs: Collection[str]
) -> str | None:
    """A value of the network that a value is made of."""
    seen: set[ast.stmt] = set()
    stack = [(name.id, unit) for name in loaded(node)]
    while stack:
        name, place = stack.pop()
        if name in outputs:
            return name
        for statement in flow.definitions(name, place):
            if statement not in seen:
                seen.add(statement)
                stack.extend((n.id, statement) for n in loaded(statement))
    return None


def _typed(module: Module, flow: Dataflow, node: ast.expr, unit: ast.stmt | None) -> bool:
    """Whether a value has a type that its author chose."""
    behind = [node, *flow.slice([node], unit)]
    return any(
        isinstance(part, ast.Call)
        and (short_name_of(module, part) in _TYPED or any(k.arg == "dtype" for k in part.keywords))
        for one in behind
        for part in ast.walk(one)
    )
