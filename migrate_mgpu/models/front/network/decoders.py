"""Decoders of `tf.contrib.seq2seq`: a cell, and the layer that turns its outputs into scores."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.recurrent import (
    DECODE,
    DECODE_PARAMETERS,
    DECODED,
    DECODER,
    DECODER_PARAMETERS,
    GREEDY_HELPER,
    HELPERS,
    TRAINING_HELPER,
)
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.models.front.network.cell_states import (
    TENSOR,
    alike,
    attends,
    element_of,
    state_of,
    structure,
    value_of,
)
from migrate_mgpu.models.front.network.decoded_cells import inner_start, is_of_decoders
from migrate_mgpu.models.front.network.recurrent import read_memory
from migrate_mgpu.models.ir import Decoding

DENSE = "layers.Dense"


def is_decoding(module: Module, call: ast.AST | None) -> bool:
    """Whether a call runs a decoder."""
    return isinstance(call, ast.Call) and name_of(module, call) == DECODE


def read_decoding(module: Module, call: ast.Call) -> Decoding | None:
    """What `tf.contrib.seq2seq.dynamic_decode` does; None for any other call.

    Raises:
        Refused: it is not understood.
    """
    if not is_decoding(module, call):
        return None
    given = NamedArguments(module, call, DECODE_PARAMETERS)
    made = _made(module, call, given.get("decoder"), DECODER)
    parts = NamedArguments(module, made, DECODER_PARAMETERS)
    cell, layer, start = (parts.get(one) for one in ("cell", "output_layer", "initial_state"))
    if not isinstance(cell, ast.Name) or not isinstance(layer, ast.Name) or start is None:
        text = "a decoder whose cell or output layer has no name, or that begins with no state"
        raise Refused(module, made, text, "give both a variable, and the decoder its initial_state")
    first = "the first index of a decoder's sequences is the time"
    refuse_unless(given, "output_time_major", (False,), first, "leave output_time_major out")
    imputes = given.get("impute_finished")
    if imputes is not None and not isinstance(constant(imputes), bool):
        text = "what stands behind the end of what is decoded cannot be determined"
        raise Refused(module, imputes, text, "write impute_finished as True or False")
    helper = parts.get("helper")
    kind = name_of(module, helper) if isinstance(helper, ast.Call) else ""
    if kind not in HELPERS:
        text = "what a decoder is given next cannot be determined"
        raise Refused(module, helper or made, text, "use one TrainingHelper for each decoder")
    helped = NamedArguments(module, _made(module, made, helper, kind), HELPERS[kind])
    if kind == TRAINING_HELPER:
        refuse_unless(helped, "time_major", (False,), first, "leave time_major out")
    greedy = kind == GREEDY_HELPER
    wanted = HELPERS[kind][: 3 if greedy else 2]
    inputs = tuple(one for name in wanted if (one := helped.get(name)) is not None)
    if len(inputs) != len(wanted) or any(isinstance(one, ast.Lambda) for one in inputs):
        text = "what a decoder is given next cannot be determined"
        raise Refused(module, made, text, "write all arguments of its helper out")
    limit = given.get("maximum_iterations")
    limit = None if limit is None or is_none(limit) else limit
    memory, remembered = read_memory(module, value_of(module, cell) or cell)
    inner = inner_start(module, start, cell) if memory is not None else start
    state = state_of(module, cell)
    if memory is not None and attends(state):
        state = element_of(state, 0) or TENSOR
    begins = structure(module, inner) if inner is not None else None
    if inner is None or attends(state) or begins is None or not alike(begins, state):
        text = "the state that a decoder begins with cannot be analyzed"
        raise Refused(module, start, text, "give it what a recurrent network of such cells gives")
    _check_alone(module, cell, "cell")
    _check_alone(module, layer, "output_layer")
    target, outputs = _result(module, call, DECODED[1:] if greedy else DECODED)
    found = bool(imputes is not None and constant(imputes))
    return Decoding(
        DECODE, module, call, {}, cell, layer, inputs, inner, limit, greedy, found, target, outputs,
        memory, remembered,
    )  # fmt: skip


def _made(module: Module, place: ast.AST, node: ast.expr | None, kind: str) -> ast.Call:
    if isinstance(node, ast.Call) and name_of(module, node) == kind:
        return node
    text = "how a decoder is made cannot be determined"
    raise Refused(module, node or place, text, "make a BasicDecoder for one dynamic_decode")


def _check_alone(module: Module, node: ast.Name, parameter: str) -> None:
    if not is_of_decoders(module, node, parameter):
        text = f"`{node.id}`, a part of a decoder, is used by itself, or may be another one"
        raise Refused(module, node, text, "make it once, and give it to decoders alone")


def _result(
    module: Module, call: ast.Call, known: tuple[str, ...]
) -> tuple[ast.Tuple | ast.List, ast.Name]:
    """`outputs, _, _ = dynamic_decode(...)`, of which only the outputs' parts are read."""
    names = module.names
    parent = names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or len(parts) != 3:
        text = "what is decoded is not unpacked"
        raise Refused(module, call, text, "write `outputs, state, lengths = ...`")
    assert isinstance(target, (ast.Tuple, ast.List))
    outputs, *others = parts
    if not isinstance(outputs, ast.Name) or not all(isinstance(one, ast.Name) for one in others):
        text = "what is decoded is not assigned to names"
        raise Refused(module, call, text, "write `outputs, state, lengths = ...`")
    for one in others:
        assert isinstance(one, ast.Name)
        if _reads(module, one):
            text = f"`{one.id}`, the state or the lengths of what is decoded, is read"
            raise Refused(module, one, text, "read the outputs alone")
    for mention in _reads(module, outputs):
        part = names.parents[mention]
        if not isinstance(part, ast.Attribute) or part.attr not in known:
            text = "of what is decoded another part is used, or all of it"
            raise Refused(module, mention, text, "read its rnn_output, or its sample_id")
    return target, outputs


def is_decoded(module: Module, name: ast.Name) -> bool:
    """Whether a name stands for the output of one decoder."""
    binding = module.names.only_binding(name)
    statement = module.names.statement(binding.node) if binding is not None else None
    if binding is None or not isinstance(statement, ast.Assign):
        return False
    if not is_decoding(module, statement.value):
        return False
    target = statement.targets[0]
    return isinstance(target, (ast.Tuple, ast.List)) and target.elts[0] is binding.node


def _reads(module: Module, name: ast.Name) -> list[ast.Name]:
    home = module.names.defining_scope(name.id, module.names.scope_of_name[name])
    found = module.names.mentions(name.id, home) if home is not None else []
    return [one for one in found if isinstance(one.ctx, ast.Load)]


def shares_with(module: Module, call: ast.Call) -> ast.Call | None:
    """The first decoding in the source that has the cell and the layer of another one."""
    own = _parts(module, call)
    for other in module.names.calls if own is not None else ():
        if other is call:
            return None
        if is_decoding(module, other) and _parts(module, other) == own:
            return other if module.names.scope_at(other) is module.names.scope_at(call) else None
    return None


def _parts(module: Module, call: ast.Call) -> tuple[object, ...] | None:
    decoder = NamedArguments(module, call, DECODE_PARAMETERS).get("decoder")
    if not isinstance(decoder, ast.Call) or name_of(module, decoder) != DECODER:
        return None
    given = NamedArguments(module, decoder, DECODER_PARAMETERS)
    parts = [given.get("cell"), given.get("output_layer")]
    if not all(isinstance(one, ast.Name) for one in parts):
        return None
    return tuple(module.names.only_binding(one) for one in parts if isinstance(one, ast.Name))
