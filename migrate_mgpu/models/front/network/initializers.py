"""TF1's initializers and regularizers."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.initializers import CONTRIB_WIDTH, INITIALIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Initializer

_UNKNOWN = "it cannot be determined which distribution this initializer has"


def read_initializer(module: Module, node: ast.expr) -> Initializer | None:
    """The initializer or regularizer of a call, or of a class that is handed over.

    None where it is none.

    Raises:
        Refused: Keras's cannot do the same.
    """
    row = INITIALIZERS.by_name.get(name_of(module, node))
    if row is None:
        return None
    if not isinstance(node, ast.Call):
        if row.names[0].startswith("contrib."):
            return None
        if row.kind == "constant" or any(p.stated for p in row.parameters):
            text = f"`{module.source.code(node)}` has other defaults in Keras"
            raise Refused(module, node, text, "call it, with its values")
        return Initializer(row.kind, module, node, {})
    given = NamedArguments(module, node, row.signature)
    kind, settings = row.kind, dict(row.settings)
    if kind == "xavier":
        kind, settings = _xavier(given)
    elif kind == "contrib_variance_scaling":
        settings = _contrib_variance(given)
    elif kind == "constant" and isinstance(given.get("value"), (ast.List, ast.Tuple)):
        text = "a list of constants fills a variable in TF1's own way"
        raise Refused(module, node, text, "give it an array of the variable's shape")
    given.drop(*(p.name for p in row.parameters if not p.new_name))
    if is_none(given.get("maxval")):
        given.drop("maxval")
    return Initializer(kind, module, node, given.rest, settings)


def _xavier(given: NamedArguments) -> tuple[str, dict[str, float | str]]:
    uniform = given.get("uniform")
    known = True if uniform is None else constant(uniform)
    if not isinstance(known, bool):
        raise Refused(given.module, uniform or given.call, _UNKNOWN, "write True or False")
    kind = "xavier" if known else "xavier_normal"
    return kind, dict(INITIALIZERS.by_kind[kind].settings)


def _contrib_variance(given: NamedArguments) -> dict[str, float | str]:
    values: dict[str, object] = {"factor": 2.0, "mode": "FAN_IN", "uniform": False}
    for name in values:
        value = given.get(name)
        if value is not None:
            values[name] = constant(value)
    factor, mode, uniform = values.values()
    known = isinstance(factor, (int, float)) and mode in ("FAN_IN", "FAN_OUT", "FAN_AVG")
    if not known or not isinstance(uniform, bool):
        raise Refused(given.module, given.call, _UNKNOWN, "write its values")
    assert isinstance(factor, (int, float))
    scale = factor if uniform else factor * CONTRIB_WIDTH
    settings: dict[str, float | str] = {"scale": scale, "mode": str(mode).lower()}
    return {**settings, "distribution": "uniform"} if uniform else settings
