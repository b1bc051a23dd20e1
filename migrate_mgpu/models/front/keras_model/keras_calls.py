"""Calls of TF 1.15's Keras, read: what models are made of, optimizers, losses and metrics."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.keras import COMPARE, INPUT_LAYER, LOSSES, METRICS, NAMED, PARTS
from migrate_mgpu.api.optimizers import KERAS_OPTIMIZERS, KERAS_WITHOUT_EQUAL, OptimizerRow
from migrate_mgpu.api.tables import refuse_unless
from migrate_mgpu.models.front.network.keras_recurrent import read_keras_recurrent
from migrate_mgpu.models.front.optimizers import read_optimizer
from migrate_mgpu.models.front.rates import variation_of
from migrate_mgpu.models.ir import (
    KerasPart,
    KerasRecurrent,
    LearningRate,
    NamedMetric,
    Optimizer,
)

_UNKNOWN = "which parameter this argument belongs to cannot be determined"


def keras_name(module: Module, node: ast.AST) -> str:
    """``layers.Dense`` of ``tf.keras.layers.Dense``; empty for what is not Keras's."""
    name = tensorflow_name(module, node)
    return name[len("keras.") :] if name.startswith("keras.") else ""


def read_part(module: Module, call: ast.Call) -> KerasPart | KerasRecurrent:
    """What a call of Keras's makes, or applies, in a model.

    Raises:
        Refused: it is not known to be the same in Keras 2.15 and 3.
    """
    row = PARTS.by_name.get(tensorflow_name(module, call.func))
    if row is None:
        recurrent = read_keras_recurrent(module, call)
        if recurrent is not None:
            return recurrent
        shown = module.source.code(call.func)
        text = f"`{shown}` in a Keras model is not known to do the same in TF2"
        raise Refused(module, call, text, COMPARE)
    given = NamedArguments(module, call, row.signature)
    if row.kind == INPUT_LAYER:
        for one in row.parameters:
            if one.reason:
                refuse_unless(given, one.name, one.only, one.reason, one.advice)
        if given.given("input_shape") is None:
            raise Refused(module, call, "an InputLayer without an input_shape", COMPARE)
    elif len(call.args) > len(row.order):
        raise Refused(module, call, _UNKNOWN)
    for name, value in given.rest.items():
        for kind, known in NAMED.items():
            if name.endswith(kind.removesuffix("s")) and not is_none(value):
                _check_named(module, value, known, kind)
    return KerasPart(row.kind, module, call, given.rest)


def _check_named(module: Module, node: ast.expr, names: tuple[str, ...], kind: str) -> None:
    """Checks an activation or initializer that is named by a string, or by Keras's function."""
    if constant(node) in names:
        return
    given = module.names.assigned(node)
    if isinstance(given, ast.Call):
        return  # looked at where it is called
    if given is not None and not isinstance(given, ast.Constant):
        head, _, short = tensorflow_name(module, given).rpartition(".")
        if head in (f"keras.{kind}", "nn", "") and short in names:
            return
    raise Refused(module, node, f"which of Keras's {kind} this is cannot be determined", COMPARE)


# -- optimizers -------------------------------------------------------------------

_BY_NAME = {name.rpartition(".")[2].lower() for name in KERAS_OPTIMIZERS.by_name}


def read_keras_optimizer(module: Module, node: ast.expr) -> Optimizer | None:
    """A compiled optimizer; None where a string names it.

    Raises:
        Refused: no Keras optimizer is known to do the same.
    """
    named = constant(node)
    if isinstance(named, str):
        if named.lower() in _BY_NAME:
            return None
        known = next((o for o in KERAS_WITHOUT_EQUAL if o.lower() == named.lower()), "")
        raise Refused(module, node, _no_optimizer(named, known), COMPARE)
    given = module.names.assigned(node)
    if not isinstance(given, ast.Call):
        raise Refused(module, node, "which optimizer the Keras model gets cannot be determined")
    name = keras_name(module, given.func)
    row = KERAS_OPTIMIZERS.by_name.get(f"keras.{name}")
    if row is not None:
        return _keras_optimizer(module, given, row)
    made = read_optimizer(module, given) if not name else None
    if made is not None:
        return made
    shown = module.source.code(given.func)
    raise Refused(module, given, _no_optimizer(shown, name.removeprefix("optimizers.")), COMPARE)


def _no_optimizer(shown: str, short: str) -> str:
    text = f"`{shown}` as a Keras model's optimizer is not known to do the same in TF2"
    return f"{text}: {KERAS_WITHOUT_EQUAL[short]}" if short in KERAS_WITHOUT_EQUAL else text


def _keras_optimizer(module: Module, call: ast.Call, row: OptimizerRow) -> Optimizer:
    given = NamedArguments(module, call, row.signature).rest
    if len(call.args) > len(row.signature) - 2:  # `lr` and `decay` are keywords
        raise Refused(module, call, _UNKNOWN)
    for parameter in row.parameters:
        value = given.get(parameter.name)
        if value is not None and parameter.only and not is_none(value):
            if constant(value) not in parameter.only:
                raise Refused(module, value, parameter.reason)
    rates = [given[name] for name in ("learning_rate", "lr") if name in given]
    rate = next((value for value in rates if not is_none(value)), None)
    return Optimizer(row.kind, module, call, given, LearningRate(rate, variation_of(module, rate)))


# -- compile -----------------------------------------------------------------------


def loss_is_elementwise(module: Module, node: ast.expr) -> bool:
    """Whether a compiled loss compares element by element.

    Raises:
        Refused: it is not known to be the same in TF2.
    """
    named = constant(node)
    if isinstance(named, str):
        row = LOSSES.by_name.get(f"keras.losses.{named}")
        if row is None or not row.measured or named[:1].isupper():
            raise Refused(module, node, f"the loss `{named}` was not compared with TF2's", COMPARE)
        return row.elementwise
    given = module.names.assigned(node) or node
    made = isinstance(given, ast.Call)
    name = tensorflow_name(module, given.func if isinstance(given, ast.Call) else given)
    row = LOSSES.by_name.get(name)
    if row is None or not row.measured or made != name.rpartition(".")[2][:1].isupper():
        raise Refused(
            module, node, "the Keras model's loss is not one that is known to be the same in TF2",
            "check it, and take the Estimator out by hand",
        )  # fmt: skip
    if isinstance(given, ast.Call):
        NamedArguments(module, given, row.signature)
    return row.elementwise


def read_metrics(module: Module, node: ast.expr | None) -> tuple[NamedMetric, ...]:
    """The compiled metrics.

    Raises:
        Refused: a metric that was not compared with TF2's.
    """
    if node is None:
        return ()
    given = module.names.assigned(node)
    if not isinstance(given, (ast.List, ast.Tuple)):
        raise Refused(module, node, "which metrics the Keras model has cannot be determined")
    found: list[NamedMetric] = []
    for element in given.elts:
        value = constant(element)
        row = METRICS.by_name.get(value) if isinstance(value, str) else None
        if row is None or not row.measured:
            shown = module.source.code(element)
            raise Refused(module, element, f"the metric `{shown}` was not compared with TF2's")
        found.append(NamedMetric(element, str(value), row.kind))
    return tuple(found)
