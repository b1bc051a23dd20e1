"""Whether an Estimator's name means TF1's: TF2 had others of the same names."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.models.keras.expressions import rule

BEHAVIOR = "MGPU201"


def check_version(module: Module, call: ast.Call) -> None:
    """Refuses TF2's own Estimators: losses, optimizers and names of metrics are others there.

    Raises:
        Refused: a plain name in a file that speaks TF2, or says ``compat.v1`` elsewhere.
    """
    found = symbol(module.names.qualname(call.func))
    behavior = rule(BEHAVIOR)
    if found is None or found.flavour != "plain":
        return
    if behavior.is_tf2(module) or behavior.is_explicit_v1(module):
        text = f"`{module.source.code(call.func)}` is TF2's own in a file of TF2, and not TF1's"
        raise Refused(module, call, text, "name it by tf.compat.v1 if TF1's is meant")
