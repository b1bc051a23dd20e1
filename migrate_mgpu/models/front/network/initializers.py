"""TF1's initializers and regularizers, with the values that TF1 took unasked."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.initializers import (
    CONTRIB_WIDTH,
    INITIALIZERS,
    REGULARIZERS,
    VARIANCE,
    VARIANCE_SCALING,
    XAVIER,
    XAVIER_NORMAL,
    XAVIER_UNIFORM,
    InitializerRow,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.types import Initializer

_UNKNOWN = "it cannot be told which distribution this initializer has"
_WRITTEN_OUT = (ast.List, ast.Tuple)


def read_initializer(module: Module, node: ast.expr) -> Initializer | None:
    """The initializer or regularizer of a call, or of a class that is handed over.

    None where it is none.

    Raises:
        Refused: Keras's cannot do the same.
    """
    name = name_of(module, node)
    row = INITIALIZERS.get(name)
    if not isinstance(node, ast.Call):
        if row is not None and (row.defaults or row.kind == "initializers.Constant"):
            text = f"`{module.source.code(node)}` has other defaults in Keras"
            raise Refused(module, node, text, "call it, with its values")
        return None if row is None else Initializer(node, row)
    if name in XAVIER:
        return _xavier(NamedArguments(module, node, XAVIER_UNIFORM.parameters))
    if name == VARIANCE:
        return _contrib_variance(NamedArguments(module, node, VARIANCE_SCALING.parameters))
    row = row or REGULARIZERS.get(name)
    if row is None:
        return None
    given = NamedArguments(module, node, row.parameters)
    given.drop("scope", "dtype", "verify_shape")
    if row.kind == "initializers.Constant" and isinstance(given.get("value"), _WRITTEN_OUT):
        text = "a list of constants fills a variable in TF1's own way"
        raise Refused(module, node, text, "give it an array of the variable's shape")
    if is_none(given.get("maxval")):
        given.drop("maxval")
    return _initializer(given, row)


def _initializer(given: NamedArguments, row: InitializerRow) -> Initializer:
    named = {row.names.get(name, name) for name in given.rest}
    unasked = {name: value for name, value in row.defaults.items() if name not in named}
    return Initializer(given.call, row, given.rest, unasked)


def _xavier(given: NamedArguments) -> Initializer:
    uniform = given.get("uniform")
    known = True if uniform is None else constant(uniform)
    if not isinstance(known, bool):
        raise Refused(given.module, uniform or given.call, _UNKNOWN, "write True or False")
    given.drop("uniform", "dtype")
    return _initializer(given, XAVIER_UNIFORM if known else XAVIER_NORMAL)


def _contrib_variance(given: NamedArguments) -> Initializer:
    values: dict[str, object] = {"factor": 2.0, "mode": "FAN_IN", "uniform": False}
    for name in values:
        value = given.get(name)
        if value is not None:
            values[name] = constant(value)
    factor, mode, uniform = values.values()
    known = isinstance(factor, (int, float)) and mode in ("FAN_IN", "FAN_OUT", "FAN_AVG")
    if not known or not isinstance(uniform, bool):
        raise Refused(given.module, given.call, _UNKNOWN, "write its values")
    given.drop(*values, "dtype")
    assert isinstance(factor, (int, float))
    scale = factor if uniform else factor * CONTRIB_WIDTH
    unasked: dict[str, float | str] = {"scale": scale, "mode": str(mode).lower()}
    if uniform:
        unasked["distribution"] = "uniform"
    return Initializer(given.call, VARIANCE_SCALING, given.rest, unasked)
