"""Keras's own recurrent layers: what 1.15 did where its author said nothing.

1.15's LSTM and GRU have a `hard_sigmoid` for their gates, TF2's a sigmoid; Keras 3 has another
function of that name. GRU's reset gate stood before the product.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.api_version import is_explicit_v1, is_tf2
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.recurrent import KERAS_LAYERS, KERAS_OTHERS
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.models.ir import KerasRecurrent

_ADVICE = "make it by tf.keras.layers.LSTM, GRU or SimpleRNN without dropout"


def read_keras_recurrent(module: Module, call: ast.Call) -> KerasRecurrent | None:
    """The recurrent layer of Keras's that a call makes; None where it makes none.

    Raises:
        Refused: it is not known to do the same in Keras 2.15 and 3.
    """
    name = name_of(module, call)
    row = KERAS_LAYERS.by_name.get(name)
    other = name.removeprefix("keras.layers.")
    if row is None and (other == name or other not in KERAS_OTHERS):
        return None
    shown = module.source.code(call.func)
    found = symbol(module.names.qualname(call.func))
    if found is not None and found.flavour == "plain":
        if is_tf2(module) or is_explicit_v1(module):
            text = f"whether `{shown}` is TF1's or TF2's cannot be determined"
            raise Refused(module, call, text, "name it by tf.compat.v1 if TF1's is meant")
    if row is None:
        text = f"the Keras layer `{other}` is not known to be the same in TF1 and TF2"
        raise Refused(module, call, text, _ADVICE)
    given = NamedArguments(module, call, row.signature)
    if len(call.args) > 1:
        raise Refused(module, call.args[1], f"what `{shown}` is given by position", "name it")
    for parameter in (one for one in row.parameters if one.only):
        text = f"`{parameter.name}` of `{shown}` cannot be analyzed"
        refuse_unless(given, parameter.name, parameter.only, text, _ADVICE)
    given.drop("implementation")
    activation = given.get("activation")
    if activation is not None and constant(activation) == "hard_sigmoid":
        text = "Keras 3 has another function of the name `hard_sigmoid`"
        raise Refused(module, activation, text, "write it as a function")
    hard = row.hard_gates
    if hard:
        gates = given.get("recurrent_activation")
        known = "hard_sigmoid" if gates is None else constant(gates)
        hard = known == "hard_sigmoid"
        if hard:
            given.drop("recurrent_activation")
        elif gates is not None and known != "sigmoid":
            text = f"the gates' activation of `{shown}` was not compared with TF2's"
            raise Refused(module, gates, text, "leave it out, or let it be 'sigmoid'")
    if row.kind == "GRU":
        refuse_unless(given, "reset_after", (False,), "a GRU with `reset_after`", _ADVICE)
    return KerasRecurrent(row.kind, module, call, given.rest, hard)
