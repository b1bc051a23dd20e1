"""TensorFlow's name, where `from ops import *` brings it: an import of its own."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.session.scope import session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(module: Module) -> list[Edit]:
    """The edit for a module that makes a session; none where it gives TensorFlow a name itself."""
    names, body = module.names, module.tree.body
    if not names.star_imports or not session_calls(module):
        return []
    found = {one.id for one in names.scope_of_name if names.qualname(one) == "tensorflow"}
    imports = (one for one in body if isinstance(one, (ast.Import, ast.ImportFrom)))
    own = {alias.asname or alias.name.partition(".")[0] for one in imports for alias in one.names}
    if len(found) != 1 or found & own:
        return []
    first = next((one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))), None)
    if isinstance(first, ast.ImportFrom) and first.module == "__future__":
        first = next((one for one in body if one in names.star_imports), None)
    if first is None or not Layout(module.source, first).owns_lines:
        return []
    name = found.pop()
    line = "import tensorflow" + ("" if name == "tensorflow" else f" as {name}")
    start = Layout(module.source, first).line_start
    return [Edit(start, start, line + module.source.newline)]
