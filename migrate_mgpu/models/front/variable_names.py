"""Whether an optimizer of the program's own finds by Keras's names what it found by TF1's.

It may leave variables out whose names have one of some words in them ("layer_norm", "bias"). A
name is made of the scopes or classes around a layer, the layer's own, and the variable's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.constant_parameters import constants
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.models.front.network.layers import Found
from migrate_mgpu.models.front.network.name_scopes import scope_kind
from migrate_mgpu.models.ir import Layer, Optimizer, OwnOptimizer, Weight

_ADVICE = "let the optimizer decide by something else"
_ENDS = re.compile(r":\\d|:0")  # of a tensor's name, which are cut off


def check_names(
    optimizer: Optimizer,
    layers: Iterable[tuple[str, Found]],
    applied: Iterable[ast.Call],
    classes: Iterable[str],
    graph: CallGraph,
) -> None:
    """Checks what an optimizer that asks for names is told.

    ``layers`` stand beside the class that makes them, ``applied`` are calls of layers that are
    made elsewhere, ``classes`` those that the network becomes.

    Raises:
        Refused: a name may have a word in TF1 and not in Keras, or the other way round.
    """
    own = optimizer.own
    if own is None or not own.named:
        return
    if any(True for _ in applied):
        text = "the optimizer decides by names, and not all layers' are known"
        raise Refused(optimizer.module, optimizer.node, text, _ADVICE)
    words = list(_words(optimizer, own))
    _Check(optimizer, words, graph).all([*layers], classes)


def _words(optimizer: Optimizer, own: OwnOptimizer) -> Iterator[str]:
    """The words that it looks for, of which its constructor is given a list."""
    module = own.module
    methods = [*own.update, *own.helpers]
    kept = set()
    for node in (part for one in methods for part in walk(one)):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Attribute):
            kept.add(node.iter.attr)
        elif isinstance(node, (ast.For, ast.While, ast.comprehension)):
            raise Refused(module, own.node, "what its optimizer asks of names is unclear", _ADVICE)
        if isinstance(node, ast.Call):
            name = module.names.qualname(node.func) or ""
            first = constant(node.args[0]) if node.args else None
            cuts = name == "re.match" and isinstance(first, str) and _ENDS.search(first)
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            known = isinstance(node.func, ast.Attribute) and (
                name.startswith("tensorflow.")
                or (isinstance(node.func.value, ast.Name) and node.func.value.id == "self")
            )
            if not (cuts or known or name == "re.search" or called == "group"):
                text = f"`{own.node.name}` may ask more of a variable's name than for words"
                raise Refused(module, node, text, _ADVICE)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            text = f"`{own.node.name}` may compare the name of a variable"
            raise Refused(module, node, text, _ADVICE)
    parameters = {}
    for statement in own.init.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Attribute):
            if isinstance(statement.value, ast.Name):
                parameters[target.attr] = statement.value.id
    for attribute in sorted(kept):
        given = optimizer.arguments.get(parameters.get(attribute, ""))
        elements = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
        for element in elements:
            word = constant(element)
            if not isinstance(word, str) or not re.fullmatch(r"\w+", word):
                text = f"which variables `{attribute}` names cannot be determined"
                raise Refused(optimizer.module, given or optimizer.node, text, _ADVICE)
            yield word


class _Check:
    def __init__(self, optimizer: Optimizer, words: list[str], graph: CallGraph) -> None:
        self.optimizer = optimizer
        self.words = words
        self.graph = graph

    def all(self, layers: list[tuple[str, Found]], classes: Iterable[str]) -> None:
        for name in classes:
            own = [found for owner, found in layers if owner == name]
            if self._has(snake(name)) and not (own and all(self._within(f, layers) for f in own)):
                raise self._refuse(self.optimizer.node, snake(name))
        for module in dict.fromkeys(found.module for _, found in layers):
            for call in module.names.calls:
                if scope_kind(module, call) is None:
                    continue
                parts = (part for part in walk(call) if isinstance(part, ast.Constant))
                for text in (part.value for part in parts):
                    if isinstance(text, str) and self._has(text):
                        raise self._refuse(call, text, module)
        for owner, found in layers:
            if found.helper is None:
                self._layer(found, snake(owner))

    def _refuse(self, node: ast.AST, name: str, module: Module | None = None) -> Refused:
        text = f"the optimizer decides by names, and `{name}` is one in TF1 or in Keras alone"
        return Refused(module or self.optimizer.module, node, text, _ADVICE)

    def _has(self, *names: str) -> bool:
        return any(word in name for word in self.words for name in names)

    def _within(self, found: Found, layers: list[tuple[str, Found]]) -> bool:
        """Whether each variable of a class has such a word in TF1, where the class has one."""
        if found.helper is None:
            return True  # it is compared with the class's name
        node = found.helper.function.node
        inner = [one for _, one in layers if node in one.module.names.ancestors(one.call)]
        return bool(inner) and all(
            self._within(one, layers) if one.helper is not None else self._has(_old_name(one))
            for one in inner
        )

    def _layer(self, found: Found, owner: str) -> None:
        """Checks the names of one layer's variables, which a class makes."""
        layer = found.layer
        if isinstance(layer, Weight):
            names = self._known(found.module, layer.arguments.get("name"))
            names = [layer.scoped] if layer.scoped else names
            if not names or not all(isinstance(name, str) and name for name in names):
                raise self._refuse(found.call, "a variable", found.module)
            for name in map(str, names):
                if self._has(name) != self._has(name.rpartition("/")[2], owner):
                    raise self._refuse(found.call, owner, found.module)
            return
        if not isinstance(layer, Layer):
            raise self._refuse(found.call, found.stem, found.module)
        row = LAYERS.by_kind[layer.kind]
        old = _old_name(found)
        new = found.name or snake(found.kind)
        if not old or not self._is_named(found):
            raise self._refuse(found.call, found.stem, found.module)
        if self._has(old) != self._has(new, owner):
            raise self._refuse(found.call, old, found.module)
        if row.variables is None and layer.kind.startswith("contrib."):
            raise self._refuse(found.call, old, found.module)
        for one in row.variables or ():
            if self._has(old, one.name) != self._has(new, owner, one.attribute):
                raise self._refuse(found.call, old, found.module)

    def _is_named(self, found: Found) -> bool:
        """Whether the name of a layer is known: a literal, or none."""
        given = [k.value for k in found.call.keywords if k.arg in ("name", "scope")]
        return found.name is not None or not given or self._known(found.module, given[0]) == [None]

    def _known(self, module: Module, node: ast.expr | None) -> list[object]:
        """What a name is in each call, by the functions whose parameter it is; none if unclear."""
        if isinstance(node, ast.Constant):
            return [node.value]
        found = constants(module, node, self.graph, True) if isinstance(node, ast.Name) else None
        return list(dict.fromkeys(one.value for one in found or ()))


def _old_name(found: Found) -> str:
    """A layer's name in TF1, or its variable's; empty where it is not known."""
    layer = found.layer
    if isinstance(layer, Weight):
        name = constant(layer.arguments.get("name"))
        return layer.scoped or (name if isinstance(name, str) else "")
    if found.name or not isinstance(layer, Layer):
        return found.name or ""
    return LAYERS.by_kind[layer.kind].scope


def snake(name: str) -> str:
    """What Keras calls a layer of a class: `LayerNormalization` is `layer_normalization`."""
    parts = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()
