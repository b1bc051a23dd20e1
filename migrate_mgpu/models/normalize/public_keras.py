"""Keras imported from `tensorflow.python`, TensorFlow's own inside, by its public name.

``from tensorflow.python.keras import layers`` becomes ``from tensorflow.keras import layers``:
the same objects on 1.15. Its optimizers and a few more are others there, and stay.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

_INSIDE = "tensorflow.python.keras"
# Modules that have one content by both names on 1.15, and what they are imported for.
_MODULES = {
    "activations", "applications", "backend", "callbacks", "constraints", "datasets", "layers",
    "losses", "models", "preprocessing", "regularizers", "utils",
}  # fmt: skip
OTHERS = ("DenseFeatures", "TensorBoard", "cosine", "name_scope")  # in those modules
_CLASSES = {"Input", "Model", "Sequential"}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of the imports of a flow's modules; none where one of them is not public."""
    found: dict[Module, list[Edit]] = {}
    for module in flow.modules:
        edits = [_edit(module, statement) for statement in private_imports(module)]
        if None in edits or (edits and _names_another(module)):
            return {}
        if edits:
            found[module] = [edit for edit in edits if edit is not None]
    return found


def private_imports(module: Module) -> list[ast.ImportFrom]:
    """Imports of Keras from inside of TensorFlow."""
    return [
        statement
        for statement in module.tensorflow_imports
        if isinstance(statement, ast.ImportFrom)
        and f"{statement.module}.".startswith((f"{_INSIDE}.", "tensorflow.python."))
        and any(_path(statement, alias).startswith(_INSIDE) for alias in statement.names)
    ]


def _path(statement: ast.ImportFrom, alias: ast.alias) -> str:
    return f"{statement.module}.{alias.name}"


def _names_another(module: Module) -> bool:
    """Whether a module uses what is something else by its public name."""
    nodes = (node for name in OTHERS for node in module.names.attributes.get(name, ()))
    return any((module.names.qualname(node) or "").startswith(_INSIDE) for node in nodes)


def _edit(module: Module, statement: ast.ImportFrom) -> Edit | None:
    """The import by the public name; None where what it imports is not public, or another."""
    for alias in statement.names:
        inner = _path(statement, alias)[len(_INSIDE) + 1 :].split(".")
        known = inner[0] in _MODULES or (len(inner) == 1 and inner[0] in (*_CLASSES, ""))
        if not _path(statement, alias).startswith(_INSIDE) or not known:
            return None
        if alias.name in ("*", *OTHERS):
            return None
    assert statement.module is not None
    start, end = module.source.span(statement)
    text = module.source.text[start:end]
    place = text.index(statement.module)
    public = statement.module.replace("tensorflow.python", "tensorflow", 1)
    return Edit(start + place, start + place + len(statement.module), public)
