"""Whether a loss is a mean: then the mean over parts of a batch is the batch's own."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.properties import is_batch_mean


def is_size(module: Module, node: ast.expr) -> bool:
    """Whether a value is made of a tensor's shape or size."""
    calls = (c for c in ast.walk(node) if isinstance(c, ast.Call))
    return any(name_of(module, call) in ("shape", "size") for call in calls)


def averages(reading: Reading, node: ast.expr, unit: ast.stmt | None) -> bool:
    """Whether a value is the mean over a batch, or made of such by sums and factors."""
    flow, module = reading.flow, reading.module
    value, where = flow.resolve(node, unit)
    assert value is not None

    def of_batch(part: ast.expr) -> bool:
        return any(flow.depends(part, where, name) for name in ("features", "labels"))

    if not of_batch(value):
        return True
    if isinstance(value, ast.BinOp):
        sides = value.left, value.right
        left, right = (averages(reading, side, where) for side in sides)
        if isinstance(value.op, (ast.Add, ast.Sub)):
            return left and right
        constant = [not of_batch(side) for side in sides]
        if isinstance(value.op, ast.Mult):
            return left and right and any(constant)
        if not isinstance(value.op, ast.Div):
            return False
        whole = name_of(module, value.left) in ("reduce_sum", "math.reduce_sum")
        return (left and constant[1]) or (whole and is_size(module, value.right))
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.USub) and averages(reading, value.operand, where)
    if not isinstance(value, ast.Call):
        return False
    name = name_of(module, value)
    if name in ("reduce_mean", "math.reduce_mean"):
        return len(value.args) == 1 and all(k.arg == "name" for k in value.keywords)
    if name == "identity":
        return averages(reading, value.args[0], where) if value.args else False
    if name in ("add", "math.add"):
        return all(averages(reading, argument, where) for argument in value.args[:2])
    known = read_loss(module, value)
    return known is not None and is_batch_mean(known)
