"""Calls that make an optimizer or a learning rate schedule, read into the model IR."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.optimizers import (
    BY_STRING,
    OPTIMIZE_LOSS,
    OPTIMIZE_LOSS_PARAMETERS,
    OPTIMIZERS,
    OptimizerRow,
)
from migrate_mgpu.api.schedules import SCHEDULES, ScheduleRow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.decayed_tables import decays_tables, embeddings
from migrate_mgpu.models.front.rates import is_global_step, schedule_is_used, variation_of
from migrate_mgpu.models.ir import LearningRate, Optimizer, Schedule, Variation
from migrate_mgpu.models.properties import moves_same_rows


def read_optimizer(module: Module, call: ast.Call) -> Optimizer | None:
    """The optimizer that a call makes, which does the same for an embedding; None for none.

    Raises:
        Refused: nothing equals it, or it cannot be determined which it is.
    """
    optimizer = made_optimizer(module, call)
    return optimizer if optimizer is None else _checked(optimizer)


def made_optimizer(module: Module, call: ast.Call) -> Optimizer | None:
    """The optimizer that a call makes, whatever gradients it gets; None where it makes none.

    Raises:
        Refused: nothing equals it, or it cannot be determined which it is.
    """
    name = name_of(module, call)
    if name == OPTIMIZE_LOSS:
        return _of_optimize_loss(module, call)
    row = OPTIMIZERS.by_name.get(name)
    if row is None:
        if name.endswith("Optimizer") and name.rpartition(".")[0] in ("train", "contrib.opt"):
            raise Refused(module, call, f"no Keras optimizer equals tf.{name}")
        return None
    given = NamedArguments(module, call, row.signature).rest
    for parameter in row.parameters:
        value = given.get(parameter.name)
        if parameter.only and value is not None and constant(value) not in parameter.only:
            raise Refused(module, value, parameter.reason, parameter.advice)
    rate = given.get("learning_rate")
    learning_rate = LearningRate(rate, variation_of(module, rate))
    return Optimizer(row.kind, module, call, given, learning_rate)


def _checked(optimizer: Optimizer) -> Optimizer:
    """An optimizer that does the same where the gradients are those of an embedding's rows."""
    module, embeds = optimizer.module, _embedding(optimizer)
    if embeds and not moves_same_rows(optimizer):
        short = OPTIMIZERS.by_kind[optimizer.kind].names[0].rpartition(".")[2]
        text = f"TF1's {short} updates only the rows of an embedding that a batch uses"
        advice = f"`{embeds}`: use Adam, Adagrad or gradient descent"
        raise Refused(module, optimizer.node, text, advice)
    return optimizer


def _embedding(optimizer: Optimizer) -> str:
    """What looks up a table whose rows an optimizer may get gradients of; empty for nothing.

    Which gradients it gets is not known here: any embedding of its module counts, unless the
    loss has the decay of its whole table, and with it a gradient for each row.
    """
    module = optimizer.module
    embeds = next((use.symbol.name for use in embeddings(module)), "")
    return "" if embeds and decays_tables(module, optimizer.node) else embeds


def may_get_rows(optimizer: Optimizer) -> bool:
    """Whether a gradient may be one of some rows of a table, as far as its module tells."""
    return bool(_embedding(optimizer))


def _of_optimize_loss(module: Module, call: ast.Call) -> Optimizer:
    """The optimizer that a call of ``optimize_loss`` makes besides its training step."""
    arguments = NamedArguments(module, call, OPTIMIZE_LOSS_PARAMETERS)
    made, rate = arguments.get("optimizer"), arguments.given("learning_rate")
    decay = arguments.given("learning_rate_decay_fn")
    row, named = _chosen(module, made)
    if row is None or rate is None:
        text = "which optimizer `optimize_loss` makes cannot be determined"
        raise Refused(module, made or call, text, "name it by a string or a class of tf.train")
    if row.settings and not named:
        raise Refused(module, call, "MomentumOptimizer is given no momentum")
    schedule = _decay_of(module, decay, rate) if decay is not None else None
    variation = Variation.SCHEDULED if schedule is not None else variation_of(module, rate)
    return Optimizer(
        row.kind,
        module,
        call,
        {"learning_rate": rate},
        LearningRate(rate, variation, schedule),
        dict(row.settings),
        optimize_loss=True,
    )


def _chosen(module: Module, node: ast.expr | None) -> tuple[OptimizerRow | None, bool]:
    """The optimizer that a string or a class stands for, and whether it is a string."""
    given = module.names.assigned(node)
    known = constant(given)
    if isinstance(known, str):
        return BY_STRING.get(known), True
    if isinstance(given, ast.Call):
        return None, False
    return OPTIMIZERS.by_name.get(name_of(module, given)), False


def _decay_of(module: Module, decay: ast.expr, rate: ast.expr) -> Schedule:
    """The schedule that a function of the learning rate and the global step returns."""
    function = module.names.assigned(decay)
    refused = Refused(
        module,
        decay,
        "which schedule decays the learning rate cannot be determined",
        "use a lambda",
    )
    if isinstance(function, ast.Name):
        made = module.names.only_definition(function)
        if not isinstance(made, ast.FunctionDef):
            raise refused
        body = [s for s in made.body if not isinstance(s, ast.Expr)]
        if len(body) != 1 or not isinstance(body[0], ast.Return):
            raise refused
        arguments, value = made.args, body[0].value
    elif isinstance(function, ast.Lambda):
        arguments, value = function.args, function.body
    else:
        raise refused
    if len(arguments.args) != 2 or not isinstance(value, ast.Call):
        raise refused
    first, second = (a.arg for a in arguments.args)
    schedule = read_schedule(module, value, {first: rate, second: None})
    if schedule is None:
        raise Refused(module, value, refused.diagnostic.reason, refused.diagnostic.advice)
    return schedule


def _schedule_row(module: Module, call: ast.Call) -> ScheduleRow | None:
    name = name_of(module, call)
    row = SCHEDULES.by_name.get(name)
    if row is not None and not row.target:
        raise Refused(module, call, f"TF2 has no schedule like tf.{name}")
    return row


def schedule_at(module: Module, call: ast.Call) -> tuple[Schedule, ast.expr] | None:
    """The schedule that a call is, and the step at which its value is asked for.

    Raises:
        Refused: TF2 has none like it, or its step is not told.
    """
    row = _schedule_row(module, call)
    if row is None:
        return None
    arguments = NamedArguments(module, call, row.signature)
    step = arguments.get(row.step)
    if step is None:
        raise Refused(module, call, f"`{arguments.shown}` is not given the step")
    return Schedule(row.kind, module, call, arguments.rest), step


def read_schedule(
    module: Module, call: ast.Call, bound: dict[str, ast.expr | None] | None = None
) -> Schedule | None:
    """The schedule that a call is; None where it is none.

    ``bound`` are the parameters of the function that it is the body of.

    Raises:
        Refused: TF2 has none like it, its step is not the global step, or its value is
            calculated with.
    """
    bound = bound or {}
    row = _schedule_row(module, call)
    if row is None:
        return None
    arguments = NamedArguments(module, call, row.signature)
    step = arguments.get(row.step)
    if not (isinstance(step, ast.Name) and step.id in bound and bound[step.id] is None):
        if not is_global_step(module, step):
            text = f"the step of `{arguments.shown}` is not the global step"
            raise Refused(module, step or call, text, "give it tf.train.get_global_step()")
        schedule_is_used(module, call)
    return Schedule(row.kind, module, call, arguments.rest, bound)
