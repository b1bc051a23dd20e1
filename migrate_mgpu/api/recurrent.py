"""Recurrent cells of TF1 and what runs them: Keras's RNN over cells that compute the same.

TF1's cells have one kernel for the inputs and the state, drawn as one, and add the forget
bias as they run. Keras's layers have two kernels, other first values and gates in another
order. So the file gets a cell of its own, a dozen lines, whose weights are TF1's; Keras's
`RNN` runs it as `tf.nn.dynamic_rnn` did.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api import initializers
from migrate_mgpu.api.tables import assigned, name_of, refuse_unless
from migrate_mgpu.core.records import record
from migrate_mgpu.core.registry import constant
from migrate_mgpu.models.types import Layer
from migrate_mgpu.source.source import Edit

_HOMES = ("nn.rnn_cell.", "contrib.rnn.")
LSTM, GRU, RNN, STACK = "LSTMCell", "GRUCell", "BasicRNNCell", "MultiRNNCell"


@record(frozen=True)
class _Cell:
    """A class of cells: what it is here, its parameters, and those that must be TF1's default."""

    kind: str
    parameters: tuple[str, ...]
    plain: Mapping[str, tuple[object, ...]]


_COMMON = {"reuse": (None, False), "dtype": (None,), "state_is_tuple": (True,)}
CELLS = {
    "BasicLSTMCell": _Cell(
        LSTM,
        ("num_units", "forget_bias", "state_is_tuple", "activation", "reuse", "name", "dtype"),
        _COMMON,
    ),
    "LSTMCell": _Cell(
        LSTM,
        ("num_units", "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip",
         "num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple", "activation",
         "reuse", "name", "dtype"),
        {**_COMMON, "use_peepholes": (False,), "cell_clip": (None,), "num_proj": (None,),
         "proj_clip": (None,), "num_unit_shards": (None, 1), "num_proj_shards": (None, 1)},
    ),
    "GRUCell": _Cell(
        GRU,
        ("num_units", "activation", "reuse", "kernel_initializer", "bias_initializer", "name",
         "dtype"),
        {**_COMMON, "bias_initializer": (None,)},
    ),
    "BasicRNNCell": _Cell(
        RNN, ("num_units", "activation", "reuse", "name", "dtype"), _COMMON
    ),
}  # fmt: skip
_RUN = (
    "cell", "inputs", "sequence_length", "initial_state", "dtype", "parallel_iterations",
    "swap_memory", "time_major", "scope",
)  # fmt: skip
_RUN_STATIC = ("cell", "inputs", "initial_state", "dtype", "sequence_length", "scope")
RUNS = {
    "nn.dynamic_rnn": _RUN,
    "nn.static_rnn": _RUN_STATIC,
    "contrib.rnn.static_rnn": _RUN_STATIC,
}
_STATIC = ("nn.static_rnn", "contrib.rnn.static_rnn")


def cell_of(module: Module, node: ast.AST | None) -> str:
    """The name of TF1's class that a call makes a cell of."""
    name = name_of(module, node) if isinstance(node, ast.Call) else ""
    home = next((home for home in _HOMES if name.startswith(home)), None)
    return name[len(home) :] if home is not None else ""


# -- cells --------------------------------------------------------------------


def cell(module: Module, call: ast.Call, tf: str) -> tuple[Edit, ...] | None:
    """The edits of a call that makes a cell; None where it makes none.

    Raises:
        Refused: with what such a cell does and the one that is written does not.
    """
    name = cell_of(module, call)
    if name == STACK or name in CELLS:
        _check_uses(module, call)
    if name == STACK:
        edit = BoundCall(module, call, ("cells", "state_is_tuple"))
        refuse_unless(edit, "state_is_tuple", (True,), "the state of all cells is one tensor")
        edit.function(f"{tf}.keras.layers.StackedRNNCells")
        return edit.edits()
    kind = CELLS.get(name)
    if kind is None:
        return None
    edit = BoundCall(module, call, kind.parameters)
    for argument, allowed in kind.plain.items():
        text = f"`{argument}` of `{edit.shown}` is not followed"
        refuse_unless(edit, argument, allowed, text, "write the cell as a Keras layer")
    edit.drop("name")
    for argument in ("activation", "initializer", "kernel_initializer"):
        if is_none(edit.get(argument)):
            edit.drop(argument)
    activation = edit.get("activation")
    if activation is not None and isinstance(constant(activation), str):
        text = "an activation that is given by its name"
        raise Refused(module, activation, text, "write the function, tf.nn.relu")
    for argument in ("initializer", "kernel_initializer"):
        _check_initializer(module, edit.get(argument), tf)
    edit.rename("initializer", "kernel_initializer")
    edit.rename("num_units", "units")
    edit.order(("units",))
    edit.function(class_name(module, kind.kind))
    return edit.edits()


def _check_uses(module: Module, node: ast.expr) -> None:
    """A cell is run by a network, or stands in a stack: nobody calls or asks it.

    Raises:
        Refused: with what else is done with it.
    """
    parent = module.names.parents[node]
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    for used in [node, *(_reads(module, target) if isinstance(target, ast.Name) else [])]:
        parent = module.names.parents[used]
        called = isinstance(parent, ast.Call) and parent.func is used
        asked = isinstance(parent, ast.Attribute) and not _only_starts(module, parent)
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
    uses = _reads(module, target) if isinstance(target, ast.Name) else [call]
    return all(_runs(module, use) for use in uses)


