"""Recurrent networks: what runs a cell, what it gives, and the cells themselves."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.constant_parameters import left_out
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.recurrent import (
    ATTENTION,
    CELLS,
    INNER_START,
    LENGTHS,
    MECHANISMS,
    MEMORY,
    MONOTONIC,
    PEEPHOLES,
    REFUSED_RUNS,
    RUNS,
    CellRow,
    is_recurrent,
)
from migrate_mgpu.api.tables import name_of, refuse_unless
from migrate_mgpu.models.front.network.cell_states import (
    TENSOR,
    alike,
    state_of,
    structure,
)
from migrate_mgpu.models.front.network.decoded_cells import begins_decoder, is_decoded_by
from migrate_mgpu.models.front.network.initializers import read_initializer
from migrate_mgpu.models.ir import Cell, Recurrent, RecurrentResult

# -- what runs a cell ---------------------------------------------------------


def read_recurrent(module: Module, call: ast.Call) -> Recurrent | None:
    """The recurrent layer that `tf.nn.dynamic_rnn` is; None for any other call.

    Raises:
        Refused: Keras's does not do the same.
    """
    name = name_of(module, call)
    row = RUNS.by_name.get(name)
    if row is None:
        if name in REFUSED_RUNS:
            shown = module.source.code(call.func)
            raise Refused(module, call, f"`{shown}` has no TF2 form", "use tf.keras.layers.RNN")
        return None
    given = NamedArguments(module, call, row.signature)
    inputs, cell = given.get("inputs"), given.get("cell")
    if inputs is None or cell is None:
        raise Refused(module, call, f"`{given.shown}` is not given its cell and its inputs")
    dtype = given.given("dtype")
    numpy = (module.names.qualname(dtype) or "") == "numpy.float32" if dtype is not None else False
    if dtype is not None and name_of(module, dtype) != "float32" and not numpy:
        text = "a recurrent network whose type is not float32"
        raise Refused(module, dtype, text, "Keras keeps a model's weights in float32")
    text = "the first index of the inputs is the time"
    refuse_unless(given, "time_major", (False,), text, "transpose them, and leave time_major out")
    start = given.given("initial_state")
    if start is not None and zero_state(module, start) is None:
        _check_start(module, cell, start)
    scope = given.given("scope")
    if scope is not None and not is_text(scope):
        text = "the scope of a recurrent network is more than a name"
        raise Refused(module, scope, text, "give it a name")
    lengths = given.given("sequence_length")
    if lengths is not None and not isinstance(inputs, ast.Name):
        text = "the inputs of a recurrent network with lengths have no name"
        raise Refused(module, inputs, text, "give them a variable")
    result = read_result(module, call)
    memory, remembered = read_memory(module, cell)
    if memory is not None and (row.listed or start is not None):
        text = "a cell with attention that runs over a list, or begins with a state"
        raise Refused(module, call, text, "run it by tf.nn.dynamic_rnn, from its zero state")
    attending = _attending(module, cell)
    start = attending.given(INNER_START) if attending is not None else start
    if attending is not None and start is not None:
        inner = attending.get("cell")
        assert inner is not None
        _check_start(module, inner, start)
    found = {"cell": cell}
    return Recurrent(
        row.kind, module, call, found, cell, (inputs,), result, lengths, row.listed, start, memory,
        remembered,
    )  # fmt: skip


def read_memory(module: Module, cell: ast.expr) -> tuple[ast.Name | None, ast.Name | None]:
    """What the cell of a network attends to, where it is made there, and how much of it counts.

    Raises:
        Refused: it is no variable.
    """
    made = _attending(module, cell)
    mechanism = made.get("attention_mechanism") if made is not None else None
    row = CELLS.by_name.get(name_of(module, mechanism))
    if made is None or mechanism is None:
        return None, None
    if row is None or row.cell not in MECHANISMS or not isinstance(mechanism, ast.Call):
        text = "what a recurrent cell attends by cannot be determined"
        raise Refused(module, mechanism, text, "use one BahdanauAttention, or LuongAttention")
    given = NamedArguments(module, mechanism, row.signature)
    memory, lengths = given.get(MEMORY), given.given(LENGTHS)
    if not isinstance(memory, ast.Name) or not isinstance(lengths, (ast.Name, type(None))):
        text = "what a recurrent cell attends to has no name"
        raise Refused(module, memory or mechanism, text, "give it a variable")
    return memory, lengths


def _attending(module: Module, cell: ast.expr) -> NamedArguments | None:
    """What a cell with attention is given, where a call makes it."""
    row = CELLS.by_name.get(name_of(module, cell))
    if row is None or row.cell != ATTENTION or not isinstance(cell, ast.Call):
        return None
    return NamedArguments(module, cell, row.signature)


def is_text(scope: ast.expr) -> bool:
    """Whether a scope is a name, written out or computed: `'layer_%d' % n`."""
    if isinstance(scope, ast.BinOp):
        plus = isinstance(scope.op, ast.Add) and is_text(scope.right)
        return is_text(scope.left) or plus
    if isinstance(scope, ast.Call) and isinstance(scope.func, ast.Attribute):
        return scope.func.attr == "format" and is_text(scope.func.value)
    return isinstance(scope, ast.JoinedStr) or isinstance(constant(scope), str)


def _check_start(module: Module, cell: ast.expr, start: ast.expr) -> None:
    """A network begins with all of its cell's state.

    Raises:
        Refused: what it begins with is something else, or it cannot be told.
    """
    wanted, given = state_of(module, cell), structure(module, start)
    if given is None and wanted == TENSOR:
        return
    if given is None or not alike(given, wanted):
        text = "the state that a recurrent network begins with cannot be analyzed"
        raise Refused(module, start, text, "leave it out where it is zero")


def zero_state(module: Module, node: ast.expr) -> ast.Call | None:
    """The call of `cell.zero_state(...)` that a state is."""
    made = module.names.assigned(node)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        return made if made.func.attr == "zero_state" else None
    return None


def read_result(module: Module, call: ast.Call) -> RecurrentResult:
    """`outputs, state = tf.nn.dynamic_rnn(...)`: which of the two the program reads.

    Raises:
        Refused: the result is not taken apart where it is made.
    """
    parent = module.names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if len(names) != 2 or not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        text = "what a recurrent network returns is not unpacked"
        raise Refused(module, call, text, "write `outputs, state = ...`")
    outputs, state = names
    parts = state.elts if isinstance(state, ast.Tuple) else [state]
    if (
        not isinstance(outputs, ast.Name)
        or not isinstance(state, (ast.Name, ast.Tuple))
        or not all(isinstance(part, ast.Name) for part in parts)
    ):
        text = "what a recurrent network returns is not assigned to names"
        raise Refused(module, call, text, "write `outputs, state = ...`")
    assert isinstance(target, (ast.Tuple, ast.List))
    states = any(reads(module, part) for part in parts if isinstance(part, ast.Name))
    sequences = bool(reads(module, outputs)) or not states
    return RecurrentResult(target, outputs, state, sequences, states)


def reads(module: Module, name: ast.Name) -> list[ast.Name]:
    """Where a variable is read."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    found = names.mentions(name.id, home) if home is not None else []
    return [mention for mention in found if isinstance(mention.ctx, ast.Load)]


