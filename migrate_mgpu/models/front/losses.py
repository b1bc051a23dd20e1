"""A call of ``tf.losses`` or of a cross-entropy of ``tf.nn`` as a loss of the model IR."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.losses import LOSSES, REDUCTIONS, WITHOUT_EQUAL, LossRow, Reduction
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Loss

_ADVICE = "write the loss with functions of tf.nn and tf.math"
_CASTS = {"cast", "to_int32", "to_int64"}


def read_loss(module: Module, node: ast.AST) -> Loss | None:
    """The loss that a call is; None where it is none.

    Raises:
        Refused: TF2 has nothing equal.
    """
    if not isinstance(node, ast.Call):
        return None
    name = name_of(module, node)
    row = LOSSES.by_name.get(name)
    if row is None:
        if name.startswith("losses.") and name.rpartition(".")[2] in WITHOUT_EQUAL:
            raise Refused(module, node, f"no Keras loss equals tf.{name}", _ADVICE)
        return None
    edit = BoundCall(module, node, row.signature)
    given = {name: value for name in row.signature if (value := edit.get(name)) is not None}
    labels, outputs = given.get(row.other_labels, given.get(row.labels)), given.get(row.outputs)
    if labels is None or outputs is None:
        raise Refused(module, node, f"what `{edit.shown}` compares cannot be determined")
    reduction = _reduction(module, given.get("reduction")) if row.reduces else None
    factor, weights = _weight(given.get("weights"))
    if reduction is Reduction.AVERAGE and weights is None:
        reduction, factor = Reduction.MEAN, 1  # the number is in the divisor, too
    axis = next((given[n] for n in ("axis", "dim") if n in given and not is_none(given[n])), None)
    setting = given.get(row.setting)
    return Loss(
        row.kind,
        module,
        node,
        given,
        labels,
        outputs,
        reduction,
        factor,
        weights,
        setting=None if setting is None or _is_default(row, setting) else setting,
        last_axis=axis is None or constant(axis) == -1,
        classes=_classes(module, labels) if row.of_classes else None,
    )


def _reduction(module: Module, value: ast.expr | None) -> Reduction:
    if value is None:
        return Reduction.MEAN
    known = constant(value)
    name = known.upper() if isinstance(known, str) else name_of(module, value).rpartition(".")[2]
    found = REDUCTIONS.get(name.removeprefix("WEIGHTED_"))
    if found is None:
        raise Refused(module, value, "the reduction of this loss cannot be determined", _ADVICE)
    return found


def _weight(value: ast.expr | None) -> tuple[float, ast.expr | None]:
    """The number that a loss is multiplied by; or what is no number."""
    known = constant(value) if value is not None else 1
    if isinstance(known, (int, float)) and not isinstance(known, bool) and known:
        return known, None
    return 1, value


def _is_default(row: LossRow, value: ast.expr) -> bool:
    """Whether the argument that says which loss it is says what TF1 takes anyway."""
    default = next(p.default for p in row.parameters if p.name == row.setting)
    return constant(value) == float(default)


def _classes(module: Module, node: ast.expr) -> ast.expr | None:
    """The classes that one-hot labels are made of in the same function, as integers."""
    made = module.names.assigned(node)
    while name_of(module, made) in ("cast", "to_float", "stop_gradient") and _first(made):
        made = module.names.assigned(_first(made))
    name = name_of(module, made)
    if not isinstance(made, ast.Call) or name not in ("one_hot", "contrib.layers.one_hot_encoding"):
        return None
    given = {k.arg: k.value for k in made.keywords}
    if len(made.args) > 2 or not set(given) <= {
        "indices", "depth", "labels", "num_classes", "dtype", "name",
    }:  # fmt: skip
        return None
    found = made.args[0] if made.args else given.get("indices", given.get("labels"))
    while isinstance(found, ast.Call) and name_of(module, found) in _CASTS and _first(found):
        found = _first(found)
    return found


def _first(node: ast.expr | None) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    if node.args:
        return node.args[0]
    return next((k.value for k in node.keywords if k.arg in ("x", "input")), None)


def is_regularization(module: Module, node: ast.expr | None) -> bool:
    """Whether an expression is the sum, or the list, of all regularization terms."""
    if not isinstance(node, ast.Call):
        return False
    name = name_of(module, node)
    if name in ("losses.get_regularization_loss", "losses.get_regularization_losses"):
        scope = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "scope")]
        return all(is_none(value) for value in scope)
    if name == "get_collection" and len(node.args) + len(node.keywords) == 1:
        key = node.args[0] if node.args else node.keywords[0].value
        return (
            name_of(module, key) == "GraphKeys.REGULARIZATION_LOSSES"
            or constant(key) == "regularization_losses"
        )
    return False
