"""Gradients that several runs add up, before an optimizer applies the sums.

sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
begin = [s.assign(tf.zeros_like(s)) for s in sums]
pairs = optimizer.compute_gradients(loss, variables)
add = [sums[i].assign_add(pair[0]) for i, pair in enumerate(pairs)]
train = optimizer.apply_gradients([(sums[i], pair[1]) for i, pair in enumerate(pairs)])
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import NamedArguments
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.host_objects import VariableCopy
from migrate_mgpu.models.front.session.program import AllVariables, Gradients, Holds, Role
from migrate_mgpu.models.front.session.state import Reading, StatementReader
from migrate_mgpu.models.front.session.variable_copies import listed_calls
from migrate_mgpu.models.ir import Collected, GradientSums, ShownGradients, Unit, Variables

_MADE = ("initial_value", "trainable")
_ZEROS = {"zeros_like": "tensor", "zeros": "shape"}
_OF_VARIABLE = ("initialized_value", "read_value", "value", "get_shape", "shape", "as_list")
_ADVICE = "apply the sums as they are, or divided by their number"


class _Part(enum.Enum):
    SUM = enum.auto()
    GRADIENT = enum.auto()
    VARIABLE = enum.auto()


@record()
class _Loop:
    """What the names in a comprehension stand for, as they are written."""

    parts: dict[str, _Part]
    sums: list[Variables]
    gradients: list[Gradients]
    every: list[AllVariables]

    def is_a(self, node: ast.expr, part: _Part) -> bool:
        return self.parts.get(ast.unparse(node)) is part


class GradientSumReader(StatementReader):
    """Reads lists of variables for sums, what adds gradients to them, and what is applied."""

    def __init__(
        self,
        state: Reading,
        every: Callable[[ast.expr], AllVariables | None],
        is_fixed: Callable[[ast.expr], bool],
    ) -> None:
        """``every`` tells which variables `tf.trainable_variables()` is, perhaps by a name.

        ``is_fixed`` says whether an expression is Python's own, and not of the graph.
        """
        super().__init__(state)
        self.every = every
        self.is_fixed = is_fixed
        # Learns which expressions calls that assign take in.
        self.takes: dict[ast.Call, tuple[ast.expr, ...]] = {}
        self._made: dict[Variables, AllVariables] = {}  # sums, and what they are of
        self._added: dict[Variables, Gradients] = {}
        self._applied: set[Variables] = set()

    def made(self, statement: ast.Assign, target: ast.expr) -> Role | None:
        """`sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]`

        Raises:
            Refused: there are towers.
        """
        node = statement.value
        if not isinstance(node, ast.ListComp) or not isinstance(target, ast.Name):
            return None
        each = node.generators[0]
        if len(node.generators) > 1 or each.ifs or not isinstance(each.target, ast.Name):
            return None
        every = self.every(each.iter) if self._is_zeros(node.elt, each.target.id) else None
        if every is None:
            return None
        if self.scope.towers is not None:
            raise Refused(self.module, statement, "gradients are added up beside towers")
        self.state.only_binding(target)
        sums = Variables(target.id, statement, Collected.ITEMS, (), trainable=False)
        self.meanings[target.id] = sums
        self._made[sums] = every
        return Role.GONE

    def _is_zeros(self, node: ast.expr, name: str) -> bool:
        """Whether a variable begins with zeros, is not trained, and has the shape of another."""
        if not isinstance(node, ast.Call) or name_of(self.module, node) != "Variable":
            return False
        given = NamedArguments(self.module, node, _MADE).rest
        value = given.get("initial_value")
        if not given.keys() <= {*_MADE, "name"} or not isinstance(value, ast.Call):
            return False
        kind = name_of(self.module, value)
        if constant(given.get("trainable")) is not False or kind not in _ZEROS:
            return False
        zeros = NamedArguments(self.module, value, (_ZEROS[kind],)).rest
        source = zeros.get(_ZEROS[kind])
        while isinstance(source, (ast.Call, ast.Attribute)):
            if isinstance(source, ast.Call) and (source.args or source.keywords):
                return False
            if isinstance(source, ast.Attribute) and source.attr not in _OF_VARIABLE:
                return False
            source = source.func if isinstance(source, ast.Call) else source.value
        return len(zeros) == 1 and isinstance(source, ast.Name) and source.id == name

    def added(self, statement: ast.Assign, target: ast.expr) -> Role | None:
        """`add = [s.assign_add(g) for s, (g, _) in zip(sums, pairs)]`; None for anything else.

        Raises:
            Refused: the gradients are limited, or two steps add some.
        """
        node = listed_calls(self.module, statement.value)
        loop = self._loop(node) if node is not None else None
        call = node.elt if node is not None else None
        if loop is None or node is None or not isinstance(target, ast.Name):
            return None
        if not isinstance(call, ast.Call) or call.keywords:
            return None
        parts, func = [*call.args], call.func
        if name_of(self.module, call) != "assign_add":  # `total.assign_add(gradient)`
            if not isinstance(func, ast.Attribute) or func.attr != "assign_add":
                return None
            parts.insert(0, func.value)
        if len(parts) != 2 or not loop.is_a(parts[0], _Part.SUM):
            return None
        added = self._share(parts[1])
        if not loop.is_a(added, _Part.GRADIENT) or len(loop.gradients) != 1:
            return None
        (sums,), (gradients,) = loop.sums, loop.gradients
        if gradients.clips or gradients.upstream is not None or sums in self._added:
            text = "what happens to the gradients before they are added up cannot be analyzed"
            raise Refused(self.module, statement, text, _ADVICE)
        self.state.only_binding(target)
        shown = ShownGradients(statement, self.place, (gradients.unit,), computed=gradients.node)
        unit = Unit(statement, self.place, (shown,), reads=(sums,), assigns=(sums,))
        self.found.units[self.place] = unit
        self._added[sums] = gradients
        share = parts[1]
        self.takes[call] = (share.right,) if isinstance(share, ast.BinOp) else ()
        through = node.generators[0].target
        self.found.copies[statement] = VariableCopy(
            node, ast.Name(sums.name), share, through, node, {}, adds=True
        )
        self.meanings[target.id] = unit
        return Role.UNIT

    def _share(self, node: ast.expr) -> ast.expr:
        """What is divided by a number of Python's own, `gradient / PARTS`, or the whole."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return node.left if self.is_fixed(node.right) else node
        return node

    def applied(self, pairs: ast.expr) -> tuple[GradientSums, Gradients] | None:
        """What `[(sums[i], pair[1]) for i, pair in enumerate(pairs)]` applies, or a `zip`.

        Raises:
            Refused: nothing is added to these sums, or they are of other variables.
        """
        divisor = None
        if isinstance(pairs, ast.Call):
            loop = self._zipped(pairs)
        else:
            loop = self._loop(pairs)
            element = pairs.elt if isinstance(pairs, ast.ListComp) else None
            if loop is None or not isinstance(element, (ast.Tuple, ast.List)):
                return None
            if len(element.elts) != 2 or not loop.is_a(element.elts[1], _Part.VARIABLE):
                return None
            given = self._share(element.elts[0])
            if isinstance(element.elts[0], ast.BinOp) and given is not element.elts[0]:
                divisor = element.elts[0].right
            if not loop.is_a(given, _Part.SUM):
                return None
        if loop is None or len(loop.sums) != 1:
            return None
        sums = loop.sums[0]
        gradients = self._added.get(sums)
        every = {v for one in loop.every for v in one.variables}
        same = all(one is gradients for one in loop.gradients)
        if gradients is None or not same or (every and every != {*self._made[sums].variables}):
            text = "the sums that are applied cannot be recognized as those of gradients"
            raise Refused(self.module, pairs, text, _ADVICE)
        self._applied.add(sums)
        return GradientSums(sums, divisor), gradients

    def check_of(self, sums: GradientSums, trained: tuple[Variables, ...], node: ast.AST) -> None:
        """Each variable that is trained has a sum.

        Raises:
            Refused: others have, or are.
        """
        if {*trained} != {*self._made[sums.variables].variables}:
            text = "the sums of gradients are not of the variables that are trained"
            raise Refused(self.module, node, text)

    def finish(self) -> None:
        """What a program sums up, it applies.

        Raises:
            Refused: it does not, or savers may save the sums.
        """
        for sums in self._made:
            if sums not in self._applied:
                text = f"`{sums.name}`, sums of gradients, are not applied"
                raise Refused(self.module, sums.unit, text)
            for saver in self.found.savers:
                text = "a saver may save the sums of gradients"
                raise Refused(self.module, saver.statement, text, "leave them to the program")

    # -- loops ------------------------------------------------------------------------------

    def _zipped(self, call: ast.Call) -> _Loop | None:
        """`zip(sums, variables)`"""
        if self.names.qualname(call.func) != "builtins.zip" or len(call.args) != 2:
            return None
        loop = _Loop({}, [], [], [])
        for node, text, wanted in zip(call.args, "sv", (_Part.SUM, _Part.VARIABLE)):
            if not self._take(loop, ast.Name(text), node):
                return None
            if loop.parts.get(text) is not wanted:
                return None
        return loop

    def _loop(self, node: ast.expr) -> _Loop | None:
        """What a comprehension goes through, if that has to do with sums of gradients."""
        if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
            return None
        each = node.generators[0]
        if each.ifs:
            return None
        loop = _Loop({}, [], [], [])
        name = self.names.qualname(each.iter.func) if isinstance(each.iter, ast.Call) else None
        targets: list[ast.expr] = [each.target]
        through: list[ast.expr] = [each.iter]
        if isinstance(each.iter, ast.Call) and name in ("builtins.enumerate", "builtins.zip"):
            if not isinstance(each.target, (ast.Tuple, ast.List)) or each.iter.keywords:
                return None
            targets, through = each.target.elts, each.iter.args
            if name == "builtins.enumerate":
                index, *targets = targets
                for sums in self._made:
                    indexed = f"{sums.name}[{ast.unparse(index)}]"
                    if any(ast.unparse(one) == indexed for one in ast.walk(node.elt)):
                        loop.parts[indexed] = _Part.SUM
                        loop.sums.append(sums)
        if len(targets) != len(through):
            return None
        taken = [self._take(loop, *both) for both in zip(targets, through)]
        return loop if all(taken) and len(loop.sums) == 1 else None

    def _take(self, loop: _Loop, target: ast.expr, node: ast.expr) -> bool:
        """Tell a loop what a target stands for, of what it goes through."""
        meaning = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        text = ast.unparse(target)
        if isinstance(meaning, Variables) and meaning in self._made:
            loop.parts[text] = _Part.SUM
            loop.sums.append(meaning)
            return isinstance(target, ast.Name)
        if isinstance(meaning, Gradients) and meaning.holds is Holds.VALUES:
            loop.parts[text] = _Part.GRADIENT
            loop.gradients.append(meaning)
            return isinstance(target, ast.Name)
        if isinstance(meaning, Gradients) and meaning.holds is Holds.PAIRS:
            names = [f"{text}[0]", f"{text}[1]"]
            if isinstance(target, (ast.Tuple, ast.List)):
                names = [ast.unparse(one) for one in target.elts]
            loop.parts.update(zip(names, (_Part.GRADIENT, _Part.VARIABLE)))
            loop.gradients.append(meaning)
            return len(names) == 2
        every = self.every(node)
        if every is None:
            return False
        loop.parts[text] = _Part.VARIABLE
        loop.every.append(every)
        return isinstance(target, ast.Name)
