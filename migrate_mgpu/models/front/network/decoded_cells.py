"""The parts that decoders are made of: whether anything else has to do with them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.recurrent import DECODER, DECODER_PARAMETERS
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
        if taker is None or name_of(module, taker) != DECODER:
            return False
        if by_parameter(taker, DECODER_PARAMETERS).get(parameter) is not mention:
            return False
    return len(mentions) > 1


def is_decoded_by(module: Module, call: ast.Call) -> bool:
    """Whether a cell is made for decoders alone, by a name."""
    parent = module.names.parents.get(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return isinstance(target, ast.Name) and is_of_decoders(module, target, "cell")


def begins_decoder(module: Module, node: ast.expr) -> bool:
    """Whether a cell is asked for its zero state, around another one, for a decoder of it."""
    return _start_of(module, node) is not None


def inner_start(module: Module, start: ast.expr, cell: ast.Name) -> ast.expr | None:
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
    if not isinstance(node, ast.Name) or taker is None or name_of(module, taker) != DECODER:
        return None
    given = by_parameter(taker, DECODER_PARAMETERS)
    cell, start = given.get("cell"), given.get("initial_state")
    if not isinstance(cell, ast.Name) or start is None or start is not call:
        return None
    fits = cell.id == node.id and inner_start(module, start, cell) is not None
    return taker if fits else None
