"""The optimizer of a canned Estimator: one by its name, one of ``tf.train``, or the default."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.optimizers import BY_STRING
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.ir import LearningRate, Optimizer, Variation


@record()
class CannedOptimizer:
    """The optimizer of a part of the network.

    ``named`` is the string that it is known by, where no call makes it. ``gone`` are TF1's own
    nodes; ``statements`` gave it a variable, which goes. ``made`` is the object that a
    variable holds (None for a function that makes one).
    """

    optimizer: Optimizer
    named: str = ""
    gone: set[ast.AST] = field(default_factory=set)
    statements: list[ast.stmt] = field(default_factory=list)
    made: ast.expr | None = None

    def shared_with(self, other: CannedOptimizer) -> bool:
        """Whether both are one object."""
        return self.made is not None and self.made is other.made


def read_canned_optimizer(
    flow: EstimatorFlow, parameter: str, default: tuple[str, float]
) -> CannedOptimizer:
    """The optimizer that an Estimator is given.

    Args:
        parameter: the Estimator's parameter that it is given as.
        default: the name and the learning rate that 1.15 takes without one, or by a name.

    Raises:
        Refused: nothing equals it, or which one it is cannot be told.
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
        return CannedOptimizer(optimizer, named=named)
    assert node is not None
    value = node
    statements: list[ast.stmt] = []
    if isinstance(value, ast.Name):
        bindings = module.names.bindings_of(value)
        statement = module.names.statement(bindings[0].node) if len(bindings) == 1 else None
        if not isinstance(statement, ast.Assign) or bindings[0].value is None:
            raise Refused(module, node, "which optimizer this is cannot be told")
        if module.names.scope_at(statement) is not module.names.scope_at(flow.statement):
            raise Refused(
                module, node, "the optimizer is made in another function",
                "make it beside the Estimator",
            )  # fmt: skip
        _check_between(flow, statement)
        statements.append(statement)
        value = bindings[0].value
    held: ast.expr | None = value
    if isinstance(value, ast.Lambda) and not value.args.args:
        value, held = value.body, None
    made = read_optimizer(module, value) if isinstance(value, ast.Call) else None
    if made is None:
        raise Refused(
            module, node, "which optimizer this is cannot be told", "give it one of tf.train"
        )
    return CannedOptimizer(made, "", set(ast.walk(value)), statements, held)


def _check_between(flow: EstimatorFlow, statement: ast.stmt) -> None:
    """The optimizer is made a bit later now: nothing that it reads may change until then."""
    names = flow.module.names
    read = {part for part in ast.walk(statement) if isinstance(part, ast.Name)}
    for name in read:
        for binding in names.bindings_of(name) if isinstance(name.ctx, ast.Load) else ():
            line = getattr(binding.node, "lineno", 0)
            if statement.lineno < line < flow.statement.lineno:
                raise Refused(
                    flow.module, name, f"`{name.id}` changes between the optimizer and its "
                    "Estimator", "make the optimizer in the Estimator's arguments",
                )  # fmt: skip
