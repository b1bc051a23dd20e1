"""Transformations of datasets that `apply` takes, as methods of the dataset.

    from tensorflow.contrib.data import map_and_batch, prefetch_to_device, shuffle_and_repeat
    images = images.apply(shuffle_and_repeat(1000)).apply(map_and_batch(decode, 16))
    images = images.apply(prefetch_to_device("/gpu:0", 2))

becomes `images.shuffle(1000).repeat().map(decode, num_parallel_calls=16).batch(16)`, and
`images.prefetch(2)`: which device an element waits on changes no value.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.pipelines import pipeline_edits
from migrate_mgpu.source.source import Edit

_PREFETCH = ("contrib.data.prefetch_to_device", "data.experimental.prefetch_to_device")


def normalize(module: Module) -> list[Edit]:
    """The edits for one such transformation; none where there is none."""
    names = module.names
    for call in names.calls:
        name = tensorflow_name(module, call.func)
        apply = names.parents.get(call)
        if not name.startswith(("contrib.data.", "data.experimental.")):
            continue
        if not isinstance(apply, ast.Call) or not isinstance(apply.func, ast.Attribute):
            continue
        if apply.func.attr != "apply" or apply.args != [call] or apply.keywords:
            continue
        try:
            if name in _PREFETCH:
                return _prefetched(module, apply, call)
            edits = pipeline_edits(module, call.func, style_at(module, call))
        except Refused:
            continue
        if edits and min(edit.start for edit in edits) < module.source.span(call)[0]:
            return edits
    return []


def _prefetched(module: Module, apply: ast.Call, call: ast.Call) -> list[Edit]:
    given = arguments_of(module, call, ("device", "buffer_size"))
    size = given.get("buffer_size")
    text = "1" if size is None or is_none(size) else module.source.code(size)
    assert isinstance(apply.func, ast.Attribute)
    end = module.source.span(apply.func)[1]
    return [Edit(end - len("apply"), module.source.span(apply)[1], f"prefetch({text})")]
