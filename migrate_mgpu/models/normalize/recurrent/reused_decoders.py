"""Decoders that are made again in a scope that is opened again, with the variables of the first.

    with tf.variable_scope('decode'):
        cell = AttentionWrapper(LSTMCell(8), LuongAttention(8, memory, lengths), 8)
        ... dynamic_decode(BasicDecoder(cell, helper, state, dense))
    with tf.variable_scope('decode', reuse=True):
        tiled = tile_batch(memory, 5)
        cell = AttentionWrapper(LSTMCell(8), LuongAttention(8, tiled, tile_batch(lengths, 5)), 8)
        ... dynamic_decode(BeamSearchDecoder(cell, table, start, end, tiled_state, 5, dense))

The second cell has the variables of the first: a scope with `reuse=True` makes none. The first one
is written in its place, and that a search with beams attends to a memory for each beam is how its
reader understands it: to TF1 such a cell would be no use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.recurrent import (
    BEAM_DECODER,
    CELLS,
    DECODE,
    DECODE_PARAMETERS,
    DECODERS,
    LENGTHS,
    MECHANISMS,
    MEMORY,
    TILE,
    TILE_PARAMETERS,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.decoders import DENSE
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_SCOPE = "variable_scope"
_REUSES = ("reuse", "_reuse")
_STARTS = ("zero_state", "clone")


@record(frozen=True)
class _Decoder:
    """The one decoder of a scope, with what it is given."""

    made: ast.Call
    given: dict[str, ast.expr]
    scope: ast.With

    @property
    def cell(self) -> ast.Name | None:
        cell = self.given.get("cell")
        return cell if isinstance(cell, ast.Name) else None


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one output layer, or one decoder; none where there is none."""
    if BEAM_DECODER not in {name_of(module, call) for call in module.names.calls}:
        return []
    pairs = [*_pairs(module)]
    for first, _ in pairs:
        edits = _named(module, first)
        if edits:
            return edits
    for first, again in pairs:
        edits = _shared(module, first, again)
        if edits:
            return edits
    return []


def _pairs(module: Module) -> Iterator[tuple[_Decoder, _Decoder]]:
    """Decoders in a scope, and in the one place that opens it again."""
    names = module.names
    scopes = [node for node in walk(module.tree) if isinstance(node, ast.With)]
    opened = [(node, name) for node in scopes if (name := _scope_name(module, node)) is not None]
    for again, name in opened:
        if not _reuses(module, again):
            continue
        block = names.block(again)
        same = [node for node, other in opened if other == name and node in block]
        if len(same) != 2 or same[1] is not again or _reuses(module, same[0]):
            continue
        decoders = [_decoder(module, one) for one in same]
        if decoders[0] is not None and decoders[1] is not None:
            yield decoders[0], decoders[1]


def _scope_name(module: Module, node: ast.With) -> str | None:
    """The name of a scope that a statement opens, which says no more than whether it is reused."""
    call = node.items[0].context_expr if len(node.items) == 1 else None
    if not isinstance(call, ast.Call) or name_of(module, call) != _SCOPE or len(call.args) != 1:
        return None
    if node.items[0].optional_vars is not None or any(k.arg != "reuse" for k in call.keywords):
        return None
    name = constant(call.args[0])
    return name if isinstance(name, str) else None


def _reuses(module: Module, node: ast.With) -> bool:
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    return [constant(one.value) for one in call.keywords] == [True]


def _decoder(module: Module, scope: ast.With) -> _Decoder | None:
    """The decoder that a scope has, where it has one, and nothing else that has variables."""
    calls = [part for part in walk(scope) if isinstance(part, ast.Call)]
    run = [call for call in calls if name_of(module, call) == DECODE]
    attending = [call for call in calls if _cell_kind(module, call) in MECHANISMS]
    if len(run) != 1 or len(attending) != 1:
        return None
    made = by_parameter(run[0], DECODE_PARAMETERS).get("decoder")
    parameters = DECODERS.get(name_of(module, made))
    if not isinstance(made, ast.Call) or parameters is None:
        return None
    return _Decoder(made, by_parameter(made, parameters), scope)


