"""A call of ``tf.metrics`` as a metric of the model IR."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.metrics import METRICS, MetricRow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Metric


def read_metric(module: Module, node: ast.AST) -> Metric | None:
    """The metric that a call is; None where it is none.

    Raises:
        Refused: no Keras metric equals it.
    """
    name = name_of(module, node)
    head, _, short = name.rpartition(".")
    if head != "metrics" or not isinstance(node, ast.Call):
        return None
    row = METRICS.by_name.get(name)
    if row is None:
        raise Refused(module, node, f"no Keras metric equals tf.metrics.{short}")
    edit = BoundCall(module, node, row.signature)
    curve = edit.get("curve") if row.kind == "auc" else None
    if curve is not None and constant(curve) == "PR":
        row = METRICS.by_kind["auc_precision_recall"]
    given = {name: value for name in row.signature if (value := edit.get(name)) is not None}
    for parameter in row.parameters:
        value = given.get(parameter.name)
        if value is None or not parameter.only or (is_none(value) and None in parameter.only):
            continue
        if constant(value) is None or constant(value) not in parameter.only:
            raise Refused(module, value, parameter.reason.format(shown=edit.shown))
    weights = _weights(module, row, edit.given("weights"))
    labels, predictions = given.get("labels"), given.get("predictions", given.get("values"))
    if predictions is None or (labels is None and "labels" in row.signature):
        raise Refused(module, node, f"what `{edit.shown}` compares cannot be determined")
    for parameter in row.settings:
        value = given.get(parameter.name)
        if not (value is None and parameter.default) and not _is_constant(module, value):
            text = f"`{parameter.name}` of `{edit.shown}` is not a constant of its module"
            raise Refused(module, value or node, text, "make it one")
    return Metric(row.kind, module, node, given, labels, predictions, weights)


def _weights(module: Module, row: MetricRow, value: ast.expr | None) -> ast.expr | None:
    """Each example's weight, or each value's; None where it is one for all."""
    if value is None:
        return None
    known = constant(value)
    if known is not None:
        if known not in (1, 1.0):
            text = "every example of a metric has the same weight"
            raise Refused(module, value, text, "leave `weights` out")
        return None
    if row.weights:
        raise Refused(module, value, row.weights, "leave `weights` out")
    return value


def _is_constant(module: Module, value: ast.expr | None) -> bool:
    """Whether a value is the same everywhere in its module."""
    if isinstance(value, ast.Name) and value in module.names.scope_of_name:
        home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
        if home is not None and home.is_module:
            return True
    return value is not None and constant(value) is not None
