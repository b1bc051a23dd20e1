"""The optimizer of a canned Estimator: one by its name, one of ``tf.train``, or the default."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.core.records import field, record
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow, tensorflow_name
from migrate_mgpu.models.keras.expressions import OPTIMIZERS, Context, rule
from migrate_mgpu.source.blocks import outermost, render

# What 1.15 makes of a name, besides the learning rate.
_BY_NAME = {
    "Adagrad": "Adagrad({rate}, epsilon=0.0)",
    "Adam": "Adam({rate}, epsilon=1e-8)",
    "Ftrl": "Ftrl({rate})",
    "SGD": "SGD({rate})",
}
# Optimizers of ``tf.train`` by Keras's name, where that says what a step of zero does.
_KINDS = {
    "GradientDescentOptimizer": "SGD",
    "AdagradOptimizer": "Adagrad",
    "AdamOptimizer": "Adam",
    "FtrlOptimizer": "Ftrl",
}


@record()
class CannedOptimizer:
    """Its constructor in Keras; ``classes`` stand above, ``gone`` are TF1's own nodes.

    ``statements`` gave it a variable, which goes. ``kind`` is the Keras class that it is,
    or is made of; ``remembers``: a step depends on earlier gradients even where its own is
    zero. ``made`` is the object that a variable holds (None for a function that makes one).
    """

    text: str
    comment: str = ""
    classes: tuple[str, ...] = ()
    gone: set[ast.AST] = field(default_factory=set)
    statements: list[ast.stmt] = field(default_factory=list)
    kind: str = ""
    remembers: bool = False
    made: ast.expr | None = None

    def shared_with(self, other: CannedOptimizer) -> bool:
        """Whether both are one object."""
        return self.made is not None and self.made is other.made


def read_optimizer(
    flow: EstimatorFlow, tf: str, parameter: str, default: tuple[str, str]
) -> CannedOptimizer:
    """The optimizer in Keras.

    Args:
        parameter: the Estimator's parameter that it is given as.
        default: the name and the learning rate that 1.15 takes without one, or by a name.

    Raises:
        Refused: Keras has none like it, or which one it is cannot be told.
    """
    module = flow.module
    rate = default[1]
    node = flow.arguments.get(parameter)
    named = constant(node) if node is not None else default[0]
    if isinstance(named, str):
        if named not in _BY_NAME:
            raise Refused(
                module, node or flow.call, f"the optimizer `{named}` of a canned Estimator",
                "give it one of tf.train",
            )  # fmt: skip
        text = f"{tf}.keras.optimizers.{_BY_NAME[named].format(rate=rate)}"
        return CannedOptimizer(text, f"{named} with {rate}", kind=named)
    assert node is not None
    value: ast.expr = node
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
    made = rule(OPTIMIZERS).optimizer(module, value, tf) if isinstance(value, ast.Call) else None
    if made is None:
        raise Refused(
            module, node, "which optimizer this is cannot be told", "give it one of tf.train"
        )
    context = Context(module, tf)
    edits = list(made.edits)
    for argument in [*made.call.args, *(k.value for k in made.call.keywords)]:
        start, end = module.source.span(argument)
        if not any(e.start <= start and end <= e.end for e in edits if e.end > e.start):
            edits += context.edits(argument)
    text = render(module.source, value, outermost(edits))
    short = tensorflow_name(module, made.call.func).rpartition(".")[2]
    kind = _KINDS.get(short, short)
    settings = {keyword.arg for keyword in made.call.keywords}
    shrinks = "l2_shrinkage_regularization_strength" in settings or len(made.call.args) > 8
    return CannedOptimizer(
        text, "", tuple(made.classes), set(ast.walk(value)), statements, kind,
        remembers=kind == "Ftrl" and shrinks, made=held,
    )  # fmt: skip


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
