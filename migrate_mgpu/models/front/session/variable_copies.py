"""Variables that get the values of others, or their own within limits.

A target network follows the one that is trained; a critic's weights are clipped.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.host_objects import VariableCopy
from migrate_mgpu.models.front.session.program import (
    GRAPH,
    AllVariables,
    GlobalVariables,
    MadeLayer,
    Role,
    closure,
)
from migrate_mgpu.models.front.session.scoped_variables import ScopedVariables
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.variables import VariableReader
from migrate_mgpu.models.ir import Collected, Layer, Unit, Variables

_ADVICE = "list the variables of the two networks, one by one"


@record()
class _Listed:
    """The variables of a list, and whether TF1 has slots of optimizers behind them."""

    variables: tuple[Variables, ...]
    slots: bool
    lists: dict[ast.expr, tuple[Variables, ...]]


class VariableCopyReader(StatementReader):
    """Reads `[tf.assign(t, e) for t, e in zip(target, evaluated)]`, also in a `tf.group`.

    And `[p.assign(tf.clip_by_value(p, -1, 1)) for p in weights]`.
    """

    def __init__(
        self,
        state: Reading,
        scoped: ScopedVariables,
        variables: VariableReader,
        takes: dict[ast.Call, tuple[ast.expr, ...]],
    ) -> None:
        """``takes`` learns which expressions assigning calls take in."""
        super().__init__(state)
        self.scoped = scoped
        self.variables = variables
        self.takes = takes

    def read(self, statement: ast.Assign, target: ast.expr) -> Role | None:
        """What a statement is that copies variables; None for others.

        Raises:
            Refused: it cannot be determined which variable gets the value of which.
        """
        node = listed_calls(self.module, statement.value)
        if node is None or not isinstance(target, ast.Name):
            return None
        each, call = node.generators[0], node.elt
        pairs = each.iter
        assert isinstance(call, ast.Call)
        given = self._assignment(call)
        if given is None:
            return None
        variable, value = given
        names = [one.id for one in _names(each.target)]
        zipped = isinstance(pairs, ast.Call) and self.names.qualname(pairs.func) == "builtins.zip"
        parts = [pairs]
        if zipped and isinstance(pairs, ast.Call):
            parts = [] if pairs.keywords else pairs.args
        if variable.id not in names or len(names) != len(parts) or len(parts) != 1 + zipped:
            return None
        if zipped and self.scope.towers is not None:
            raise Refused(self.module, statement, "variables are copied beside the towers")
        left, *others = (self._listed(one, statement) for one in parts)
        right = others[0] if others else left
        if left is None or right is None or (not others and left.slots):
            text = "which variables get the values of which cannot be determined"
            raise Refused(self.module, pairs, text, _ADVICE)
        if others:
            left, right = _cut(left, right), _cut(right, left)
        self._check_value(value, names)
        changed, source = (left, right) if variable.id == names[0] else (right, left)
        if others:
            self._check_pairs(pairs, changed, source)
        elif len({*changed.variables}) != len(changed.variables):
            raise Refused(self.module, pairs, "a variable is limited twice", _ADVICE)
        self.takes[call] = (value,)
        for one in (*left.lists, *right.lists):
            if isinstance(one, ast.Call):
                self.takes[one] = ()
        self.state.only_binding(target)
        reads = tuple(dict.fromkeys((*changed.variables, *source.variables)))
        unit = Unit(statement, self.place, reads=reads, assigns=changed.variables)
        self.found.units[self.place] = unit
        self.found.copies[statement] = VariableCopy(
            node, variable, value, each.target, pairs, {**left.lists, **right.lists}
        )
        self.meanings[target.id] = unit
        return Role.UNIT

    def _assignment(self, call: ast.Call) -> tuple[ast.Name, ast.expr] | None:
        """`tf.assign(t, e)`, `t.assign(e)`: the variable, and what it gets."""
        given = [*call.args, *(k.value for k in call.keywords if k.arg in ("ref", "value"))]
        if len(given) != len(call.args) + len(call.keywords):
            return None
        if name_of(self.module, call) != "assign":
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "assign":
                return None
            given.insert(0, func.value)
        variable = given[0] if len(given) == 2 else None
        if call.keywords and [k.arg for k in call.keywords] not in (["value"], ["ref", "value"]):
            return None
        return (variable, given[1]) if isinstance(variable, ast.Name) else None

    def _listed(self, node: ast.expr, statement: ast.stmt) -> _Listed | None:
        """The variables that an expression lists."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._listed(node.left, statement), self._listed(node.right, statement)
            if left is None or right is None or left.slots:
                return None
            both = (*left.variables, *right.variables)
            return _Listed(both, right.slots, {**left.lists, **right.lists})
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(meaning, GlobalVariables):
            return _Listed(meaning.variables, meaning.slots, {node: meaning.variables})
        if isinstance(meaning, AllVariables) and meaning.chosen:
            return _Listed(meaning.variables, False, {node: meaning.variables})
        told = self.variables.told(node)
        if told:
            listed = tuple(one for some in told for one in (some.listed or (some,)))
            return _Listed(listed, False, {})
        word = self.scoped.word(node)
        if word is not None:
            found = self.scoped.below(node, word)
            return _Listed(found, False, {node: found})
        word = self.scoped.global_word(node)
        if word is not None:
            scoped = self.scoped.every_below(node, word)
            return _Listed(scoped.variables, scoped.slots, {node: scoped.variables})
        return None

    def _check_value(self, value: ast.expr, names: Sequence[str]) -> None:
        """What a variable gets is made of it and its source, and of Python's own values.

        Raises:
            Refused: it may be made of something else.
        """
        for part in walk(value):
            plain = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
            if isinstance(part, (*plain, ast.expr_context, ast.Attribute)):
                if not isinstance(part, ast.Name) or part.id in names:
                    continue
                if not isinstance(self.meanings.get(part.id), GRAPH):
                    continue
            elif isinstance(part, ast.Call) and name_of(self.module, part) in COMPUTES:
                continue
            text = "what the variables get is more than values of others"
            raise Refused(self.module, part, text, _ADVICE)

    def _check_pairs(self, node: ast.AST, changed: _Listed, source: _Listed) -> None:
        """Each variable has one of its own shape beside it, in TF2 as in TF1.

        Raises:
            Refused: that is not seen.
        """
        text = "which variables get the values of which cannot be determined"
        one, other = changed.variables, source.variables
        alike = len(one) == len(other) and all(map(self._is_alike, one, other))
        if not alike or (changed.slots and source.slots):
            raise Refused(self.module, node, text, _ADVICE)
        if len({*one, *other}) != len(one) + len(other):
            raise Refused(self.module, node, "a variable gets a value, and gives its own", _ADVICE)

    def _is_alike(self, one: Variables, other: Variables) -> bool:
        """Whether two statements make as many variables, in the same order."""
        if one.collected is not other.collected:
            return False
        if one.collected is not Collected.LAYER:
            return one.collected is Collected.ONE
        first, second = self._layer(one), self._layer(other)
        if first.normalizes or second.normalizes:
            return False
        if first.found.helper is not None or second.found.helper is not None:
            helpers = [o.found.helper.function.node for o in (first, second) if o.found.helper]
            return len(helpers) == 2 and helpers[0] is helpers[1]
        layers = first.found.layer, second.found.layer
        if not all(type(layer) is Layer for layer in layers):
            return False
        kinds = [(layer.kind, _has_bias(layer)) for layer in layers if isinstance(layer, Layer)]
        return kinds[0] == kinds[1]

    def _layer(self, variables: Variables) -> MadeLayer:
        return next(m for m in self.found.layers.values() if m.variables is variables)

    def finish(self) -> None:
        """Layers have their variables before a step copies them: where some step applies them.

        Raises:
            Refused: none does.
        """
        built = {
            variables
            for update in self.found.updates
            for unit in closure([update.unit])
            for variables in unit.reads
        }
        applied = {
            variables
            for step in self.found.steps
            for unit in step.units
            if unit.node not in self.found.copies
            for variables in unit.reads
        }
        for node in map(_value, self.found.exports):
            for variables in self.found.collected.get(node, ()) if node is not None else ():
                of_layer = variables.collected is Collected.LAYER
                if of_layer and variables in applied and variables not in built:
                    text = "the variables of a layer are listed that no training step applies"
                    raise Refused(self.module, node or variables.unit, text)
        if self.scope.towers is None:
            built |= applied
        for unit in self.found.units.values():
            for variables in unit.reads if unit.node in self.found.copies else ():
                if variables.collected is Collected.LAYER and variables not in built:
                    text = "variables are copied of a layer that no step applies"
                    raise Refused(self.module, unit.node, text)


