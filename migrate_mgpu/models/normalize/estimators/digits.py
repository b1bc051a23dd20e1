"""MNIST of TF1 whose arrays stand in calls that are written anew: arrays of names of their own.

``numpy_input_fn(x={"images": mnist.train.images}, ...)`` reads ``train_images``, which
``load_data`` of Keras gives; scale, form and the validation set are TF1's. A function that is
given the images and reads a variable of the module instead is not given them any more.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.mnist import (
    MnistLoad,
    import_edit,
    is_written_anew,
    mnist_load,
    pixels,
)
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.normalize.sessions.idle_sessions import unread, without
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout
from migrate_mgpu.source.style import FileStyle

_PARTS = ("train", "validation", "test")
_ARRAYS = ("images", "labels")
_CUT = {"train": "[5000:]", "validation": "[:5000]", "test": ""}
_HELD_OUT = "# The first 5,000 images are for validation."


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits of one load; none where there is none, or more is done with it."""
    for module in flow.modules:
        for call in module.names.calls:
            load = mnist_load(module, call.func)
            if load is None or _is_shared(load, graph):
                continue
            handed = _handed(load, graph)
            if handed:
                return handed
            edits = _Load(load, style_at(module, call)).edits()
            if edits:
                return {module: edits}
    return {}


def _is_shared(load: MnistLoad, graph: CallGraph) -> bool:
    """Whether another module may read the variable."""
    others = (m for m in graph.project.modules.values() if load.module in m.imported)
    return load.home.is_module and any(load.name in other.source.text for other in others)


def _handed(load: MnistLoad, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for a function that is given the images and does not read them."""
    names = load.module.names
    for mention in load.mentions:
        call = names.taker(mention)
        function = graph.target(load.module, call.func) if call is not None else None
        if call is None or function is None or not isinstance(function.node, ast.FunctionDef):
            continue
        for name in unread(function.module, function.node):
            if bind(call, function).values().get(name) is mention and function.module.writable:
                return without(function, name, graph)
    return {}


class _Load:
    def __init__(self, load: MnistLoad, style: FileStyle) -> None:
        self.load = load
        self.style = style
        self.names = load.module.names
        self.source = load.module.source
        self.used: set[tuple[str, str]] = set()  # part and array

    def edits(self) -> list[Edit]:
        """All of them, or none."""
        load = self.load
        found: list[tuple[ast.Attribute, tuple[str, str]]] = []
        for mention in load.mentions:
            part = self.names.parents[mention]
            value = self.names.parents[part]
            if not (isinstance(part, ast.Attribute) and isinstance(value, ast.Attribute)):
                return []
            if part.attr not in _PARTS or not isinstance(value.ctx, ast.Load):
                return []
            if value.attr not in (*_ARRAYS, "num_examples"):
                return []
            found.append((value, (part.attr, value.attr)))
        if not (load.one_hot or any(self._is_new(value) for value, _ in found)):
            return []
        numpy = self._numpy() if load.one_hot else ""
        named = self._named()
        edits = [] if numpy is not None else [self._imported()]
        for value, (of, array) in found:
            counts = array == "num_examples"
            key = of, "labels" if counts else array
            text = f"len({named[key]})" if counts else named[key]
            edits.append(Edit(*self.source.span(value), text))
            self.used.add(key)
        keras = f"{self.style.tensorflow}.keras.datasets.mnist"
        if load.imported is not None:
            keras = "mnist" if self._is_free() else "mnist_data"
            keras = keras if keras == "mnist" else self.names.fresh(self.names.module_scope, keras)
            edits.append(import_edit(load, keras))
        lines = self._lines(named, keras, "np" if numpy is None else numpy)
        newline = self.source.newline + self.source.indent_of(load.statement)
        return [*edits, Edit(*self.source.span(load.statement), newline.join(lines))]

    def _is_new(self, value: ast.Attribute) -> bool:
        return value.attr == "num_examples" or is_written_anew(self.load.module, value)

    def _is_free(self) -> bool:
        """Whether `mnist` means nothing but the variable, which goes."""
        scopes = [scope for scope in self.names.scopes.values() if "mnist" in scope.bindings]
        return scopes == [self.load.home] and self.load.name == "mnist"

    def _numpy(self) -> str | None:
        """How the module spells numpy, which makes rows of labels."""
        for name, bindings in self.names.module_scope.bindings.items():
            nodes = [binding.node for binding in bindings]
            if len(nodes) == 1 and isinstance(nodes[0], ast.Import):
                wanted = (alias.asname or alias.name for alias in nodes[0].names)
                plain = [alias for alias in nodes[0].names if alias.name == "numpy"]
                above = nodes[0].lineno < self.load.statement.lineno or not self.load.home.is_module
                if plain and name in wanted and above:
                    return name
        return None

    def _imported(self) -> Edit:
        """An import of numpy as `np`, above that of TensorFlow."""
        first = min(self.load.module.tensorflow_imports, key=lambda node: node.lineno)
        return Layout(self.source, first).insert_before(["import numpy as np"])

    def _named(self) -> dict[tuple[str, str], str]:
        """The arrays' names: all of one style."""
        named: dict[tuple[str, str], str] = {}
        for style in ("{}_{}", "mnist_{}_{}"):
            named = {
                (part, array): style.format(part, array) for part in _PARTS for array in _ARRAYS
            }
            if all(self.names.fresh(self.load.home, name) == name for name in named.values()):
                break
        fresh = self.names.fresh
        return {key: fresh(self.load.home, name) for key, name in named.items()}

    def _lines(self, named: dict[tuple[str, str], str], keras: str, numpy: str) -> list[str]:
        """What loads the arrays, and makes of them what TF1 gave."""
        pairs = (f"({named[p, 'images']}, {named[p, 'labels']})" for p in ("train", "test"))
        lines = [f"{', '.join(pairs)} = {keras}.load_data()"]
        whole = {key: named["test" if key[0] == "test" else "train", key[1]] for key in named}
        if any(part != "test" for part, _ in self.used):
            lines.append(_HELD_OUT)
        for part in ("validation", "train", "test"):  # of the whole ones, before those are cut
            for array in _ARRAYS:
                if (part, array) not in self.used:
                    continue
                text = f"{whole[part, array]}{_CUT[part]}"
                if array == "images":
                    text += pixels(self.style)
                elif self.load.one_hot:
                    text = f"{numpy}.eye(10)[{text}]"
                if text != named[part, array]:
                    lines.append(f"{named[part, array]} = {text}")
        return lines
