"""Classes of initializers that are handed over, `initializer=tf.ones_initializer`, as calls.

TF1 makes an object of them; Keras's class of that kind has other defaults, which a call states.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.source.source import Edit


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits of a module; none where it calls all of them."""
    found: list[Edit] = []
    for use in module.uses:
        row = INITIALIZERS.by_name.get(use.symbol.name)
        if row is None or row.kind == "constant" or not any(p.stated for p in row.parameters):
            continue
        parent = module.names.parents.get(use.node)
        given = isinstance(parent, ast.keyword) and (parent.arg or "").endswith("initializer")
        if given and isinstance(use.node, ast.expr):
            _, end = module.source.span(use.node)
            found.append(Edit(end, end, "()"))
    return found