def _value(export: ast.stmt) -> ast.expr | None:
    """What a statement gives an object."""
    return export.value if isinstance(export, ast.Assign) else None


def listed_calls(module: Module, node: ast.expr) -> ast.ListComp | None:
    """`[t.assign(e) for t, e in pairs]`, or `tf.group(*[...])` of it; None for anything else."""
    if isinstance(node, ast.Call) and name_of(module, node) == "group":
        one = node.args[0] if len(node.args) == 1 and not node.keywords else None
        return listed_calls(module, one.value) if isinstance(one, ast.Starred) else None
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return None
    fits = not node.generators[0].ifs and isinstance(node.elt, ast.Call)
    return node if fits else None


def _cut(one: _Listed, other: _Listed) -> _Listed:
    """A list as far as `zip` goes through it, where another one, which has no slots, ends."""
    end = len(other.variables)
    if other.slots or len(one.variables) <= end:
        return one
    kept = one.variables[:end]
    lists = {n: tuple(v for v in given if v in kept) for n, given in one.lists.items()}
    return _Listed(kept, False, lists)


def _names(node: ast.expr) -> list[ast.Name]:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    return [one for one in parts if isinstance(one, ast.Name)]


def _has_bias(layer: Layer) -> bool:
    given = layer.arguments.get("use_bias")
    return given is None or is_none(given) or constant(given) is not False
