"""The optimizer of a canned Estimator: one by its name, one of ``tf.train``, or the default."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.api.optimizers import BY_STRING
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.ir import LearningRate, Optimizer, PartOptimizer, Variation


def read_part_optimizer(
    flow: EstimatorFlow, parameter: str, default: tuple[str, float]
) -> PartOptimizer:
    """The optimizer that an Estimator is given.

    Args:
        parameter: the Estimator's parameter that it is given as.
        default: the name and the learning rate that 1.15 takes without one, or by a name.

    Raises:
        Refused: nothing equals it, or which one it is cannot be determined.
    """
    module = flow.module
    node = flow.arguments.get(parameter)
    named = constant(node) if node is not None else default[0]
    if isinstance(named, str):
        row = BY_STRING.get(named)
        if row is None or not row.canned:
            raise Refused(
                module, node or flow.call, f"the optimizer `{named}` of a canned Estimator",
                "give it one of tf.train",
            )  # fmt: skip
        rate = LearningRate(None, Variation.CONSTANT)
        settings = {"learning_rate": default[1]}
        optimizer = Optimizer(row.kind, module, node or flow.call, {}, rate, settings)
        return PartOptimizer(optimizer, named=named)
    assert node is not None
    value = node
    made_by: ast.stmt | None = None
    if isinstance(value, ast.Name):
        given = module.names.only_value(value)
        statement = module.names.statement(given) if given is not None else None
        if not isinstance(statement, ast.Assign) or given is None:
            raise Refused(module, node, "which optimizer this is cannot be determined")
        if module.names.scope_at(statement) is not module.names.scope_at(flow.statement):
            raise Refused(
                module, node, "the optimizer is made in another function",
                "make it beside the Estimator",
            )  # fmt: skip
        _check_between(flow, statement)
        made_by, value = statement, given
    held: ast.expr | None = value
    if isinstance(value, ast.Lambda) and not value.args.args:
        value, held = value.body, None
    made = read_optimizer(module, value) if isinstance(value, ast.Call) else None
    if made is None:
        raise Refused(
            module, node, "which optimizer this is cannot be determined", "give it one of tf.train"
        )
    return PartOptimizer(made, "", made_by, held)


def _check_between(flow: EstimatorFlow, statement: ast.stmt) -> None:
    """The optimizer is made a bit later now: nothing that it reads may change until then."""
    names = flow.module.names
    read = [part for part in ast.walk(statement) if isinstance(part, ast.Name)]
    for name in read:
        for binding in names.bindings_of(name) if isinstance(name.ctx, ast.Load) else ():
            line = line_of(binding.node)
            if statement.lineno < line < flow.statement.lineno:
                raise Refused(
                    flow.module, name, f"`{name.id}` changes between the optimizer and its "
                    "Estimator", "make the optimizer in the Estimator's arguments",
                )  # fmt: skip
