"""Stacks of recurrent cells that drop by a rate which is fed, as networks one on another.

    cell1 = DropoutWrapper(LSTMCell(8), output_keep_prob=keep_prob)
    outputs, states = tf.nn.dynamic_rnn(MultiRNNCell([cell1, LSTMCell(8)]), x, dtype=tf.float32)

becomes

    outputs_1, state_1 = tf.nn.dynamic_rnn(
        cell1, x, dtype=tf.float32, scope="rnn/multi_rnn_cell/cell_0")
    outputs, state_2 = tf.nn.dynamic_rnn(
        LSTMCell(8), outputs_1, dtype=tf.float32, scope="rnn/multi_rnn_cell/cell_1")
    states = (state_1, state_2)

A cell is made once, and a rate that is fed is another in each step: only beside the cells can it
drop something (`recurrent_dropout.py`). Behind the end of a sequence the lower network gives zeros,
where the stack's upper cells had something: what they give there is zero as well, and their states
are of before.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import CELLS, DROPOUT, RUNS, STACK, cell_of
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.network.cell_states import value_of
from migrate_mgpu.models.front.network.recurrent import reads
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.models.normalize.recurrent.cell_loops import with_held
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_function

_RUN = "nn.dynamic_rnn"
_PROBABILITIES = ("input_keep_prob", "output_keep_prob")
_MANY = 8  # cells, each of which becomes a network


@record(eq=False)
class _Stack:
    """The cells of a stack as code, and the statements and functions that only make it."""

    cells: list[str]
    drops: bool
    gone: list[ast.stmt] = field(default_factory=list)
    makers: list[ast.FunctionDef] = field(default_factory=list)


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one such network; none where there is none."""
    known = calls_of_names(module)
    stacks = [
        call for row in (CELLS.by_kind[STACK],) for n in row.names for call in known.get(n, ())
    ]
    if len(stacks) != 1:
        return []  # TF1 numbers the names of several
    for call in known.get(_RUN, ()):
        try:
            edits = _edits(module, call)
        except Refused:  # its arguments are not known
            continue
        if edits:
            return edits
    return []


def _edits(module: Module, call: ast.Call) -> list[Edit]:
    names, source = module.names, module.source
    statement = names.statement(call)
    layout = Layout(source, statement)
    given = by_parameter(call, RUNS.by_name[_RUN].signature)
    cell, inputs = given.pop("cell", None), given.pop("inputs", None)
    plain = isinstance(statement, ast.Assign) and statement.value is call
    targets = statement.targets if plain and isinstance(statement, ast.Assign) else []
    parts = targets[0].elts if len(targets) == 1 and isinstance(targets[0], ast.Tuple) else []
    if cell is None or inputs is None or len(parts) != 2:
        return []
    outputs, states = parts
    if not isinstance(outputs, ast.Name) or not isinstance(states, ast.Name):
        return []
    scope = given.pop("scope", None)
    outer = "rnn" if scope is None or is_none(scope) else constant(scope)
    stack = _stack(module, cell, statement)
    if stack is None or not stack.drops or not isinstance(outer, str) or not layout.owns_lines:
        return []
    begun = given.pop("initial_state", None)
    if begun is not None and not is_none(begun):
        dtype = _zeros(module, begun, cell, stack, statement)
        if dtype is None:
            return []
        given.setdefault("dtype", dtype)
    elif not _is_read_here(module, cell, [cell]):
        return []
    home = names.scope_at(statement)
    told = [f"{name}={source.code(value)}" for name, value in given.items()]
    if any("\n" in one for one in (*told, source.code(inputs))) or "#" in source.code(statement):
        return []
    is_read = bool(reads(module, states))
    func, quote = source.code(call.func), source.quote
    below, lines, kept = source.code(inputs), [], []
    for place, code in enumerate(stack.cells):
        last = place == len(stack.cells) - 1
        above = outputs.id if last else names.fresh(home, f"{outputs.id}_{place + 1}")
        state = names.fresh(home, f"{states.id}_{place + 1}") if is_read else "_"
        named = f"scope={quote}{outer}/multi_rnn_cell/cell_{place}{quote}"
        arguments = ", ".join([code, below, *told, named])
        lines.append(f"{above}, {state} = {func}({arguments})")
        kept.append(state)
        below = above
    if is_read:
        lines.append(f"{states.id} = ({', '.join(kept)})")
    gone = (Layout(source, one).replace([]) for one in stack.gone)
    makers = (without_function(source, one) for one in stack.makers)
    return [layout.replace(lines), *gone, *makers]


