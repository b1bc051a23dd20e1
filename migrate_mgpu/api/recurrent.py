"""Recurrent cells of TF1 and what runs them.

TF1's cells have one kernel for the inputs and the state, drawn as one, and add the forget
bias as they run. Keras's layers have two kernels, other first values and gates in another
order. So the file gets a cell of its own, a dozen lines, whose weights are TF1's; Keras's
`RNN` runs it as `tf.nn.dynamic_rnn` did.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record

_HOMES = ("nn.rnn_cell.", "contrib.rnn.")
PAIR_CLASS = "LSTMStateTuple"  # c and h
PAIR_PARTS = ("c", "h")
LSTM, GRU, RNN, STACK = "LSTMCell", "GRUCell", "BasicRNNCell", "MultiRNNCell"
NORMALIZED = "LayerNormLSTMCell"  # an LSTM with gates and memory of mean 0 and variance 1
PAIRS = (LSTM, NORMALIZED)  # whose states are pairs
NORMALIZED_PARTS = ("input", "transform", "forget", "output", "state")
DROPOUT, RESIDUAL = "DropoutCell", "ResidualCell"  # cells around a cell
WRAPPERS = (DROPOUT, RESIDUAL)
ATTENTION = "AttentionCell"  # a cell around a cell, which has a state of its own besides
JOINED = "JoinedCells"  # a stack whose state is one tensor
MONOTONIC = ("BahdanauMonotonicAttention", "LuongMonotonicAttention")  # which never goes back
MECHANISMS = ("BahdanauAttention", "LuongAttention", *MONOTONIC)
LENGTHS = "memory_sequence_length"  # the same, of how much of it counts
PEEPHOLES = "use_peepholes"  # whether an LSTM's gates see its memory
INNER_START = "initial_cell_state"  # what the cell in one with attention begins with
MEMORY = "memory"  # the parameter of a mechanism that is a tensor
# The parts of the state of a cell with attention that it has here as well, by their places.
ATTENDED_PARTS = ("cell_state", "attention")
ATTENDED_SIZE = 6  # of TF1's `AttentionWrapperState`


@record(frozen=True)
class CellRow(Row):
    """A class of cells; ``cell`` is what it is here, the name of the class that a file gets."""

    cell: str = ""


# What no cell here has, with the values that are none of it.
_ONLY: dict[str, tuple[object, ...]] = {
    "reuse": (None, False), "dtype": (None,), "state_is_tuple": (True, False),
    "cell_clip": (None,), "num_proj": (None,), "proj_clip": (None,),
    "num_unit_shards": (None, 1), "num_proj_shards": (None, 1), "bias_initializer": (None,),
    "state_keep_prob": (1, 1.0), "variational_recurrent": (False,), "input_size": (None,),
    "seed": (None,), "dropout_state_filter_visitor": (None,), "residual_fn": (None,),
    "alignment_history": (False,), "cell_input_fn": (None,), "output_attention": (True,),
    "initial_cell_state": (None,), "attention_layer": (None,), "attention_fn": (None,),
    "memory_sequence_length": (None,), "normalize": (False,), "scale": (False,),
    "probability_fn": (None,), "score_mask_value": (None,), "custom_key_value_fn": (None,),
    "sigmoid_noise": (0, 0.0), "sigmoid_noise_seed": (None,), "score_bias_init": (0, 0.0),
    "mode": ("parallel",), "layer_norm": (True,), "norm_gain": (1, 1.0), "norm_shift": (0, 0.0),
    "dropout_keep_prob": (1, 1.0), "dropout_prob_seed": (None,),
}  # fmt: skip
_TARGETS = {
    "num_units": "units", "initializer": "kernel_initializer", "name": "", MEMORY: "",
}  # fmt: skip


def _cell(
    name: str, cell: str, *parameters: str, homes: tuple[str, ...] = _HOMES, plain: int = 1
) -> CellRow:
    """``plain``: how many of its parameters may be given by position."""
    every = tuple(
        Parameter(one, target="", only=_ONLY[one])
        if one in _ONLY
        else Parameter(one, target=_TARGETS.get(one))
        for one in parameters
    )
    names = tuple(f"{home}{name}" for home in homes)
    first = tuple(one.new_name for one in every[:plain])
    return CellRow(names, name, every, by_position=first, cell=cell)


_ATTENDING = ("contrib.seq2seq.",)
_STAYS = (
    "score_mask_value", "sigmoid_noise", "sigmoid_noise_seed", "score_bias_init", "mode", "dtype",
    "name",
)  # fmt: skip


CELLS = Table(
    _cell(
        "BasicLSTMCell", LSTM, "num_units", "forget_bias", "state_is_tuple", "activation",
        "reuse", "name", "dtype",
    ),
    _cell(
        "LSTMCell", LSTM, "num_units", "use_peepholes", "cell_clip", "initializer", "num_proj",
        "proj_clip", "num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple",
        "activation", "reuse", "name", "dtype",
    ),
    _cell(
        "GRUCell", GRU, "num_units", "activation", "reuse", "kernel_initializer",
        "bias_initializer", "name", "dtype",
    ),
    _cell("BasicRNNCell", RNN, "num_units", "activation", "reuse", "name", "dtype"),
    _cell(
        "LayerNormBasicLSTMCell", NORMALIZED, "num_units", "forget_bias", "input_size",
        "activation", "layer_norm", "norm_gain", "norm_shift", "dropout_keep_prob",
        "dropout_prob_seed", "reuse", homes=("contrib.rnn.",),
    ),
    _cell(
        "DropoutWrapper", DROPOUT, "cell", "input_keep_prob", "output_keep_prob",
        "state_keep_prob", "variational_recurrent", "input_size", "dtype", "seed",
        "dropout_state_filter_visitor",
    ),
    _cell("ResidualWrapper", RESIDUAL, "cell", "residual_fn"),
    _cell(
        "AttentionWrapper", ATTENTION, "cell", "attention_mechanism", "attention_layer_size",
        "alignment_history", "cell_input_fn", "output_attention", "initial_cell_state", "name",
        "attention_layer", "attention_fn", "dtype", homes=_ATTENDING, plain=3,
    ),
    _cell(
        "BahdanauAttention", "BahdanauAttention", "num_units", MEMORY, "memory_sequence_length",
        "normalize", "probability_fn", "score_mask_value", "dtype", "custom_key_value_fn", "name",
        homes=_ATTENDING,
    ),
    _cell(
        "LuongAttention", "LuongAttention", "num_units", MEMORY, "memory_sequence_length", "scale",
        "probability_fn", "score_mask_value", "dtype", "custom_key_value_fn", "name",
        homes=_ATTENDING,
    ),
    _cell(
        MONOTONIC[0], MONOTONIC[0], "num_units", MEMORY, "memory_sequence_length", "normalize",
        *_STAYS, homes=_ATTENDING,
    ),
    _cell(
        MONOTONIC[1], MONOTONIC[1], "num_units", MEMORY, "memory_sequence_length", "scale",
        *_STAYS, homes=_ATTENDING,
    ),
    CellRow(
        tuple(f"{home}{STACK}" for home in _HOMES),
        STACK,
        (Parameter("cells"), Parameter("state_is_tuple", "True", target="", only=(True, False))),
        "keras.layers.StackedRNNCells",
    ),
)  # fmt: skip


@record(frozen=True)
class RunRow(Row):
    """What runs a cell over a sequence; ``listed``: over a list of its steps."""

    listed: bool = False


def _run(name: str, *parameters: str, listed: bool = False) -> RunRow:
    every = tuple(Parameter(p, target=None if p == "cell" else "") for p in parameters)
    names = (name, name.replace("nn.", "contrib.rnn.")) if listed else (name,)
    return RunRow(names, name, every, "keras.layers.RNN", listed=listed)


RUNS = Table(
    _run(
        "nn.dynamic_rnn", "cell", "inputs", "sequence_length", "initial_state", "dtype",
        "parallel_iterations", "swap_memory", "time_major", "scope",
    ),
    _run(
        "nn.static_rnn", "cell", "inputs", "initial_state", "dtype", "sequence_length", "scope",
        listed=True,
    ),
)  # fmt: skip
# What runs a cell over a sequence, or over what it chooses itself, and makes scores of its outputs.
DECODE, DECODER = "contrib.seq2seq.dynamic_decode", "contrib.seq2seq.BasicDecoder"
DECODE_PARAMETERS = (
    "decoder", "output_time_major", "impute_finished", "maximum_iterations",
    "parallel_iterations", "swap_memory", "scope",
)  # fmt: skip
DECODER_CLASS = "Decoder"
BEAM_DECODER = "contrib.seq2seq.BeamSearchDecoder"
DECODERS: dict[str, tuple[str, ...]] = {
    DECODER: ("cell", "helper", "initial_state", "output_layer"),
    BEAM_DECODER: (
        "cell", "embedding", "start_tokens", "end_token", "initial_state", "beam_width",
        "output_layer", "length_penalty_weight", "coverage_penalty_weight",
        "reorder_tensor_arrays",
    ),
}  # fmt: skip
TILE = "contrib.seq2seq.tile_batch"
TILE_PARAMETERS = ("t", "multiplier", "name")


@record(frozen=True)
class Help:
    """What says what a decoder is given next.

    ``given`` are those of its ``parameters`` that a step needs, all of them; ``method`` is that of
    the written decoder, ``parts`` are the parts of its output that it gives, the last one itself.
    ``draws``: a step may be given a word that is drawn by the scores of the last one.
    """

    parameters: tuple[str, ...]
    given: tuple[str, ...]
    method: str
    parts: tuple[str, ...]
    draws: bool = False


SCORES, CHOSEN, FOUND = "rnn_output", "sample_id", "predicted_ids"  # parts of a decoder's output
_TABLE = ("embedding", "start_tokens", "end_token")
_SEQUENCE = ("inputs", "sequence_length")
BEAMS = Help(DECODERS[BEAM_DECODER], _TABLE, "beams", (FOUND,))
HELPERS: dict[str, Help] = {
    "contrib.seq2seq.TrainingHelper": Help(
        (*_SEQUENCE, "time_major", "name"), _SEQUENCE, "", (CHOSEN, SCORES)
    ),
    "contrib.seq2seq.ScheduledEmbeddingTrainingHelper": Help(
        (
            *_SEQUENCE, "embedding", "sampling_probability", "time_major", "seed",
            "scheduling_seed", "name",
        ),
        (*_SEQUENCE, "embedding", "sampling_probability"), "scheduled", (SCORES,), True,
    ),
    "contrib.seq2seq.GreedyEmbeddingHelper": Help(_TABLE, _TABLE, "greedy", (CHOSEN,)),
}  # fmt: skip
DECODED = (SCORES, CHOSEN, FOUND)
TWO_WAYS = "bidirectional_rnn"  # the scope of both networks of a bidirectional one
REFUSED_RUNS = ("nn.bidirectional_dynamic_rnn", "nn.raw_rnn")


@record(frozen=True)
class KerasLayerRow(Row):
    """A recurrent layer of Keras's own, which has gates that 1.15 gave a `hard_sigmoid`."""

    hard_gates: bool = False


