"""Gradients that a program takes apart: computed, clipped, and applied by an optimizer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.session.program import (
    Differentiated,
    GradientNorm,
    Gradients,
    Holds,
    Meaning,
)
from migrate_mgpu.models.ir import ClippedBy, GradientClip, OptimizerChoice, Placeholder, Unit

# Where gradients are computed, and how they are added up.
COMPUTING = ("gate_gradients", "aggregation_method", "colocate_gradients_with_ops")
_COMPUTE = ("loss", "var_list", "gate_gradients", "aggregation_method",
            "colocate_gradients_with_ops", "grad_loss")  # fmt: skip
_GRADIENTS = ("ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops", "gate_gradients",
              "aggregation_method", "stop_gradients")  # fmt: skip
_CLIPS = {
    "clip_by_value": (ClippedBy.VALUE, ("t", "clip_value_min", "clip_value_max", "name")),
    "clip_by_norm": (ClippedBy.NORM, ("t", "clip_norm", "axes", "name")),
}
_NOISE = ("random_normal", "random_uniform", "truncated_normal")
_GLOBAL = ("t_list", "clip_norm", "use_norm", "name")
_ADVICE = "clip them by tf.clip_by_global_norm, tf.clip_by_norm or tf.clip_by_value only"


def check_gates(module: Module, value: ast.expr | None) -> None:
    """Gradients that are not waited for: TF1 may move a variable while others still need it.

    Raises:
        Refused: what `gate_gradients` is given may say so.
    """
    named = value.attr if isinstance(value, ast.Attribute) else ""
    if value is None or named in ("GATE_OP", "GATE_GRAPH") or constant(value) in (1, 2):
        return
    text = "with `gate_gradients` of 0 variables may move before all gradients are computed"
    raise Refused(module, value, text, "leave it out: TF2 computes them all before")


class GradientReader:
    """Reads expressions that give gradients, by what the names of the scope stand for."""

    def __init__(
        self,
        module: Module,
        meanings: Mapping[str, Meaning],
        is_fixed: Callable[[ast.expr], bool],
        combined: Callable[[ast.Call], Gradients | None],
        differentiated: Callable[[ast.Name, Unit], Differentiated],
        unit: Callable[[ast.expr], Unit],
        change: Callable[[ast.ListComp, ast.expr], Unit],
    ) -> None:
        """``is_fixed`` says whether an expression is Python's own, and not of the graph,

        ``combined`` what a call makes of the gradients of all towers, ``differentiated`` what
        is differentiated in each. ``unit`` reads an expression that computes,
        ``change`` one that a comprehension computes of each gradient.
        """
        self.unit = unit
        self.change = change
        self.differentiated = differentiated
        self.module = module
        self.meanings = meanings
        self.is_fixed = is_fixed
        self.combined = combined

    def assigned(
        self, target: ast.expr, value: ast.expr
    ) -> dict[str, Gradients | GradientNorm] | None:
        """What the names of an assignment stand for; None where it gives no gradients.

        Raises:
            Refused: more happens to the gradients.
        """
        if isinstance(target, ast.Name):
            told = self._told_norm(target.id, value)
            if told is not None:
                return told
            found = self.read(value)
            return None if found is None else {target.id: found}
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return None
        first, second = target.elts
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
            return None
        if isinstance(value, ast.Call):
            if self._is(value, "zip") and isinstance(value.args[0], ast.Starred):
                found = self.read(value.args[0].value)
                if found is None or found.holds is not Holds.PAIRS:
                    return None
                values = replaced(found, holds=Holds.VALUES)
                return {first.id: values, second.id: replaced(found, holds=Holds.VARIABLES)}
            if name_of(self.module, value) == "clip_by_global_norm":
                clipped = self._global(value)
                if clipped is None:
                    return None
                names = self.module.names
                mentions = names.mentions(second.id, names.scope_of_name[second])
                if not any(isinstance(one.ctx, ast.Load) for one in mentions):
                    return {first.id: clipped}
                clips = (*clipped.clips[:-1], replaced(clipped.clips[-1], norm=second.id))
                norm = GradientNorm(second.id)
                return {first.id: replaced(clipped, clips=clips), second.id: norm}
        return None

    def _told_norm(self, name: str, value: ast.expr) -> dict[str, Gradients | GradientNorm] | None:
        """`norm = tf.global_norm(gradients)`, or of `[g for g, v in pairs]`."""
        if not isinstance(value, ast.Call) or name_of(self.module, value) != "global_norm":
            return None
        given = self._arguments(value, ("t_list", "name"), ("t_list", "name")).get("t_list")
        if isinstance(given, ast.ListComp) and len(given.generators) == 1:
            loop = given.generators[0]
            target = loop.target
            first = target.elts[0] if isinstance(target, ast.Tuple) else None
            if not isinstance(first, ast.Name) or ast.unparse(given.elt) != first.id:
                return None
            if not all(ast.unparse(test) == f"{first.id} is not None" for test in loop.ifs):
                return None
            given = loop.iter
        found = self.read(given) if isinstance(given, ast.Name) else None
        if found is None or found.listed or found.holds is Holds.VARIABLES:
            return None
        assert isinstance(given, ast.Name)
        norm = GradientClip(ClippedBy.NOTHING, (), norm=name)
        return {given.id: replaced(found, clips=(*found.clips, norm)), name: GradientNorm(name)}

    def read(self, node: ast.expr) -> Gradients | None:
        """What an expression gives; None where that is no gradients.

        Raises:
            Refused: more happens to the gradients.
        """
        if isinstance(node, ast.Name):
            meaning = self.meanings.get(node.id)
            return meaning if isinstance(meaning, Gradients) else None
        if isinstance(node, ast.ListComp):
            return self._each(node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            if name_of(self.module, node.value) == "clip_by_global_norm":
                return self._global(node.value) if constant(node.slice) == 0 else None
        if not isinstance(node, ast.Call):
            return None
        if self._is(node, "list") and len(node.args) == 1:
            return self.read(node.args[0])
        if self._is(node, "zip") and len(node.args) == 2:
            return self._zipped(node)
        if name_of(self.module, node) == "gradients":
            allowed = ("ys", "xs", "grad_ys", "name", *COMPUTING)
            given = self._arguments(node, _GRADIENTS, allowed)
            if "ys" not in given or "xs" not in given:
                raise Refused(self.module, node, "what is differentiated cannot be determined")
            if self._is_tensors(given["xs"]):
                return None  # a part of the graph as any other
            found = self._of(node, given["ys"], given["xs"], Holds.VALUES)
            upstream = given.get("grad_ys")
            return found if upstream is None else self._begun(found, upstream)
        combined = self.combined(node)
        if combined is not None:
            return combined
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "compute_gradients":
            name = func.value.id if isinstance(func.value, ast.Name) else ""
            if not isinstance(self.meanings.get(name), OptimizerChoice):
                raise Refused(
                    self.module, node, "the optimizer of these gradients cannot be determined"
                )
            given = self._arguments(node, _COMPUTE, ("loss", "var_list", *COMPUTING))
            check_gates(self.module, given.get("gate_gradients"))
            if "loss" not in given:
                raise Refused(self.module, node, "what is differentiated cannot be determined")
            return self._of(node, given["loss"], given.get("var_list"), Holds.PAIRS, name)
        return None

    def _is_tensors(self, node: ast.expr) -> bool:
        """Whether something is differentiated by what is fed or computed, not by variables."""
        parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        return all(
            isinstance(part, ast.Name)
            and isinstance(self.meanings.get(part.id), (Placeholder, Unit))
            for part in parts
        )

    def _of(
        self,
        call: ast.Call,
        node: ast.expr,
        var_list: ast.expr | None,
        holds: Holds,
        optimizer: str = "",
    ) -> Gradients:
        """The gradients of a name, for it is computed elsewhere, with what it is here."""
        unit = self.meanings.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and isinstance(unit, Unit):
            one = self.differentiated(node, unit)
            assert isinstance(one.loss, ast.Name)
            return Gradients(
                call,
                one.loss,
                one.unit,
                var_list,
                holds,
                optimizer,
                combined=one.combined,
                mean=one.mean,
            )
        text = "what is differentiated is not assigned to a name"
        raise Refused(self.module, node, text, "assign it to a name that is used for nothing else")

    def _begun(self, found: Gradients, upstream: ast.expr) -> Gradients:
        """Gradients of what is said to have some itself: `tf.gradients(a, weights, -of_a)`

        Raises:
            Refused: those are in a list, or Python's own, or there are towers.
        """
        fixed = isinstance(upstream, (ast.List, ast.Tuple)) or self.is_fixed(upstream)
        if fixed or found.combined is not None or found.mean:
            raise Refused(self.module, upstream, "`tf.gradients` with `grad_ys`")
        meaning = self.meanings.get(upstream.id) if isinstance(upstream, ast.Name) else None
        unit = meaning if isinstance(meaning, Unit) else self.unit(upstream)
        return replaced(found, upstream=(upstream, unit))

    def _is(self, call: ast.Call, builtin: str) -> bool:
        """Whether one of Python's own functions is called, with something and without names."""
        own = self.module.names.qualname(call.func) == f"builtins.{builtin}"
        return own and bool(call.args) and not call.keywords

    def _arguments(
        self, call: ast.Call, parameters: tuple[str, ...], allowed: tuple[str, ...]
    ) -> dict[str, ast.expr]:
        given = NamedArguments(self.module, call, parameters).rest
        for name, value in given.items():
            if name not in allowed and not is_none(value):
                text = f"`{self.module.source.code(call.func)}` with `{name}`"
                raise Refused(self.module, value, text)
        return {name: value for name, value in given.items() if not is_none(value)}

    def _zipped(self, call: ast.Call) -> Gradients | None:
        """`zip(gradients, variables)`: the same variables, in the same order."""
        values, variables = call.args
        found = self.read(values)
        if found is None:
            return None
        known = self.read(variables)
        if known is not None and known.holds is Holds.VARIABLES:
            same = known.node is found.node
        else:
            same = found.var_list is not None and ast.dump(found.var_list) == ast.dump(variables)
            # Variables that are made in between come last, and get none.
            every = name_of(self.module, variables) == "trainable_variables"
            same = same and (every or isinstance(variables, ast.Name))
        if found.holds is not Holds.VALUES or not same:
            text = "these cannot be recognized as the gradients of these variables"
            raise Refused(self.module, call, text)
        return replaced(found, holds=Holds.PAIRS)

    def _global(self, call: ast.Call) -> Gradients | None:
        """`tf.clip_by_global_norm(gradients, 5.0)`, of which only the gradients are used."""
        given = self._arguments(call, _GLOBAL, ("t_list", "clip_norm", "use_norm"))
        found = self.read(given["t_list"]) if "t_list" in given else None
        if found is None:
            return None
        norm = given.pop("use_norm", None)
        last = found.clips[-1] if found.clips else None
        if norm is not None and not (
            last is not None
            and last.by is ClippedBy.NOTHING
            and isinstance(norm, ast.Name)
            and norm.id == last.norm
        ):
            text = "`tf.clip_by_global_norm` with a norm that is not that of its gradients"
            raise Refused(self.module, call, text)
        if found.holds is not Holds.VALUES or "clip_norm" not in given:
            raise Refused(self.module, call, "what is clipped here cannot be determined", _ADVICE)
        return self._clipped(found, ClippedBy.GLOBAL_NORM, given, "")

    def clipped(
        self, call: ast.Call, loss: ast.expr, var_list: ast.expr | None, limit: ast.expr
    ) -> Gradients:
        """The gradients of a call that clips them all by their norm, and applies them."""
        found = self._of(call, loss, var_list, Holds.PAIRS)
        return self._clipped(found, ClippedBy.GLOBAL_NORM, {"clip_norm": limit}, "")

    def _each(self, node: ast.ListComp) -> Gradients | None:
        """`[(tf.clip_by_norm(g, 5.0), v) for g, v in pairs]`, or of the gradients alone."""
        loop = node.generators[0]
        found = self.read(loop.iter)
        if found is None:
            return None
        refused = Refused(
            self.module, node, "what happens to the gradients here cannot be analyzed", _ADVICE
        )
        if len(node.generators) != 1:
            raise refused
        pairs = found.holds is Holds.PAIRS
        names = loop.target.elts if pairs and isinstance(loop.target, ast.Tuple) else [loop.target]
        if len(names) != 1 + pairs or not all(isinstance(one, ast.Name) for one in names):
            raise refused
        gradient = names[0].id  # type: ignore[attr-defined]
        element = node.elt
        if pairs:
            if not isinstance(element, (ast.Tuple, ast.List)) or len(element.elts) != 2:
                raise refused
            element, variable = element.elts
            if ast.unparse(variable) != ast.unparse(names[1]):
                raise refused
        if not all(ast.unparse(test) == f"{gradient} is not None" for test in loop.ifs):
            raise refused
        name = name_of(self.module, element) if isinstance(element, ast.Call) else ""
        if name not in _CLIPS and found.holds is not Holds.VARIABLES and (pairs or not loop.ifs):
            own = ast.unparse(names[1]) if pairs else ""
            return self._changed(found, node, element, gradient, own)
        if name not in _CLIPS or found.holds is Holds.VARIABLES or (loop.ifs and not pairs):
            raise refused
        assert isinstance(element, ast.Call)
        by, parameters = _CLIPS[name]
        allowed = tuple(name for name in parameters if name not in ("axes", "name"))
        given = self._arguments(element, parameters, allowed)
        clipped = given.get("t")
        if not isinstance(clipped, ast.Name) or clipped.id != gradient:
            raise refused
        return self._clipped(found, by, given, gradient)

    def _changed(
        self, found: Gradients, loop: ast.ListComp, element: ast.expr, gradient: str, variable: str
    ) -> Gradients:
        """`[(g + tf.random_normal(g.get_shape(), stddev=0.1), v) for g, v in pairs]`

        What is computed of each gradient, of its variable's value, and of Python's own numbers.

        Raises:
            Refused: it takes more of the graph, or does more.
        """
        refused = Refused(
            self.module, element, "what happens to the gradients here cannot be analyzed", _ADVICE
        )
        calls = [part for part in walk(element) if isinstance(part, ast.Call)]
        drawn = [one for one in calls if name_of(self.module, one) in _NOISE]
        shapes = [one for one in calls if _is_shape(one, (gradient, variable))]
        names = {name_of(self.module, one) for one in calls if one not in (*drawn, *shapes)}
        words = _words(element)
        takes = any(isinstance(n, ast.Name) and n.id == gradient for n in walk(element))
        if not names <= COMPUTES or words is None or len(drawn) > 1 or not takes:
            raise refused
        if drawn and not _is_of_shape(self.module, drawn[0], (gradient, variable)):
            raise refused
        unit = self.change(loop, element)
        if unit.after or unit.feeds or unit.reads or unit.collects or unit.inputs:
            text = "what happens to the gradients is computed in the graph"
            raise Refused(self.module, element, text, "compute it in Python")
        change = GradientClip(
            ClippedBy.CHANGE,
            (),
            gradient,
            change=element,
            variable=variable,
            drawn=drawn[0] if drawn else None,
            words=words or (),
            unit=unit,
        )
        return replaced(found, clips=(*found.clips, change))

    def _clipped(
        self,
        found: Gradients,
        by: ClippedBy,
        given: Mapping[str, ast.expr],
        gradient: str,
    ) -> Gradients:
        for name, value in given.items():
            if name not in ("t", "t_list") and not self.is_fixed(value):
                text = "the limit of the gradients is computed in the graph"
                raise Refused(self.module, value, text)
        limits = tuple(v for name, v in given.items() if name not in ("t", "t_list"))
        return replaced(found, clips=(*found.clips, GradientClip(by, limits, gradient)))


