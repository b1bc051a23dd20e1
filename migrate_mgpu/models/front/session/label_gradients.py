"""Losses of TF1 that send no gradient into their labels, where TF2's would send one."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.losses import read_loss
from migrate_mgpu.models.front.session.constant_branches import names_made_before
from migrate_mgpu.models.front.session.program import closure
from migrate_mgpu.models.front.session.runs import mentions_of
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Unit, Variables

# TensorFlow 1.15.5's: `stop_gradient(labels)` is the first thing that they do.
_STOP = ("nn.softmax_cross_entropy_with_logits", "losses.softmax_cross_entropy")
_NO_GRADIENT = (
    "stop_gradient", "one_hot", "argmax", "to_int32", "to_int64", "zeros_like", "ones_like",
)  # fmt: skip
_ADVICE = "wrap them in tf.stop_gradient"


class LabelGradientReader(StatementReader):
    """Refuses labels that are trained themselves."""

    def check(self, value: ast.AST) -> None:
        """Looks at the losses in an expression of the scope, and in functions that it calls.

        Raises:
            Refused: labels of one depend on variables, or may.
        """
        made = names_made_before(value) if isinstance(value, ast.If) else frozenset()
        for call in (part for part in walk(value) if isinstance(part, ast.Call)):
            if name_of(self.module, call) in _STOP:
                self._check(_labels(self.module, call), made)
            target = self.graph.target(self.module, call.func)
            if target is not None:
                for name in sorted(self._parameters(target, frozenset())):
                    given = bind(call, target).given(name)
                    if given is not None:
                        self._check(given, made)

    def _check(self, labels: ast.expr, made: AbstractSet[ast.Name] = frozenset()) -> None:
        """``made`` are names that the same statement has given values."""
        if self._is_stopped(self.module, labels):
            return
        units: list[Unit] = []
        for name in mentions_of(self.names, labels, self.home):
            if name in made:
                raise _trained(self.module, labels)
            meaning = self.meanings.get(name.id)
            if isinstance(meaning, Variables):
                raise _trained(self.module, labels)
            if isinstance(meaning, Unit):
                units.append(meaning)
        if any(unit.reads or unit.collects for unit in closure(units)) or self._makes(
            self.module, labels
        ):
            raise _trained(self.module, labels)

    def _parameters(self, function: Function, around: frozenset[ast.AST]) -> set[str]:
        """The parameters of a function that labels in it are made of."""
        if function.node in around:
            return set()
        found: set[str] = set()
        for call in (part for part in walk(function.node) if isinstance(part, ast.Call)):
            if name_of(function.module, call) in _STOP:
                found |= self._sources(function, _labels(function.module, call), frozenset())
            target = self.graph.target(function.module, call.func)
            if target is not None:
                for name in sorted(self._parameters(target, around | {function.node})):
                    given = bind(call, target).given(name)
                    if given is not None:
                        found |= self._sources(function, given, frozenset())
        return found

    def _sources(self, function: Function, value: ast.expr, around: frozenset[ast.AST]) -> set[str]:
        """The parameters of a function that an expression in it is made of.

        Raises:
            Refused: it is made of variables, or may be.
        """
        module = function.module
        if value in around or self._is_stopped(module, value):
            return set()
        if self._makes(module, value):
            raise _trained(module, value)
        found: set[str] = set()
        names = module.names
        for name in (part for part in walk(value) if isinstance(part, ast.Name)):
            for binding in names.bindings_of(name):
                if binding.kind == "parameter":
                    found.add(name.id)
                elif binding.value is not None:
                    found |= self._sources(function, binding.value, around | {value})
                elif binding.kind not in ("import", "def", "class"):
                    raise _trained(module, value)  # a part of a tuple, what a loop gives
        return found

    def _is_stopped(self, module: Module, value: ast.expr) -> bool:
        name = name_of(module, value) if isinstance(value, ast.Call) else ""
        return name in _NO_GRADIENT

    def _makes(self, module: Module, value: ast.expr) -> bool:
        """Whether an expression makes layers or variables, or calls what may."""
        for call in (part for part in walk(value) if isinstance(part, ast.Call)):
            name = name_of(module, call)
            if name in VARIABLES.by_name or name in LAYERS.by_name:
                return True
            target = self.graph.target(module, call.func)
            if target is not None and self.expressions.touches_graph(target):
                return True
        return False


def _labels(module: Module, call: ast.Call) -> ast.expr:
    loss = read_loss(module, call)
    if loss is None:
        raise Refused(module, call, "its labels are not given by name")
    return loss.labels


def _trained(module: Module, labels: ast.expr) -> Refused:
    text = "its labels depend on variables, or may, and TF1 sends no gradient into them"
    return Refused(module, labels, text, _ADVICE)
