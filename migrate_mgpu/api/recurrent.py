"""Recurrent cells of TF1 and what runs them.

TF1's cells have one kernel for the inputs and the state, drawn as one, and add the forget
bias as they run. Keras's layers have two kernels, other first values and gates in another
order. So the file gets a cell of its own, a dozen lines, whose weights are TF1's; Keras's
`RNN` runs it as `tf.nn.dynamic_rnn` did.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import field, record

_HOMES = ("nn.rnn_cell.", "contrib.rnn.")
LSTM, GRU, RNN, STACK = "LSTMCell", "GRUCell", "BasicRNNCell", "MultiRNNCell"


@record(frozen=True)
class CellRow:
    """A class of cells: what it is here, and its parameters.

    ``plain`` are those that must be TF1's default, ``names`` what others are called here.
    """

    kind: str
    parameters: tuple[str, ...]
    plain: Mapping[str, tuple[object, ...]]
    names: Mapping[str, str] = field(
        default_factory=lambda: {"initializer": "kernel_initializer", "num_units": "units"}
    )


_COMMON = {"reuse": (None, False), "dtype": (None,), "state_is_tuple": (True,)}
CELLS = {
    "BasicLSTMCell": CellRow(
        LSTM,
        ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse", "name", "dtype"),
        _COMMON,
    ),
    "LSTMCell": CellRow(
        LSTM,
        ("num_units", "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip",
         "num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple", "activation",
         "reuse", "name", "dtype"),
        {**_COMMON, "use_peepholes": (False,), "cell_clip": (None,), "num_proj": (None,),
         "proj_clip": (None,), "num_unit_shards": (None, 1), "num_proj_shards": (None, 1)},
    ),
    "GRUCell": CellRow(
        GRU,
        ("num_units", "activation", "reuse", "kernel_initializer", "bias_initializer", "name",
         "dtype"),
        {**_COMMON, "bias_initializer": (None,)},
    ),
    "BasicRNNCell": CellRow(
        RNN, ("num_units", "activation", "reuse", "name", "dtype"), _COMMON
    ),
}  # fmt: skip
STACK_PARAMETERS = ("cells", "state_is_tuple")
_RUN = (
    "cell", "inputs", "sequence_length", "initial_state", "dtype", "parallel_iterations",
    "swap_memory", "time_major", "scope",
)  # fmt: skip
_RUN_STATIC = ("cell", "inputs", "initial_state", "dtype", "sequence_length", "scope")
# What runs a cell: its parameters.
RUNS = {
    "nn.dynamic_rnn": _RUN,
    "nn.static_rnn": _RUN_STATIC,
    "contrib.rnn.static_rnn": _RUN_STATIC,
}
STATIC = ("nn.static_rnn", "contrib.rnn.static_rnn")
REFUSED_RUNS = ("nn.bidirectional_dynamic_rnn", "nn.raw_rnn")

# Keras's own recurrent layers: their parameters, and those that all of them have.
_KERAS_WEIGHTS = (
    "use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer",
)  # fmt: skip
KERAS_LAYERS = {
    "LSTM": (
        "units", "activation", "recurrent_activation", *_KERAS_WEIGHTS, "unit_forget_bias",
    ),
    "GRU": ("units", "activation", "recurrent_activation", *_KERAS_WEIGHTS, "reset_after"),
    "SimpleRNN": ("units", "activation", *_KERAS_WEIGHTS),
}  # fmt: skip
KERAS_REST = (
    "return_sequences", "return_state", "go_backwards", "unroll", "name", "trainable",
    "input_shape",
)  # fmt: skip
KERAS_DROPPED = {"dropout": (0, 0.0), "recurrent_dropout": (0, 0.0), "stateful": (False,)}
# Others of the family, or around it: not compared.
KERAS_OTHERS = (
    "Bidirectional", "ConvLSTM2D", "CuDNNGRU", "CuDNNLSTM", "GRUCell", "LSTMCell", "RNN",
    "StackedRNNCells",
)  # fmt: skip


def cell_of(module: Module, node: ast.AST | None) -> str:
    """The name of TF1's class that a call makes a cell of."""
    name = name_of(module, node) if isinstance(node, ast.Call) else ""
    home = next((home for home in _HOMES if name.startswith(home)), None)
    return name[len(home) :] if home is not None else ""


def is_recurrent(module: Module, call: ast.Call) -> bool:
    """Whether a call runs a recurrent network."""
    return name_of(module, call) in RUNS