def _stack(module: Module, cell: ast.expr, statement: ast.stmt) -> _Stack | None:
    """The stack that a network is given; None where its cells are not seen, or of more than it."""
    made = value_of(module, cell)
    if cell_of(module, made) != STACK or not isinstance(made, ast.Call):
        return None
    given = by_parameter(made, CELLS.by_kind[STACK].signature)
    cells = given.pop("cells", None)
    if cells is None or any(constant(one) is not True for one in given.values()):
        return None
    found = _Stack([], False)
    if made is not cell and not _takes(module, made, statement, found):
        return None
    listed = value_of(module, cells)
    if listed is not cells and listed is not None:
        if not _is_read_here(module, cells, [cells]) or not _takes(
            module, listed, statement, found
        ):
            return None
    if isinstance(listed, (ast.List, ast.Tuple)):
        elements = listed.elts
        if len({ast.dump(one) for one in elements if isinstance(one, ast.Name)}) != sum(
            isinstance(one, ast.Name) for one in elements
        ):
            return None  # one cell twice has its weights twice
        codes = [_code(module, one) for one in elements]
        wraps = [value_of(module, one) for one in elements]
    else:
        codes, wraps = _counted(module, listed, statement, found)
    if not codes or len(codes) > _MANY or not all(codes):
        return None
    found.cells = codes
    found.drops = any(_drops(module, one) for one in wraps)
    return found


def _takes(module: Module, made: ast.expr, statement: ast.stmt, found: _Stack) -> bool:
    """Whether a statement only makes a part of the stack, beside the network, and may go."""
    own = module.names.statement(made)
    targets = own.targets if isinstance(own, ast.Assign) and own.value is made else []
    plain = len(targets) == 1 and isinstance(targets[0], ast.Name)
    if (
        not plain
        or own not in module.names.block(statement)
        or not Layout(module.source, own).owns_lines
    ):
        return False
    found.gone.append(own)
    return True


def _counted(
    module: Module, listed: ast.expr | None, statement: ast.stmt, found: _Stack
) -> tuple[list[str], list[ast.expr | None]]:
    """The cells of `[make() for _ in range(2)]`, and what their function makes; none for others."""
    loop = listed.generators[0] if isinstance(listed, ast.ListComp) else None
    if loop is None or not isinstance(listed, ast.ListComp) or len(listed.generators) > 1:
        return [], []
    times = loop.iter
    plain = isinstance(times, ast.Call) and module.names.qualname(times.func) == "builtins.range"
    if not plain or not isinstance(times, ast.Call) or len(times.args) != 1 or loop.ifs:
        return [], []
    number = constant(_only(module, times.args[0]))
    target = loop.target
    used = [n for n in walk(listed.elt) if isinstance(n, ast.Name) and isinstance(target, ast.Name)]
    if not isinstance(number, int) or any(n.id == getattr(target, "id", "") for n in used):
        return [], []
    code, made = _code(module, listed.elt), listed.elt
    if name_of(module, made) not in CELLS.by_name:
        code, made = _made_by(module, listed.elt, statement, found)
    return [code] * number, [made] * number


