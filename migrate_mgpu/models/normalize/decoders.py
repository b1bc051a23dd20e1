"""Decoders, and what they are given next, where they run.

`helper = TrainingHelper(x, lengths)`, `decoder = BasicDecoder(cell, helper, state, layer)` and
`dynamic_decode(decoder)` become one call that has all of it: `dynamic_decode(BasicDecoder(cell,
TrainingHelper(x, lengths), state, layer))`.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.recurrent import (
    DECODE,
    DECODE_PARAMETERS,
    DECODER,
    DECODER_PARAMETERS,
    HELPERS,
)
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.attention_cells import within
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for one decoder; none where there is none."""

    def is_decoder(value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and name_of(module, value) == DECODER

    def is_helper(value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and name_of(module, value) in HELPERS

    for call in module.names.calls:
        if name_of(module, call) != DECODE:
            continue
        decoder = by_parameter(call, DECODE_PARAMETERS).get("decoder")
        if decoder is None:
            continue
        edits = within(module, call, decoder, is_decoder)
        if not edits and isinstance(decoder, ast.Call) and is_decoder(decoder):
            helper = by_parameter(decoder, DECODER_PARAMETERS).get("helper")
            edits = [] if helper is None else within(module, call, helper, is_helper)
        if edits:
            return edits
    return []
