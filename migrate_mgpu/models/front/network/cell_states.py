"""The structure of a recurrent cell's state, which says how a program takes it apart."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import (
    ATTENDED_PARTS,
    ATTENDED_SIZE,
    ATTENTION,
    CELLS,
    LSTM,
    MECHANISMS,
    PAIR_CLASS,
    PAIRS,
    RUNS,
    STACK,
    WRAPPERS,
    cell_of,
    is_joined,
    is_recurrent,
)
from migrate_mgpu.api.tables import name_of

_WRAPS = tuple(row.kind for row in CELLS.by_kind.values() if row.cell in WRAPPERS)
# The structure of a state: a tensor, the pair (c, h) of an LSTM, or a stack of such. That of a cell
# with attention has parts that nothing here has, which are None.
State = tuple[object, ...]
TENSOR: State = ()
PAIR: State = (TENSOR, TENSOR)


def state_of(module: Module, node: ast.expr, depth: int = 0) -> State:
    """The structure of a cell's state.

    Raises:
        Refused: which cell it is cannot be determined, or two of a stack may be one.
    """
    states = possible_states(module, node, depth)
    if len(states) == 1:
        return states.pop()
    text = "which recurrent cell this is cannot be determined"
    raise Refused(module, node, text, "make it by one call, in a separate variable")


def possible_states(module: Module, node: ast.expr, depth: int = 0) -> set[State]:
    """The structures that a cell's state may have, where branches make cells of several kinds.

    Raises:
        Refused: as `state_of`.
    """
    made = value_of(module, node)
    if isinstance(made, ast.Name) and made in module.names.scope_of_name and depth < 5:
        values = [binding.value for binding in module.names.bindings_of(made)]
        if len(values) > 1 and all(isinstance(value, ast.Call) for value in values):
            return {state_of(module, value, depth + 1) for value in values if value is not None}
    return {_state(module, node, made, depth)}


def structure(module: Module, node: ast.expr, depth: int = 0) -> State | None:
    """The structure of a state that an expression gives; None where it cannot be told."""
    if depth > 9:
        return None
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        whole = structure(module, node.value, depth + 1)
        return element_of(whole, constant(node.slice)) if whole else None
    if isinstance(node, ast.Attribute):
        whole = structure(module, node.value, depth + 1)
        if whole is not None and attends(whole) and node.attr in ATTENDED_PARTS:
            return element_of(whole, ATTENDED_PARTS.index(node.attr))
        return TENSOR if whole == PAIR and node.attr in ("c", "h") else None
    if isinstance(node, (ast.Tuple, ast.List)):
        return _together([structure(module, one, depth + 1) for one in node.elts])
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _many(structure(module, node.elt, depth + 1))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one in (node.left, node.right):
            if isinstance(one, (ast.List, ast.Tuple)) and len(one.elts) == 1:
                return _many(structure(module, one.elts[0], depth + 1))
        return None
    if isinstance(node, ast.Call):
        if cell_of(module, node) == PAIR_CLASS:
            return PAIR
        if is_sequence(module, node) and len(node.args) == 1 and not node.keywords:
            return structure(module, node.args[0], depth + 1)
        return TENSOR if name_of(module, node) else None
    if not isinstance(node, ast.Name) or node not in module.names.scope_of_name:
        return None
    return _of_name(module, node, depth)


def is_sequence(module: Module, call: ast.Call) -> bool:
    """`tuple(...)`, `list(...)`"""
    return module.names.qualname(call.func) in ("builtins.tuple", "builtins.list")


def attends(state: State) -> bool:
    """Whether a state is that of a cell with attention."""
    return None in state


def element_of(state: State, index: object) -> State | None:
    """One part of a state; None where which one it is cannot be told, and they differ."""
    if attends(state):
        element = state[index] if isinstance(index, int) and index in (0, 1) else None
        assert element is None or isinstance(element, tuple)
        return element
    if state[-1:] == (...,):
        element = state[0]
    elif isinstance(index, int) and -len(state) <= index < len(state):
        element = state[index]
    elif len(set(state)) == 1 and state != PAIR:
        element = state[0]
    else:
        return None
    assert isinstance(element, tuple)
    return element


def alike(one: State, other: State) -> bool:
    """Whether two structures may be the same: of a list in a loop the length is not known."""
    if one == TENSOR or other == TENSOR:
        return one == other
    if one[-1:] == (...,) or other[-1:] == (...,):
        parts = [part for part in (*one, *other) if part is not ...]
        return all(isinstance(p, tuple) and p == parts[0] for p in parts)
    return one == other


def _of_name(module: Module, name: ast.Name, depth: int) -> State | None:
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    found: set[State | None] = set()
    for binding in reaching(module.names, name, home) if home is not None else []:
        statement = names.statement(binding.node) if binding.kind != "parameter" else None
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and is_recurrent(module, value):
            assert isinstance(statement, ast.Assign)
            found.add(_given(module, statement, value, name.id))
        elif binding.value is not None:
            found.add(structure(module, binding.value, depth + 1))
        else:
            found.add(None)
    return found.pop() if len(found) == 1 else None


def _given(module: Module, statement: ast.Assign, call: ast.Call, name: str) -> State | None:
    """What `outputs, state = tf.nn.dynamic_rnn(...)` gives a name."""
    target = statement.targets[0]
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if len(parts) != 2:
        return None
    if not (isinstance(parts[1], ast.Name) and parts[1].id == name):
        return TENSOR  # the outputs, or a part of the pair
    cell = NamedArguments(module, call, RUNS.by_name[name_of(module, call)].signature).get("cell")
    return state_of(module, cell) if cell is not None else None


def _together(parts: list[State | None]) -> State | None:
    if not parts or None in parts:
        return None
    return tuple(parts)


def _many(part: State | None) -> State | None:
    return None if part is None else (part, ...)


def value_of(module: Module, node: ast.expr | None) -> ast.expr | None:
    """What a name holds: its one value, or of several in one block the last one above."""
    made = module.names.assigned(node)
    if not isinstance(made, ast.Name) or made not in module.names.scope_of_name:
        return made
    names = module.names
    bindings = names.bindings_of(made)
    statements = [names.statement(binding.node) for binding in bindings]
    if not all(isinstance(s, ast.Assign) for s in statements) or not statements:
        return made
    block = names.block(statements[0])
    inside = {names.statement(made), *names.ancestors(made)}
    place = next((i for i, statement in enumerate(block) if statement in inside), None)
    if place is None or not all(statement in block for statement in statements):
        return made
    above = [binding for binding in bindings if names.statement(binding.node) in block[:place]]
    above.sort(key=lambda binding: block.index(names.statement(binding.node)))
    return above[-1].value or made if above else made


def joins_states(module: Module, made: ast.AST | None) -> bool:
    """Whether a call makes a cell whose state is c and h in one tensor, and in no stack of such."""
    row = CELLS.by_kind.get(cell_of(module, made))
    if row is None or row.cell != LSTM or not isinstance(made, ast.Call):
        return False
    given = NamedArguments(module, made, row.signature).get("state_is_tuple")
    return given is not None and constant(given) is False and not joins_all(module)


def _state(module: Module, node: ast.expr, made: ast.expr | None, depth: int) -> State:
    name = cell_of(module, made)
    if name == STACK:
        assert isinstance(made, ast.Call)
        cells = NamedArguments(module, made, CELLS.by_kind[STACK].signature).get("cells")
        if cells is not None:
            stacked = _states_of(module, cells, depth)
            return _joined(module, cells, stacked) if is_joined(module, made) else stacked
    elif name in CELLS.by_kind and CELLS.by_kind[name].cell in (*WRAPPERS, ATTENTION):
        assert isinstance(made, ast.Call)
        inner = NamedArguments(module, made, CELLS.by_kind[name].signature).get("cell")
        if inner is not None:
            chosen = _wrapped_in_branch(module, inner)
            inner = inner if chosen is None else chosen
            if isinstance(inner, ast.Name) and not _is_wrapped_alone(module, inner):
                text = "the cell in this one may be another one's as well"
                raise Refused(module, inner, text, "make it where it is wrapped")
            wrapped = state_of(module, inner, depth + 1)
            if CELLS.by_kind[name].cell != ATTENTION:
                return wrapped
            missing = [None] * (ATTENDED_SIZE - len(ATTENDED_PARTS))
            return (wrapped, TENSOR, *missing)
    elif name in CELLS.by_kind and CELLS.by_kind[name].cell not in MECHANISMS:
        pair = CELLS.by_kind[name].cell in PAIRS and not joins_states(module, made)
        return PAIR if pair else TENSOR
    elif isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and depth < 5:
        found = returned(module, made.func)
        states = {state_of(module, value, depth + 1) for value in found}
        if len(states) == 1:
            return states.pop()
    if name and isinstance(made, ast.Call):
        text = f"the recurrent cell `{module.source.code(made.func)}` is not converted"
        raise Refused(module, made, text, "write it as a Keras layer that makes one step")
    shown = f"`{module.source.code(node)}`" if isinstance(node, ast.Name) else "this"
    text = f"which recurrent cell {shown} is cannot be determined"
    raise Refused(module, node, text, "make it by one call, in a separate variable")


def _joined(module: Module, cells: ast.expr, states: State) -> State:
    """The state of a stack that puts those of its cells into one tensor.

    Raises:
        Refused: a cell has a state of more than a tensor, or c and h.
    """
    if all(one is ... or one in (TENSOR, PAIR) for one in states):
        return TENSOR
    text = "the state of all cells is one tensor"
    raise Refused(module, cells, text, "leave `state_is_tuple` out")


def joins_all(module: Module) -> bool:
    """Whether all that runs in a file are stacks whose states are one tensor each.

    Their LSTMs have c and h in one as well then.
    """
    stacks = [call for call in module.names.calls if cell_of(module, call) == STACK]
    if not stacks or not all(is_joined(module, call) for call in stacks):
        return False
    for call in module.names.calls:
        if is_recurrent(module, call):
            given = NamedArguments(module, call, RUNS.by_name[name_of(module, call)].signature)
            if not _is_joined_stack(module, given.get("cell")):
                return False
    return True


def _is_joined_stack(module: Module, node: ast.expr | None, depth: int = 0) -> bool:
    made = value_of(module, node)
    if not isinstance(made, ast.Call) or depth > 5:
        return False
    kind = cell_of(module, made)
    if kind in _WRAPS:
        given = NamedArguments(module, made, CELLS.by_kind[kind].signature)
        return _is_joined_stack(module, given.get("cell"), depth + 1)
    if not kind and isinstance(made.func, ast.Name):
        found = returned(module, made.func)
        return bool(found) and all(_is_joined_stack(module, one, depth + 1) for one in found)
    return is_joined(module, made)


def _is_wrapped_alone(module: Module, inner: ast.Name) -> bool:
    """Whether a cell is made right above what wraps it, and nothing else reads it."""
    names = module.names
    if inner not in names.scope_of_name:
        return False
    home = names.defining_scope(inner.id, names.scope_of_name[inner])
    if home is None or names.scope_of_name[inner] is not home:
        return False  # it would be one for all turns, or calls
    statement = names.statement(inner)
    block = names.block(statement)
    bound = [b.node for b in names.bindings_of(inner) if names.statement(b.node) in block]
    places = [block.index(names.statement(node)) for node in bound]
    here = block.index(statement)
    above = [place for place in places if place < here]
    if not above or len(bound) != len(names.bindings_of(inner)):
        return False
    first, behind = max(above), min((p for p in places if p >= here), default=len(block) - 1)
    span = {part for one in block[first : behind + 1] for part in walk(one)}
    mentions = [m for m in names.mentions(inner.id, home) if isinstance(m.ctx, ast.Load)]
    if behind == len(block) - 1:
        return [m for m in mentions if m.lineno > block[first].lineno] == [inner]
    return [m for m in mentions if m in span and names.statement(m) is not block[first]] == [inner]


def _wrapped_in_branch(module: Module, inner: ast.expr) -> ast.expr | None:
    """What makes the cell that a branch wraps, where it alone stands between.

    `cell = LSTMCell(8)`, and then `if deep: cell = ResidualWrapper(cell)`
    """
    names = module.names
    branch = names.parents.get(names.statement(inner))
    if not isinstance(inner, ast.Name) or not isinstance(branch, ast.If) or branch.orelse:
        return None
    wraps, block = names.statement(inner), names.block(branch)
    made = [names.statement(one.node) for one in names.bindings_of(inner)]
    if branch.body != [wraps] or len(made) != 2 or wraps not in made:
        return None
    first = next(one for one in made if one is not wraps)
    if not isinstance(first, ast.Assign) or first not in block or first.lineno > branch.lineno:
        return None
    between = block[block.index(first) + 1 : block.index(branch) + 1]
    home = names.scope_of_name[inner]
    span = {part for one in between for part in walk(one)}
    read = [m for m in names.mentions(inner.id, home) if isinstance(m.ctx, ast.Load) and m in span]
    return first.value if read == [inner] and isinstance(first.value, ast.Call) else None


def returned(module: Module, function: ast.Name) -> list[ast.expr]:
    """What a function of the file makes and returns."""
    names = module.names
    if function not in names.scope_of_name:
        return []
    node = names.only_definition(function)
    if not isinstance(node, ast.FunctionDef):
        return []
    found: list[ast.expr] = []
    for value in (n.value for n in walk(node) if isinstance(n, ast.Return)):
        if isinstance(value, ast.Name):
            home = names.defining_scope(value.id, names.scope_of_name[value])
            if home is None or home.node is not node:
                return []  # every call would give the same cell
        if value is None:
            return []
        found.append(value)
    return found


def _states_of(module: Module, cells: ast.expr, depth: int) -> State:
    """The states of a list of cells; each must be a cell of its own."""
    made = module.names.assigned(cells)
    same = "two cells of this stack may be one"
    advice = "make each of its own, within the list"
    if isinstance(made, ast.ListComp):
        if not isinstance(made.elt, ast.Call):
            raise Refused(module, made.elt, same, advice)
        return (state_of(module, made.elt, depth + 1), ...)
    if isinstance(made, ast.List) and made.elts:
        calls = [value_of(module, one) for one in made.elts]
        for index, call in enumerate(calls):
            if any(call is other for other in calls[:index]):
                raise Refused(module, made.elts[index], same, advice)
        return tuple(state_of(module, one, depth + 1) for one in made.elts)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and depth < 5:
        lists = returned(module, made.func)
        if len(lists) == 1 and isinstance(lists[0], (ast.Name, ast.List, ast.ListComp)):
            return _states_of(module, lists[0], depth + 1)
    if isinstance(made, ast.List) and isinstance(cells, ast.Name):
        appended = _appended(module, cells)
        for one in appended:
            if not isinstance(one, ast.Call) and not _made_beside(module, one):
                raise Refused(module, one, same, advice)
        states = {state_of(module, one, depth + 1) for one in appended}
        if len(states) == 1:
            return (states.pop(), ...)
    text = "which cells these are cannot be determined"
    raise Refused(module, cells, text, "write them as a list, or append them in one loop")


def _made_beside(module: Module, node: ast.expr) -> bool:
    """Whether a cell is made in the very block that appends it, and appended there only."""
    names = module.names
    if not isinstance(node, ast.Name):
        return False
    value = names.only_value(node)
    home = names.defining_scope(node.id, names.scope_of_name[node])
    if not isinstance(value, ast.Call) or home is None or len(names.mentions(node.id, home)) != 2:
        return False
    return names.statement(node) in names.block(names.statement(value))


def _appended(module: Module, cells: ast.Name) -> list[ast.expr]:
    """What is appended to a list, which nothing else changes."""
    names = module.names
    home = names.defining_scope(cells.id, names.scope_of_name[cells])
    found: list[ast.expr] = []
    for mention in names.mentions(cells.id, home) if home is not None else []:
        parent = names.parents[mention]
        call = names.parents[parent]
        if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call):
            if parent.attr == "append" and call.func is parent and len(call.args) == 1:
                found.append(call.args[0])
                continue
        item = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
        if item or isinstance(parent, (ast.Attribute, ast.AugAssign)):
            raise Refused(module, parent, "which cells these are cannot be determined")
    return found