def _words(node: ast.expr) -> tuple[str, ...] | None:
    """What names are asked for, `"bias" in v.name`; None where more is done with one."""
    asked = {part for part in walk(node) if isinstance(part, ast.Attribute) and part.attr == "name"}
    found: list[str] = []
    for test in walk(node):
        if isinstance(test, ast.Compare) and test.comparators[0] in asked:
            word, (operator, *more) = constant(test.left), test.ops
            if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(word, str) and not more:
                found.append(word)
    return tuple(found) if len(found) == len(asked) else None


def _is_shape(call: ast.Call, names: Sequence[str]) -> bool:
    """`g.get_shape()`"""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "get_shape" or call.args:
        return False
    return isinstance(func.value, ast.Name) and func.value.id in names


def _is_of_shape(module: Module, call: ast.Call, names: Sequence[str]) -> bool:
    """Whether what is drawn has the shape of a gradient, or of its variable, and reads no more."""
    shape = by_parameter(call, ("shape",)).get("shape")
    whole = [part for part in walk(call) if isinstance(part, ast.Name) and part.id in names]
    if shape is None or len(whole) != 1:
        return False
    if isinstance(shape, ast.Attribute) and shape.attr == "shape":
        return shape.value is whole[0]
    if not isinstance(shape, ast.Call):
        return False
    if _is_shape(shape, names):
        return True
    return name_of(module, shape) == "shape" and shape.args[:1] == whole and not shape.keywords