# -- cells --------------------------------------------------------------------


def read_cell(module: Module, call: ast.Call) -> Cell | None:
    """The cell that a call makes; None where it makes none.

    Raises:
        Refused: with what such a cell does and the one that is written does not.
    """
    row = CELLS.by_name.get(name_of(module, call))
    if row is None:
        return None
    _check_uses(module, call)
    given = NamedArguments(module, call, row.signature)
    if row.cell == ATTENTION or row.cell in MECHANISMS:
        _check_attention(module, call, row, given)
    if (reuse := given.get("reuse")) is not None and constant(left_out(module, reuse)) is False:
        given.drop("reuse")
    for parameter in row.parameters:
        name = parameter.name
        if name == LENGTHS and isinstance(given.get(name), ast.Name):
            given.drop(name)  # its mechanism is told it with its memory
        elif parameter.only:
            text = f"`{name}` of `{given.shown}` cannot be analyzed"
            refuse_unless(given, name, parameter.only, text, "write the cell as a Keras layer")
    given.drop("name", MEMORY)
    for argument in ("activation", "initializer", "kernel_initializer"):
        if is_none(given.get(argument)):
            given.drop(argument)
    if (sees := given.get(PEEPHOLES)) is not None and constant(sees) is False:
        given.drop(PEEPHOLES)
    activation = given.get("activation")
    if activation is not None and isinstance(constant(activation), str):
        text = "an activation that is given by its name"
        raise Refused(module, activation, text, "write the function, tf.nn.relu")
    for argument in ("initializer", "kernel_initializer"):
        _check_initializer(module, given.get(argument))
    return Cell(row.kind, module, call, given.rest)


