"""Keras by its public name, where a program has it from `tensorflow.python` or `tf.contrib`.

``from tensorflow.python.keras import layers`` becomes ``from tensorflow.keras import layers``, and
``tf.contrib.keras.layers.Dense`` ``tf.keras.layers.Dense``: the same objects on 1.15, which has
``tensorflow.contrib.keras.python.keras`` of TensorFlow 1.2 no more. Its optimizers and a few more
are others there, and stay.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

_ROOMS = ("tensorflow.python", "tensorflow.contrib.keras.python", "tensorflow.contrib")
_CONTRIB = "tensorflow.contrib.keras"
# Modules that have one content by both names on 1.15, and what they are imported for.
_MODULES = {
    "activations", "applications", "backend", "callbacks", "constraints", "datasets", "layers",
    "losses", "models", "preprocessing", "regularizers", "utils",
}  # fmt: skip
OTHERS = ("DenseFeatures", "TensorBoard", "cosine", "name_scope")  # in those modules
_CLASSES = {"Input", "Model", "Sequential"}


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of a flow's modules and of those they import; none where one is not public."""
    found: dict[Module, list[Edit]] = {}
    for module in _reached(flow):
        edits = _edits(module)
        if edits is None:
            return {}
        if edits:
            found[module] = edits
    return found


def of_module(module: Module) -> list[Edit]:
    """The edits of one module; none where one name is not public."""
    return _edits(module) or []


def _edits(module: Module) -> list[Edit] | None:
    mentions = [_attribute_edit(module, node) for node in _attributes(module)]
    edits = [*mentions, *(_edit(module, statement) for statement in private_imports(module))]
    if None in edits or (edits and _names_another(module)):
        return None
    return [edit for edit in edits if edit is not None]


def is_private(flow: EstimatorFlow) -> bool:
    """Whether some module of an Estimator has Keras by another name than the public one."""
    return any(private_imports(module) or _attributes(module) for module in _reached(flow))


def _reached(flow: EstimatorFlow) -> list[Module]:
    found = flow.modules
    for module in found:  # grows as it is walked
        found += [one for one in module.imported if one.writable and one not in found]
    return found


def private_imports(module: Module) -> list[ast.Import | ast.ImportFrom]:
    """Imports of Keras from inside of TensorFlow."""
    return [
        statement
        for statement in module.tensorflow_imports
        if any(_inside(_path(statement, alias)) is not None for alias in statement.names)
    ]


def _inside(path: str) -> str | None:
    """What follows Keras in a dotted name; None for other names."""
    for room in _ROOMS:
        if f"{path}.".startswith(f"{room}.keras."):
            return path[len(room) + len(".keras.") :]
    return None


def _path(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(statement, ast.Import):
        return alias.name
    return f"{statement.module}.{alias.name}"


def _attributes(module: Module) -> list[ast.Attribute]:
    """`tf.contrib.keras`, where it is named so."""
    nodes = module.names.attributes.get("keras", ())
    return [node for node in nodes if module.names.qualname(node) == _CONTRIB]


def _attribute_edit(module: Module, node: ast.Attribute) -> Edit | None:
    outer, contrib = module.names.parents[node], node.value
    public = isinstance(outer, ast.Attribute) and outer.attr in (_MODULES | _CLASSES)
    if not public or not isinstance(contrib, ast.Attribute):
        return None
    source = module.source
    return Edit(*source.span(node), f"{source.code(contrib.value)}.keras")


def _names_another(module: Module) -> bool:
    """Whether a module uses what is something else by its public name."""
    nodes = (node for name in OTHERS for node in module.names.attributes.get(name, ()))
    named = (_inside(module.names.qualname(node) or "") for node in nodes)
    return any(name is not None for name in named)


def _edit(module: Module, statement: ast.Import | ast.ImportFrom) -> Edit | None:
    """The import by the public name; None where what it imports is not public, or another."""
    for alias in statement.names:
        inside = _inside(_path(statement, alias))
        inner = (inside or "").split(".")
        known = inner[0] in _MODULES or (len(inner) == 1 and inner[0] in (*_CLASSES, ""))
        if inside is None or not known or alias.name in ("*", *OTHERS):
            return None
    is_import = isinstance(statement, ast.Import)
    if is_import and (len(statement.names) > 1 or statement.names[0].asname is None):
        return None
    start, end = module.source.span(statement)
    text = module.source.text[start:end]
    old = statement.names[0].name if isinstance(statement, ast.Import) else statement.module
    assert old is not None
    place = text.index(old)
    for room in _ROOMS:
        if f"{old}.".startswith(f"{room}."):
            public = old.replace(room, "tensorflow", 1)
            return Edit(start + place, start + place + len(old), public)
    return None
