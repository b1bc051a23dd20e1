"""Weight decay written over all variables."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import Dataflow
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import WeightDecay

# What people write into a condition on a variable's name, and the weights it is about.
_WORDS = {
    "kernel": ("kernel",),
    "weights": ("kernel",),
    "bias": ("bias",),
    "biases": ("bias",),
    "gamma": ("gamma",),
    "beta": ("beta",),
    "batch_normalization": ("gamma", "beta"),
    "batch_norm": ("gamma", "beta"),
    "batchnorm": ("gamma", "beta"),
    "BatchNorm": ("gamma", "beta"),
}
_ALL = ("kernel", "bias", "gamma", "beta")


def read_decay(
    module: Module, flow: Dataflow, node: ast.expr, unit: ast.stmt | None
) -> WeightDecay | None:
    """A term of a loss as weight decay; None if it is something else.

    Raises:
        Refused: it is decay of variables that cannot be determined.
    """
    factor: ast.expr | None = None
    value, where = flow.resolve(node, unit)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if _sum(module, flow, other, where) is not None:
                factor, (value, where) = one, flow.resolve(other, where)
                break
    applied = _applied(module, flow, value, where) if factor is None else None
    if applied is not None:
        factor, found = applied
    else:
        found = _sum(module, flow, value, where)
    if found is None:
        return None
    variable, tests = found
    weights = set(_ALL)
    for test in tests:
        weights &= _weights(module, variable, test)
    if factor is not None and (
        flow.depends(factor, unit, "features") or flow.depends(factor, unit, "labels")
    ):
        raise Refused(module, factor, "the weight decay depends on the batch")
    return WeightDecay(module, node, factor, frozenset(weights))


def _applied(
    module: Module, flow: Dataflow, node: ast.expr | None, unit: ast.stmt | None
) -> tuple[ast.expr, tuple[str, list[ast.expr]] | None] | None:
    """`tf.contrib.layers.apply_regularization(l2_regularizer(scale), variables)`: scale, variables.

    It is ``scale * sum(l2_loss(v))``. None for another regularizer.
    """
    if not isinstance(node, ast.Call):
        return None
    if name_of(module, node) != "contrib.layers.apply_regularization":
        return None
    given = by_parameter(node, ("regularizer", "weights_list"))
    made, _ = flow.resolve(given.get("regularizer"), unit)
    weights, _ = flow.resolve(given.get("weights_list"), unit)
    if not isinstance(made, ast.Call) or name_of(module, made) != "contrib.layers.l2_regularizer":
        return None
    named = (k.value for k in made.keywords if k.arg == "scale")
    scale = made.args[0] if made.args else next(named, None)
    if scale is None or len(given) > 2 or len(node.args) > 2:
        return None
    if name_of(module, weights) == "trainable_variables" and not getattr(weights, "args", None):
        return scale, ("", [])
    if isinstance(weights, ast.ListComp) and len(weights.generators) == 1:
        generator = weights.generators[0]
        variables, _ = flow.resolve(generator.iter, unit)
        target, element = generator.target, weights.elt
        if isinstance(target, ast.Name) and isinstance(element, ast.Name):
            if element.id == target.id and name_of(module, variables) == "trainable_variables":
                return scale, (target.id, list(generator.ifs))
    return None


def _sum(
    module: Module, flow: Dataflow, node: ast.expr | None, unit: ast.stmt | None
) -> tuple[str, list[ast.expr]] | None:
    """`tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if ...])`."""
    value, where = flow.resolve(node, unit)
    if name_of(module, value) not in ("add_n", "math.add_n", "reduce_sum", "math.reduce_sum"):
        return None
    assert isinstance(value, ast.Call)
    if len(value.args) != 1:
        return None
    members, where = flow.resolve(value.args[0], where)
    if not isinstance(members, (ast.ListComp, ast.GeneratorExp)) or len(members.generators) != 1:
        return None
    generator = members.generators[0]
    element = members.elt
    if name_of(module, element) != "nn.l2_loss" or not isinstance(generator.target, ast.Name):
        return None
    assert isinstance(element, ast.Call)
    inner = element.args[0] if element.args else None
    if name_of(module, inner) in ("cast", "to_float") and isinstance(inner, ast.Call):
        inner = inner.args[0]  # to float32, which a weight is
    variables, _ = flow.resolve(generator.iter, where)
    if not isinstance(inner, ast.Name) or inner.id != generator.target.id:
        return None
    if name_of(module, variables) != "trainable_variables":
        return None
    return generator.target.id, list(generator.ifs)


def _weights(module: Module, variable: str, test: ast.expr) -> set[str]:
    """The kinds of weights whose names pass a test."""
    if isinstance(test, ast.BoolOp):
        parts = [_weights(module, variable, value) for value in test.values]
        whole = isinstance(test.op, ast.And)
        return set.intersection(*parts) if whole else set.union(*parts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return set(_ALL) - _weights(module, variable, test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        word, of = test.left, test.comparators[0]
        if isinstance(of, ast.Call) and isinstance(of.func, ast.Attribute):
            of = of.func.value  # v.name.lower()
        named = isinstance(of, ast.Attribute) and of.attr in ("name", "op")
        if named and isinstance(word, ast.Constant) and word.value in _WORDS:
            kinds = set(_WORDS[str(word.value)])
            if isinstance(test.ops[0], ast.In):
                return kinds
            if isinstance(test.ops[0], ast.NotIn):
                return set(_ALL) - kinds
    text = "which variables the weight decay covers cannot be determined"
    raise Refused(module, test, text, "give the layers their regularizers")