def _runs(module: Module, node: ast.expr) -> bool:
    """Whether a value is an argument of a recurrent network."""
    parent = module.names.parents[node]
    call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and call.func is not node and is_recurrent(module, call)


def _reads(module: Module, name: ast.Name) -> list[ast.Name]:
    """Where a variable is read."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    found = names.mentions(name.id, home) if home is not None else []
    return [mention for mention in found if isinstance(mention.ctx, ast.Load)]


def _check_initializer(module: Module, given: ast.expr | None, tf: str) -> None:
    if given is None:
        return
    made = assigned(module, given)
    name = name_of(module, made)
    call = initializers.call(module, made, tf, name) if isinstance(made, ast.Call) else None
    if call is None and initializers.mention(module, made or given, tf, name) is None:
        text = "what the weights of this cell begin with cannot be told"
        raise Refused(module, given, text, "give it an initializer of TensorFlow's")


def class_name(module: Module, kind: str) -> str:
    """What a class of cells is called in a file: the same for all that it has."""
    names = module.names
    return names.fresh(names.module_scope, kind, f"Keras{kind}")


# -- what runs them -----------------------------------------------------------


def layer(module: Module, call: ast.Call, tf: str) -> Layer | None:
    """`tf.nn.dynamic_rnn` as Keras's `RNN`; None for any other call.

    Raises:
        Refused: Keras's does not do the same.
    """
    name = name_of(module, call)
    parameters = RUNS.get(name)
    if parameters is None:
        if name in ("nn.bidirectional_dynamic_rnn", "nn.raw_rnn"):
            shown = module.source.code(call.func)
            raise Refused(module, call, f"`{shown}` has no TF2 form", "use tf.keras.layers.RNN")
        return None
    edit = BoundCall(module, call, parameters)
    inputs, made = edit.get("inputs"), edit.get("cell")
    if inputs is None or made is None:
        raise Refused(module, call, f"`{edit.shown}` is not given its cell and its inputs")
    dtype = edit.given("dtype")
    if dtype is not None and name_of(module, dtype) != "float32":
        text = "a recurrent network that is not of float32"
        raise Refused(module, dtype, text, "Keras keeps a model's weights in float32")
    text = "the first index of the inputs is the time"
    refuse_unless(edit, "time_major", (False,), text, "transpose them, and leave time_major out")
    start = edit.given("initial_state")
    if start is not None and zero_state(module, start) is None:
        text = "the state that a recurrent network begins with is not followed"
        raise Refused(module, start, text, "leave it out where it is zero")
    scope = edit.given("scope")
    if scope is not None and not isinstance(constant(scope), str):
        text = "the scope of a recurrent network is more than a name"
        raise Refused(module, scope, text, "give it a name")
    lengths = edit.given("sequence_length")
    if lengths is not None and not isinstance(inputs, ast.Name):
        text = "the inputs of a recurrent network with lengths have no name"
        raise Refused(module, inputs, text, "give them a variable")
    result = Result(module, call)
    edit.function(f"{tf}.keras.layers.RNN")
    edit.drop(*(parameter for parameter in parameters if parameter != "cell"))
    edit.order(("cell",))
    if result.sequences:
        edit.add("return_sequences", "True")
    if result.states:
        edit.add("return_state", "True")
    if result.sequences and lengths is not None:
        edit.add("zero_output_for_mask", "True")
    static = name in _STATIC
    if static and lengths is not None:
        text = "`sequence_length` of a network over a list"
        raise Refused(module, lengths, text, "use tf.nn.dynamic_rnn")
    return Layer(call, edit.edits(), (inputs,), stem="rnn", recurrent=True, lengths=lengths,
                 listed=static)  # fmt: skip


def start_of(module: Module, call: ast.Call) -> ast.expr | None:
    """The state that a recurrent network begins with, where it is told one."""
    return BoundCall(module, call, RUNS[name_of(module, call)]).given("initial_state")


def is_recurrent(module: Module, call: ast.Call) -> bool:
    """Whether a call runs a recurrent network."""
    return name_of(module, call) in RUNS


def zero_state(module: Module, node: ast.expr) -> ast.Call | None:
    """The call of `cell.zero_state(...)` that a state is."""
    made = assigned(module, node)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        return made if made.func.attr == "zero_state" else None
    return None


class Result:
    """`outputs, state = tf.nn.dynamic_rnn(...)`: which of the two the program reads.

    Raises:
        Refused: the result is not taken apart where it is made.
    """

    def __init__(self, module: Module, call: ast.Call) -> None:
        self.module = module
        self.call = call
        parent = module.names.parents.get(call)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if len(names) != 2 or not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            text = "what a recurrent network gives is not taken apart"
            raise Refused(module, call, text, "write `outputs, state = ...`")
        outputs, state = names
        if not isinstance(outputs, ast.Name) or not isinstance(state, ast.Name):
            text = "what a recurrent network gives has no names"
            raise Refused(module, call, text, "write `outputs, state = ...`")
        assert isinstance(target, (ast.Tuple, ast.List))
        self.target, self.outputs, self.state = target, outputs, state
        self.states = bool(self.reads(state))
        self.sequences = bool(self.reads(outputs)) or not self.states

    def reads(self, name: ast.Name) -> list[ast.Name]:
        """Where a variable is read."""
        return _reads(self.module, name)
