"""The parts that decoders are made of: whether anything else has to do with them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import DECODERS, TILE, TILE_PARAMETERS
from migrate_mgpu.api.tables import name_of


def is_of_decoders(module: Module, node: ast.Name, parameter: str) -> bool:
    """Whether a name that is given one value is only given to decoders, as one of their parts."""
    names = module.names
    home = names.defining_scope(node.id, names.scope_of_name[node])
    if home is None or len(home.bindings[node.id]) != 1:
        return False
    mentions = names.mentions(node.id, home)
    for mention in mentions:
        if not isinstance(mention.ctx, ast.Load) or begins_decoder(module, mention):
            continue
        taker = names.taker(mention)
        given = _given(module, taker)
        if given is None or given.get(parameter) is not mention:
            return False
    return len(mentions) > 1


def _given(module: Module, taker: ast.Call | None) -> dict[str, ast.expr] | None:
    """What a call gives a decoder, by its parameters; None where it makes none."""
    parameters = DECODERS.get(name_of(module, taker)) if taker is not None else None
    return by_parameter(taker, parameters) if taker is not None and parameters else None


def is_decoded_by(module: Module, call: ast.Call) -> bool:
    """Whether a cell is made for decoders alone, by a name."""
    parent = module.names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return isinstance(target, ast.Name) and is_of_decoders(module, target, "cell")


def begins_decoder(module: Module, node: ast.expr) -> bool:
    """Whether a cell is asked for its zero state, around another one, for a decoder of it."""
    return _start_of(module, node) is not None


def untiled(module: Module, start: ast.expr, beams: ast.expr) -> ast.expr | None:
    """`state` of `tile_batch(state, beams)`, of which each row is there for each beam."""
    if not isinstance(start, ast.Call) or name_of(module, start) != TILE:
        return None
    given = by_parameter(start, TILE_PARAMETERS)
    state, times = given.get("t"), given.get("multiplier")
    same = times is not None and ast.dump(times) == ast.dump(beams)
    known = all(
        isinstance(part, (ast.Constant, ast.expr_context))
        or (isinstance(part, ast.Name) and len(module.names.bindings_of(part)) == 1)
        for part in walk(beams)
    )
    return state if same and known else None


def inner_start(start: ast.expr, cell: ast.Name) -> ast.expr | None:
    """`state` of `cell.zero_state(rows, tf.float32).clone(cell_state=state)`."""
    call = start if isinstance(start, ast.Call) else None
    made = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    zero = made.func if isinstance(made, ast.Call) else None
    if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "clone":
        return None
    if not isinstance(zero, ast.Attribute) or zero.attr != "zero_state":
        return None
    same = isinstance(zero.value, ast.Name) and zero.value.id == cell.id
    known = [keyword.arg for keyword in call.keywords] == ["cell_state"] and not call.args
    return call.keywords[0].value if same and known else None


def _start_of(module: Module, node: ast.expr) -> ast.Call | None:
    """The decoder that begins with a state around which a cell's zero state stands."""
    parents = module.names.parents
    asked = parents.get(node)
    zero = parents.get(asked) if isinstance(asked, ast.Attribute) else None
    clone = parents.get(zero) if isinstance(zero, ast.Call) else None
    call = parents.get(clone) if isinstance(clone, ast.Attribute) else None
    taker = module.names.taker(call) if isinstance(call, ast.Call) else None
    given = _given(module, taker)
    if not isinstance(node, ast.Name) or given is None:
        return None
    cell, start = given.get("cell"), given.get("initial_state")
    if not isinstance(cell, ast.Name) or start is None or start is not call:
        return None
    fits = cell.id == node.id and inner_start(start, cell) is not None
    return taker if fits else None