def _cell_kind(module: Module, call: ast.Call) -> str:
    row = CELLS.by_name.get(name_of(module, call))
    return row.cell if row is not None else ""


def _named(module: Module, first: _Decoder) -> list[Edit]:
    """A name for the output layer of the first decoder."""
    layer, names = first.given.get("output_layer"), module.names
    layout = Layout(module.source, names.statement(first.made))
    if not isinstance(layer, ast.Call) or name_of(module, layer) != DENSE or not layout.owns_lines:
        return []
    if "\n" in module.source.code(layer):
        return []
    name = names.fresh(names.scope_at(first.made), "output_layer", "decoder_output_layer")
    above = layout.insert_before([f"{name} = {module.source.code(layer)}"])
    return [above, Edit(*module.source.span(layer), name)]


def _shared(module: Module, first: _Decoder, again: _Decoder) -> list[Edit]:
    """The first cell, and the first layer, in the second decoder."""
    names, source = module.names, module.source
    if first.cell is None or again.cell is None or name_of(module, again.made) != BEAM_DECODER:
        return []
    made = [_statement(module, one.cell, one.scope) for one in (first, again) if one.cell]
    layers = [one.given.get("output_layer") for one in (first, again)]
    width = again.given.get("beam_width")
    if made[0] is None or made[1] is None or width is None or made[0] is made[1]:
        return []
    bound = {names.statement(b.node) for b in names.bindings_of(first.cell)}
    if not bound <= {made[0], made[1]} or not Layout(source, made[1]).owns_lines:
        return []
    if _form(module, made[0].value, None) != _form(module, made[1].value, width):
        return []
    edits = _layer(module, layers)
    if edits is None or not _computes(module, again, made[1]):
        return []
    call = again.scope.items[0].context_expr
    assert isinstance(call, ast.Call)
    edits.append(Edit(source.span(call.args[0])[1], source.span(call.keywords[0])[1], ""))
    edits.append(Layout(source, made[1]).replace([]))
    home = names.scope_at(again.made)
    for mention in names.mentions(again.cell.id, home):
        if mention in {*walk(again.scope)} and isinstance(mention.ctx, ast.Load):
            edits.append(Edit(*source.span(mention), first.cell.id))
    for tiled in _tiles(module, made[1].value):
        edits.append(Layout(source, tiled).replace([]))
    return edits


def _computes(module: Module, again: _Decoder, made: ast.Assign) -> bool:
    """Whether nothing in a scope has variables but its decoder: other layers would be new ones."""
    own = {*walk(made), *walk(again.given["output_layer"])}
    for call in (part for part in walk(again.scope) if isinstance(part, ast.Call)):
        started = isinstance(call.func, ast.Attribute) and call.func.attr in _STARTS
        known = name_of(module, call) in {*COMPUTES, *DECODERS, DECODE, TILE}
        opens = call is again.scope.items[0].context_expr
        if not (started or known or opens or call in own):
            return False
    return True


def _statement(module: Module, cell: ast.Name, scope: ast.With) -> ast.Assign | None:
    """The statement of a scope that makes its decoder's cell."""
    found = [
        names
        for names in scope.body
        if isinstance(names, ast.Assign)
        and len(names.targets) == 1
        and isinstance(names.targets[0], ast.Name)
        and names.targets[0].id == cell.id
    ]
    return found[0] if len(found) == 1 else None