# Keras's own recurrent layers: the parameters of all of them, and those that must be nothing.
_WEIGHTS = ("use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer")
_REST = (
    "return_sequences", "return_state", "go_backwards", "unroll", "name", "trainable",
    "input_shape",
)  # fmt: skip
_DROPPED: dict[str, tuple[object, ...]] = {
    "dropout": (0, 0.0), "recurrent_dropout": (0, 0.0), "stateful": (False,),
}  # fmt: skip


def _keras(short: str, *parameters: str) -> KerasLayerRow:
    every = [Parameter(one) for one in (*parameters, *_REST)]
    every += [Parameter(one, target="", only=only) for one, only in _DROPPED.items()]
    every.append(Parameter("implementation", target=""))
    name = f"keras.layers.{short}"
    gates = "recurrent_activation" in parameters
    return KerasLayerRow((name,), short, tuple(every), name, hard_gates=gates)


KERAS_LAYERS = Table(
    _keras("LSTM", "units", "activation", "recurrent_activation", *_WEIGHTS, "unit_forget_bias"),
    _keras("GRU", "units", "activation", "recurrent_activation", *_WEIGHTS, "reset_after"),
    _keras("SimpleRNN", "units", "activation", *_WEIGHTS),
)
# Others of the family, or around it: not compared.
KERAS_OTHERS = (
    "Bidirectional", "ConvLSTM2D", "CuDNNGRU", "CuDNNLSTM", "GRUCell", "LSTMCell", "RNN",
    "StackedRNNCells",
)  # fmt: skip


def cell_of(module: Module, node: ast.AST | None) -> str:
    """The name of TF1's class that a call makes a cell of, or what a cell attends by."""
    name = name_of(module, node) if isinstance(node, ast.Call) else ""
    if name.startswith(_ATTENDING) and name in CELLS.by_name:
        return CELLS.by_name[name].kind
    home = next((home for home in _HOMES if name.startswith(home)), None)
    return name[len(home) :] if home is not None else ""


def is_joined(module: Module, node: ast.AST | None) -> bool:
    """Whether a call makes a stack of cells whose states are one tensor."""
    if not isinstance(node, ast.Call) or cell_of(module, node) != STACK:
        return False
    given = NamedArguments(module, node, CELLS.by_kind[STACK].signature).get("state_is_tuple")
    return given is not None and constant(given) is False


def is_recurrent(module: Module, call: ast.Call) -> bool:
    """Whether a call runs a recurrent network."""
    return name_of(module, call) in RUNS.by_name
