"""Whether an Estimator's name means TF1's: TF2 had others of the same names."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.api_version import is_explicit_v1, is_tf2
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import symbol


def check_version(module: Module, call: ast.Call) -> None:
    """Refuses TF2's own Estimators: losses, optimizers and names of metrics are others there.

    Raises:
        Refused: a plain name in a file that speaks TF2, or says ``compat.v1`` elsewhere.
    """
    found = symbol(module.names.qualname(call.func))
    if found is None or found.flavour != "plain":
        return
    if is_tf2(module) or is_explicit_v1(module):
        text = f"`{module.source.code(call.func)}` is TF2's own in a file of TF2, and not TF1's"
        raise Refused(module, call, text, "name it by tf.compat.v1 if TF1's is meant")
