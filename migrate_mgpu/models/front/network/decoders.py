"""Decoders of `tf.contrib.seq2seq`: a cell, and the layer that turns its outputs into scores."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.recurrent import (
    BEAM_DECODER,
    BEAMS,
    DECODE,
    DECODE_PARAMETERS,
    DECODERS,
    HELPERS,
    Help,
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
from migrate_mgpu.models.front.network.decoded_cells import (
    inner_start,
    is_of_decoders,
    untiled,
)
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
    made = _made(module, call, given.get("decoder"), *DECODERS)
    parts = NamedArguments(module, made, DECODERS[name_of(module, made)])
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
    found = bool(imputes is not None and constant(imputes))
    beams = None
    if name_of(module, made) == BEAM_DECODER:
        known, helped, beams = BEAMS, parts, _beams(module, parts)
        if found:
            text = "a search with beams for which zeros stand behind an end"
            raise Refused(module, made, text, "leave impute_finished out")
    else:
        known, helped = _helped(module, made, parts.get("helper"))
    refuse_unless(helped, "time_major", (False,), first, "leave time_major out")
    for name in ("seed", "scheduling_seed"):
        text = "what a decoder is given next is drawn by a seed of its own"
        refuse_unless(helped, name, (None,), text, "leave the seed out")
    inputs = tuple(one for name in known.given if (one := helped.get(name)) is not None)
    if len(inputs) != len(known.given) or any(_is_function(module, one) for one in inputs):
        text = "what a decoder is given next cannot be determined"
        raise Refused(module, made, text, "write all arguments of its helper out")
    limit = given.get("maximum_iterations")
    limit = None if limit is None or is_none(limit) else limit
    memory, remembered = read_memory(module, value_of(module, cell) or cell)
    inner = inner_start(start, cell) if memory is not None else start
    if inner is not None and beams is not None:
        inner = untiled(module, inner, beams)
    state = state_of(module, cell)
    if memory is not None and attends(state):
        state = element_of(state, 0) or TENSOR
    begins = structure(module, inner) if inner is not None else None
    if inner is None or attends(state) or begins is None or not alike(begins, state):
        text = "the state that a decoder begins with cannot be analyzed"
        raise Refused(module, start, text, "give it what a recurrent network of such cells gives")
    _check_alone(module, cell, "cell")
    _check_alone(module, layer, "output_layer")
    target, outputs = _result(module, call, known.parts)
    return Decoding(
        DECODE, module, call, {}, cell, layer, inputs, inner, limit, known, found, target, outputs,
        memory, remembered, beams,
    )  # fmt: skip


def _helped(module: Module, made: ast.Call, helper: ast.expr | None) -> tuple[Help, NamedArguments]:
    """What says what a decoder is given next, with its arguments."""
    kind = name_of(module, helper) if isinstance(helper, ast.Call) else ""
    if kind not in HELPERS or not isinstance(helper, ast.Call):
        text = "what a decoder is given next cannot be determined"
        raise Refused(module, helper or made, text, "use one TrainingHelper for each decoder")
    return HELPERS[kind], NamedArguments(module, helper, HELPERS[kind].parameters)


def _beams(module: Module, parts: NamedArguments) -> ast.expr:
    """How many beams a search has.

    Raises:
        Refused: it is not written out, or the search looks at more than how likely they are.
    """
    plain = "a search with beams that looks at more than how likely they are"
    for name in ("length_penalty_weight", "coverage_penalty_weight"):
        refuse_unless(parts, name, (0, 0.0), plain, f"leave {name} out")
    refuse_unless(parts, "reorder_tensor_arrays", (True,), plain, "leave the argument out")
    width = parts.get("beam_width")
    if width is None:
        text = "how many beams a search has is not written out"
        raise Refused(module, parts.call, text, "give it beam_width")
    return width


def _is_function(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a function, which a table may be given for."""
    if isinstance(node, ast.Name) and node in module.names.scope_of_name:
        return any(
            isinstance(one.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            or isinstance(one.value, ast.Lambda)
            for one in module.names.bindings_of(node)
        )
    return isinstance(node, ast.Lambda)


def _made(module: Module, place: ast.AST, node: ast.expr | None, *kinds: str) -> ast.Call:
    if isinstance(node, ast.Call) and name_of(module, node) in kinds:
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
            raise Refused(module, mention, text, f"read its {known[-1]}")
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
    kind = name_of(module, decoder) if isinstance(decoder, ast.Call) else ""
    if kind not in DECODERS or not isinstance(decoder, ast.Call):
        return None
    given = NamedArguments(module, decoder, DECODERS[kind])
    parts = [given.get("cell"), given.get("output_layer")]
    if not all(isinstance(one, ast.Name) for one in parts):
        return None
    return tuple(module.names.only_binding(one) for one in parts if isinstance(one, ast.Name))