def _layer(module: Module, layers: list[ast.expr | None]) -> list[Edit] | None:
    """The first layer in the place of the second; None where they are not one."""
    names, (first, second) = module.names, layers
    if not isinstance(first, ast.Name) or second is None:
        return None
    binding = names.only_binding(first)
    if binding is None:
        return None
    if isinstance(second, ast.Name):
        return [] if names.only_binding(second) is binding else None
    value = binding.value
    if not isinstance(second, ast.Call) or name_of(module, second) != DENSE or value is None:
        return None
    if names.statement(value) not in names.block(names.statement(value)):
        return None
    same = _form(module, value, None) == _form(module, second, None)
    return [Edit(*module.source.span(second), first.id)] if same else None


def _tiles(module: Module, cell: ast.expr) -> list[ast.stmt]:
    """The statements that tile what a cell attends to, which nothing else reads."""
    found: list[ast.stmt] = []
    for name in (part for part in walk(cell) if isinstance(part, ast.Name)):
        value = module.names.only_value(name) if name in module.names.scope_of_name else None
        if isinstance(value, ast.Call) and name_of(module, value) == TILE:
            statement = module.names.statement(value)
            home = module.names.scope_at(statement)
            read = [one for one in module.names.mentions(name.id, home) if one is not name]
            if len(read) == 1 and Layout(module.source, statement).owns_lines:
                found.append(statement)
    return found


# -- which cells are alike ---------------------------------------------------------


def _form(module: Module, node: ast.AST, width: ast.expr | None) -> object:
    """What makes a cell, or a layer, whatever says that its variables are reused.

    ``width``: what it attends to is there so often, and is told as it is there once.
    """
    if isinstance(node, ast.Call):
        return _form_of_call(module, node, width)
    if isinstance(node, ast.Name):
        return ("name", node.id)
    if isinstance(node, ast.expr_context):
        return None
    fields = [
        [_form(module, one, width) if isinstance(one, ast.AST) else one for one in value]
        if isinstance(value, list)
        else (_form(module, value, width) if isinstance(value, ast.AST) else value)
        for _, value in ast.iter_fields(node)
    ]
    return (type(node).__name__, fields)


def _form_of_call(module: Module, call: ast.Call, width: ast.expr | None) -> object:
    kind = _cell_kind(module, call)
    row = CELLS.by_name.get(name_of(module, call))
    given = _given_to_function(module, call) if row is None else by_parameter(call, row.signature)
    if given is None:
        given = {str(place): one for place, one in enumerate(call.args)}
        given |= {one.arg or "**": one.value for one in call.keywords}
    told = {}
    for name, value in given.items():
        if name in _REUSES:
            continue
        attended = kind in MECHANISMS and name in (MEMORY, LENGTHS) and width is not None
        told[name] = _form(module, _untiled(module, value, width) if attended else value, width)
    return (name_of(module, call) or ast.dump(call.func), sorted(told.items(), key=lambda i: i[0]))


def _given_to_function(module: Module, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a function of the file that makes a cell is given, by its parameters."""
    target = call.func
    node = module.names.only_definition(target) if isinstance(target, ast.Name) else None
    if not isinstance(node, ast.FunctionDef):
        return None
    found = bind(call, Function(module, node))
    if found.unclear is not None:
        return None
    read = [one for one in walk(node) if isinstance(one, ast.Name) and one.id in _REUSES]
    if not all(_says_reuse(module, one) for one in read):
        return None
    return {**found.defaults, **found.values()}


def _says_reuse(module: Module, name: ast.Name) -> bool:
    """`reuse=reuse` of a cell."""
    parent = module.names.parents.get(name)
    return isinstance(parent, ast.keyword) and parent.arg in _REUSES


def _untiled(module: Module, value: ast.expr, width: ast.expr | None) -> ast.expr:
    """`memory` of `tile_batch(memory, width)`, or of what is that; else a thing of its own."""
    made = module.names.assigned(value)
    if width is not None and isinstance(made, ast.Call) and name_of(module, made) == TILE:
        given = by_parameter(made, TILE_PARAMETERS)
        tiled, times = given.get("t"), given.get("multiplier")
        if tiled is not None and times is not None and ast.dump(times) == ast.dump(width):
            return tiled
    return ast.Constant(...)
