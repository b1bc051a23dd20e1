"""Keras's own recurrent layers: what 1.15 did where its author said nothing.

1.15's LSTM and GRU have a `hard_sigmoid` for their gates, TF2's a sigmoid; Keras 3 has another
function of that name. GRU's reset gate stood before the product.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.api_version import is_explicit_v1, is_tf2
from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.symbols import symbol
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.core.registry import constant
from migrate_mgpu.source.source import Edit

_GATES = "lambda x: {tf}.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"
_WEIGHTS = ("use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer")
_REST = (
    "return_sequences", "return_state", "go_backwards", "unroll", "name", "trainable",
    "input_shape",
)  # fmt: skip
_DROPPED = {"dropout": (0, 0.0), "recurrent_dropout": (0, 0.0), "stateful": (False,)}
_PARAMETERS = {
    "LSTM": ("units", "activation", "recurrent_activation", *_WEIGHTS, "unit_forget_bias"),
    "GRU": ("units", "activation", "recurrent_activation", *_WEIGHTS, "reset_after"),
    "SimpleRNN": ("units", "activation", *_WEIGHTS),
}
LAYERS = tuple(_PARAMETERS)
# Others of the family, or around it: not compared.
_OTHERS = (
    "Bidirectional", "ConvLSTM2D", "CuDNNGRU", "CuDNNLSTM", "GRUCell", "LSTMCell", "RNN",
    "StackedRNNCells",
)  # fmt: skip
_ADVICE = "make it by tf.keras.layers.LSTM, GRU or SimpleRNN without dropout"


def keras_recurrent(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...] | None:
    """The edits of a call that makes a recurrent layer of Keras's; None where it makes none.

    Raises:
        Refused: it is not known to do the same in Keras 2.15 and 3.
    """
    head, _, short = name_of(module, call).rpartition(".")
    if head != "keras.layers" or short not in (*LAYERS, *_OTHERS):
        return None
    shown = module.source.code(call.func)
    found = symbol(module.names.qualname(call.func))
    if found is not None and found.flavour == "plain":
        if is_tf2(module) or is_explicit_v1(module):
            text = f"whether `{shown}` is TF1's or TF2's cannot be told"
            raise Refused(module, call, text, "name it by tf.compat.v1 if TF1's is meant")
    if short in _OTHERS:
        text = f"the Keras layer `{short}` is not known to be the same in TF1 and TF2"
        raise Refused(module, call, text, _ADVICE)
    parameters = (*_PARAMETERS[short], *_REST, *_DROPPED, "implementation")
    edit = BoundCall(module, call, parameters)
    if len(call.args) > 1:
        raise Refused(module, call.args[1], f"what `{shown}` is given by position", "name it")
    for name, allowed in _DROPPED.items():
        refuse_unless(edit, name, allowed, f"`{name}` of `{shown}` is not followed", _ADVICE)
    edit.drop("implementation")
    activation = edit.get("activation")
    if activation is not None and constant(activation) == "hard_sigmoid":
        text = "Keras 3 has another function of the name `hard_sigmoid`"
        raise Refused(module, activation, text, "write it as a function")
    if "recurrent_activation" in parameters:
        gates = edit.get("recurrent_activation")
        known = "hard_sigmoid" if gates is None else constant(gates)
        if known == "hard_sigmoid":
            edit.drop("recurrent_activation")
            edit.add("recurrent_activation", _GATES.format(tf=tf))
        elif gates is not None and known != "sigmoid":
            text = f"the gates' activation of `{shown}` was not compared with TF2's"
            raise Refused(module, gates, text, "leave it out, or let it be 'sigmoid'")
    if short == "GRU":
        refuse_unless(edit, "reset_after", (False,), "a GRU with `reset_after`", _ADVICE)
        edit.add("reset_after", "False")
    return edit.edits()