def _made_by(
    module: Module, call: ast.expr, statement: ast.stmt, found: _Stack
) -> tuple[str, ast.expr]:
    """What a function of cells that takes nothing gives, in one expression; empty for others."""
    names = module.names
    func = call.func if isinstance(call, ast.Call) else None
    binding = names.only_binding(func) if isinstance(func, ast.Name) else None
    node = binding.node if binding is not None else None
    arguments = node.args if isinstance(node, ast.FunctionDef) else None
    nothing = ("", call)
    if not isinstance(node, ast.FunctionDef) or not isinstance(call, ast.Call) or arguments is None:
        return nothing
    if call.args or call.keywords or node.decorator_list or ast.unparse(arguments):
        return nothing
    held, text = "", ""
    wrapper: ast.expr = call
    body = node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    for step in body[1:] if documented else body:
        value = step.value if isinstance(step, (ast.Assign, ast.Return)) else None
        target = step.targets[0] if isinstance(step, ast.Assign) else None
        if value is None or (target is not None and not isinstance(target, ast.Name)):
            return nothing
        text = with_held(module, value, held, text)
        if name_of(module, value) in CELLS.by_name:
            wrapper = value
        held = target.id if isinstance(target, ast.Name) else held
        if not text:
            return nothing
    if not isinstance(body[-1], ast.Return):
        return nothing
    own, here = names.scopes[node], names.scope_at(statement)
    for name in (n for n in walk(node) if isinstance(n, ast.Name) and n.id not in own.bindings):
        there = names.defining_scope(name.id, names.scope_of_name[name])
        if there is not names.defining_scope(name.id, here):
            return nothing  # it is something else where the network is
    if isinstance(func, ast.Name) and _is_read_here(module, func, [func]):
        found.makers.append(node)
    return text, wrapper


def _only(module: Module, node: ast.expr) -> ast.expr:
    """The one value of a name, or what is no name."""
    found = module.names.only_value(node) if isinstance(node, ast.Name) else None
    return node if found is None else found


def _code(module: Module, node: ast.expr) -> str:
    return " ".join(line.strip() for line in module.source.code(node).splitlines())


def _drops(module: Module, made: ast.expr | None) -> bool:
    """Whether a cell drops by a rate that is a part of the graph."""
    row = CELLS.by_name.get(name_of(module, made))
    if row is None or row.cell != DROPOUT or not isinstance(made, ast.Call):
        return False
    given = by_parameter(made, row.signature)
    rates = (_only(module, given[one]) for one in _PROBABILITIES if one in given)
    return any(name_of(module, one) in PLACEHOLDERS for one in rates)


def _zeros(
    module: Module, begun: ast.expr, cell: ast.expr, stack: _Stack, statement: ast.stmt
) -> ast.expr | None:
    """The type of `stack.zero_state(batch_size, tf.float32)`, with which networks begin anyway.

    None where it is another state, or is used otherwise as well.
    """
    made = value_of(module, begun)
    func = made.func if isinstance(made, ast.Call) else None
    if not isinstance(made, ast.Call) or not isinstance(func, ast.Attribute):
        return None
    if func.attr != "zero_state" or not isinstance(func.value, ast.Name):
        return None
    if not isinstance(cell, ast.Name) or func.value.id != cell.id:
        return None
    if not _is_read_here(module, cell, [cell, func.value]):
        return None
    if made is not begun:
        if not _is_read_here(module, begun, [begun]) or not _takes(module, made, statement, stack):
            return None
    return by_parameter(made, ("batch_size", "dtype")).get("dtype")


def _is_read_here(module: Module, node: ast.expr, known: Sequence[ast.expr]) -> bool:
    """Whether nothing else reads what a name holds."""
    if not isinstance(node, ast.Name):
        return True
    names = module.names
    home = names.defining_scope(node.id, names.scope_of_name[node])
    mentions = names.mentions(node.id, home) if home is not None else []
    return all(one in known or not isinstance(one.ctx, ast.Load) for one in mentions)
