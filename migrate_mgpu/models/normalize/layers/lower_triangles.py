"""`tf.linalg.LinearOperatorLowerTriangular(x).to_dense()`, as the function that computes it.

That is `tf.linalg.band_part(x, -1, 0)`: what is above the diagonal becomes zero.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.tables import calls_of_names
from migrate_mgpu.source.source import Edit

# Both have the tensor first.
_OPERATORS = ("linalg.LinearOperatorLowerTriangular", "contrib.linalg.LinearOperatorTriL")


def normalize(module: Module) -> list[Edit]:
    """The edits; none where there is no such operator, or one is more than the matrix it is."""
    names, source = module.names, module.source
    found: list[Edit] = []
    for call in (one for name in _OPERATORS for one in calls_of_names(module).get(name, ())):
        method = names.parents[call]
        dense = names.parents[method] if isinstance(method, ast.Attribute) else None
        given = by_parameter(call, ("tril",))
        if not isinstance(method, ast.Attribute) or method.attr != "to_dense" or len(given) != 1:
            continue
        if not isinstance(dense, ast.Call) or dense.func is not method or "tril" not in given:
            continue
        if dense.args or dense.keywords or len(call.args) + len(call.keywords) != 1:
            continue
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or names.qualname(root) != "tensorflow":
            continue
        start, end = source.span(dense)
        inner = source.code(given["tril"])
        found.append(Edit(start, end, f"{source.code(root)}.matrix_band_part({inner}, -1, 0)"))
    return found
