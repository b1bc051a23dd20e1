"""Decoders, and what they are given next, where they run.

`helper = TrainingHelper(x, lengths)`, `decoder = BasicDecoder(cell, helper, state, layer)` and
`dynamic_decode(decoder)` become one call that has all of it: `dynamic_decode(BasicDecoder(cell,
TrainingHelper(x, lengths), state, layer))`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.recurrent import (
    DECODE,
    DECODE_PARAMETERS,
    DECODERS,
    HELPERS,
    TILE,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.recurrent.attention_cells import within
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one decoder; none where there is none."""

    def is_decoder(value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and name_of(module, value) in DECODERS

    def is_helper(value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and name_of(module, value) in HELPERS

    def is_start(value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and _is_start(module, value)

    edits = _starts(module)
    if edits:
        return edits
    for call in module.names.calls:
        if name_of(module, call) != DECODE:
            continue
        decoder = by_parameter(call, DECODE_PARAMETERS).get("decoder")
        if decoder is None:
            continue
        edits = within(module, call, decoder, is_decoder)
        if not edits and isinstance(decoder, ast.Call) and is_decoder(decoder):
            parts = by_parameter(decoder, DECODERS[name_of(module, decoder)])
            helper, start = parts.get("helper"), parts.get("initial_state")
            edits = [] if helper is None else within(module, call, helper, is_helper)
            if not edits and start is not None:
                edits = within(module, call, start, is_start)
        if edits:
            return edits
    return []


def _starts(module: Module) -> list[Edit]:
    """`state = cell.zero_state(...).clone(cell_state=last)`, where decoders begin with it.

    So does `state = tile_batch(last, 5)`.
    """
    names, source = module.names, module.source
    for call in names.calls:
        made = names.parents.get(call)
        if not _is_start(module, call):
            continue
        target = made.targets[0] if isinstance(made, ast.Assign) and made.value is call else None
        if not isinstance(target, ast.Name) or len(names.bindings_of(target)) != 1:
            continue
        home, layout = names.scope_of_name[target], Layout(source, names.statement(call))
        read = [one for one in names.mentions(target.id, home) if one is not target]
        fits = all(_begins(module, one) for one in read)
        inside = [part for part in walk(call) if isinstance(part, ast.Name)]
        once = all(len(names.bindings_of(one)) == 1 for one in inside if one in names.scope_of_name)
        code = source.code(call)
        if read and fits and once and layout.owns_lines and "\n" not in code:
            return [layout.replace([]), *(Edit(*source.span(one), code) for one in read)]
    return []


def _is_start(module: Module, call: ast.Call) -> bool:
    clones = isinstance(call.func, ast.Attribute) and call.func.attr == "clone"
    return clones or name_of(module, call) == TILE


def _begins(module: Module, node: ast.expr) -> bool:
    """Whether a decoder begins with a state, or with a cell's zero state around it."""
    taker = module.names.taker(node)
    if taker is None:
        return False
    if isinstance(taker.func, ast.Attribute) and taker.func.attr == "clone":
        return [one.value for one in taker.keywords if one.arg == "cell_state"] == [node]
    parameters = DECODERS.get(name_of(module, taker))
    return bool(parameters) and by_parameter(taker, parameters or ()).get("initial_state") is node
