"""Pools as wide as the tensor is long, where a layer would have to be made of that.

    pooled = tf.layers.max_pooling1d(inputs=net, pool_size=net.get_shape().as_list()[1], strides=1)

becomes `tf.nn.max_pool1d(net, net.get_shape().as_list()[1], 1, "VALID")`, which has no layer.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.models.normalize.layers.static_sizes import asked_of
from migrate_mgpu.source.source import Edit

_POOL = "layers.max_pooling1d"
_SIGNATURE = ("inputs", "pool_size", "strides", "padding", "data_format", "name")


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits for all such calls."""
    if not session_calls(module):
        return []
    found: list[Edit] = []
    source = module.source
    for call in calls_of_names(module).get(_POOL, ()):
        given = by_parameter(call, _SIGNATURE)
        tensor, size, strides = (given.get(name) for name in _SIGNATURE[:3])
        shown = source.code(call.func)
        if tensor is None or size is None or strides is None or not shown.endswith(f".{_POOL}"):
            continue
        more = given.keys() - {"inputs", "pool_size", "strides", "padding", "name"}
        padding = constant(given["padding"]) if "padding" in given else "valid"
        if more or padding not in ("valid", "VALID") or not isinstance(tensor, ast.Name):
            continue
        asked = size.value if isinstance(size, ast.Subscript) else None
        of = asked_of(asked) if asked is not None else None
        if not isinstance(of, ast.Name) or of.id != tensor.id:
            continue
        parts = [
            tensor.id,
            source.code(size),
            source.code(strides),
            f"{source.quote}VALID{source.quote}",
        ]
        head = shown[: -len(_POOL)]
        found.append(Edit(*source.span(call), f"{head}nn.max_pool1d({', '.join(parts)})"))
    return found