def _check_attention(module: Module, call: ast.Call, row: CellRow, given: NamedArguments) -> None:
    """A cell with attention is made where one network runs it, with all that it needs.

    Raises:
        Refused: it is more, or given less.
    """
    taker = module.names.taker(call)
    if row.cell in MECHANISMS:
        outer = CELLS.by_name.get(name_of(module, taker))
        needed: tuple[str, ...] = ("num_units", MEMORY)
        alone = outer is not None and outer.cell == ATTENTION
        if row.cell in MONOTONIC and alone:
            assert taker is not None
            _check_monotonic(module, call, taker)
    else:
        needed = ("cell", "attention_mechanism", "attention_layer_size")
        alone = taker is not None and is_recurrent(module, taker)
        if alone:
            given.drop(INNER_START)  # its network is told it
        alone = alone or is_decoded_by(module, call)
    if not alone:
        text = "a recurrent cell with attention is not made where one network runs it"
        raise Refused(module, call, text, "give it to one tf.nn.dynamic_rnn")
    for name in needed:
        if given.given(name) is None:
            text = f"`{given.shown}` is not given `{name}`"
            raise Refused(module, call, text, "write it out")
    size = given.get("attention_layer_size")
    if isinstance(size, (ast.List, ast.Tuple)):
        text = "a recurrent cell with several attentions"
        raise Refused(module, size, text, "write the cell as a Keras layer")


def _check_monotonic(module: Module, call: ast.Call, cell: ast.Call) -> None:
    """Attention that never goes back starts at the first place: only decoders are told to.

    Raises:
        Refused: a network runs its cell, or the file has other attention as well.
    """
    kinds = {
        one.cell
        for one in (CELLS.by_name.get(name_of(module, c)) for c in module.names.calls)
        if one
    }
    if not is_decoded_by(module, cell) or kinds & {*MECHANISMS} - {*MONOTONIC}:
        text = "attention that never goes back is not the only one, or has no decoder"
        raise Refused(module, call, text, "write the cell as a Keras layer")


def _check_uses(module: Module, node: ast.expr) -> None:
    """A cell is run by a network, or stands in a stack: nobody calls or asks it.

    Raises:
        Refused: with what else is done with it.
    """
    parent = module.names.parents[node]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    for used in [node, *(reads(module, target) if isinstance(target, ast.Name) else [])]:
        parent = module.names.parents[used]
        called = isinstance(parent, ast.Call) and parent.func is used
        asked = isinstance(parent, ast.Attribute) and not (
            _only_starts(module, parent) or begins_decoder(module, used)
        )
        if called or asked:
            text = "a recurrent cell is used by itself"
            raise Refused(module, used, text, "run it by tf.nn.dynamic_rnn")


def _only_starts(module: Module, node: ast.Attribute) -> bool:
    """`cell.zero_state(...)` that a network begins with anyway."""
    parents = module.names.parents
    call = parents[node]
    if node.attr != "zero_state" or not isinstance(call, ast.Call) or call.func is not node:
        return False
    parent = parents[call]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    uses = reads(module, target) if isinstance(target, ast.Name) else [call]
    return all(_runs(module, use) for use in uses)


def _runs(module: Module, node: ast.expr) -> bool:
    """Whether a value is an argument of a recurrent network."""
    call = module.names.taker(node)
    return call is not None and is_recurrent(module, call)


def _check_initializer(module: Module, given: ast.expr | None) -> None:
    if given is None:
        return
    if read_initializer(module, module.names.assigned(given) or given) is None:
        text = "what the weights of this cell begin with cannot be determined"
        raise Refused(module, given, text, "give it an initializer of TensorFlow's")
