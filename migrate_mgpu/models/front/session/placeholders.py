"""Placeholders: what they are fed, and which of them have one value in a step."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import NamedArguments, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.removal import is_inside
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.host_objects import Dataset
from migrate_mgpu.models.front.session.program import GRAPH, Role
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.front.towers.loop import COUNTS
from migrate_mgpu.models.ir import Placeholder

PLACEHOLDERS = ("placeholder", "placeholder_with_default", "sparse_placeholder")
# What a placeholder may be where it is not fed: its parameters, and its type if nothing tells it.
DEFAULTS = {
    "zeros": (("shape", "dtype", "name"), "float32"),
    "ones": (("shape", "dtype", "name"), "float32"),
    "count_nonzero": (("input_tensor", "axis", "keepdims", "dtype", "name"), "int64"),
}
_GIVEN = ("dtype", "shape", "name")
_DEFAULT = ("input", "shape", "name")
_DROPOUT = ("x", "keep_prob", "noise_shape", "seed", "name", "rate")
# What a Python number does not change: division makes a float64 of an int32.
_FLOATS = ("float16", "float32", "float64", "float")
_KEEP_TYPE = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_TYPES = {bool: "bool", int: "int32", float: "float32"}


class PlaceholderReader(StatementReader):
    """Reads statements that make placeholders."""

    def read(self, statement: ast.Assign, target: ast.Name, call: ast.Call) -> Role:
        """`x = tf.placeholder(...)`; ``call`` may be a part of what `x` takes the place of."""
        name = name_of(self.module, call)
        default = None
        if name == "sparse_placeholder" and self.scope.towers is not None:
            raise Refused(self.module, call, "a sparse tensor is fed to towers")
        if name != "placeholder_with_default":
            given = dict(NamedArguments(self.module, call, _GIVEN).rest)
            if "dtype" not in given:
                raise Refused(self.module, call, "this placeholder has no type")
        else:
            given = dict(NamedArguments(self.module, call, _DEFAULT).rest)
            default = given.pop("input", None)
            known = type(constant(default)) if default is not None else None
            if known in _TYPES:
                given["dtype"] = ast.Constant(_TYPES[known])
            else:
                given["dtype"] = self._computed(default or call)
        if not self._is_free_later(target):
            self.state.only_binding(target)
        for described in given.values() if name == "placeholder_with_default" else (call,):
            self.state.host_only(described, "the shape of a placeholder")
        self._described(call)
        made = Placeholder(
            name, self.module, call, given, target.id, statement, self.place, default
        )
        self.found.placeholders.append(made)
        self.found.made.append(made)
        self.meanings[target.id] = made
        return Role.PLACEHOLDER

    def _computed(self, default: ast.expr) -> ast.expr:
        """The type of a default that follows from other placeholders, and from Python's values.

        Raises:
            Refused: it follows from more than that, or has another form.
        """
        name = name_of(self.module, default) if isinstance(default, ast.Call) else ""
        if name not in DEFAULTS:
            text = "the default of this placeholder is not a literal number"
            raise Refused(self.module, default, text)
        if self.scope.towers is not None:
            raise Refused(self.module, default, "what towers take may be fed or computed")
        assert isinstance(default, ast.Call)
        parts = self.expressions.read(default)
        for one in parts.names:
            meaning = self.runs.meaning(one)
            fed = isinstance(meaning, Placeholder) and meaning.default is meaning.count is None
            if isinstance(meaning, GRAPH) and not fed:
                text = f"the default of this placeholder follows from `{one.id}`"
                raise Refused(self.module, one, text, "compute it from what is fed")
            if not isinstance(meaning, GRAPH) and self.names.only_binding(one) is None:
                text = f"`{one.id}`, of which the default of a placeholder is made, has two values"
                raise Refused(self.module, one, text, "give the two different names")
        parameters, dtype = DEFAULTS[name]
        return by_parameter(default, parameters).get("dtype", ast.Constant(dtype))

    def _described(self, call: ast.Call) -> None:
        """`tf.placeholder(data.element_spec[0].dtype)`: what a dataset tells of its elements."""
        for part in walk(call):
            value = part.value if isinstance(part, ast.Attribute) else None
            if isinstance(part, ast.Attribute) and part.attr == "element_spec":
                if isinstance(value, ast.Name) and isinstance(self.runs.meaning(value), Dataset):
                    self.runs.known.add(value)

    def listed(self, statement: ast.Assign, target: ast.Name) -> Role | None:
        """`xs = [tf.placeholder(tf.float32, [None, 3]) for _ in range(n)]`, one for each tower.

        None where it is something else.

        Raises:
            Refused: they are not alike.
        """
        made = list_of_placeholders(self.module, statement.value)
        if made is None:
            return None
        call, loop, count = made
        given = dict(NamedArguments(self.module, call, _GIVEN).rest)
        given.pop("name", None)
        if "dtype" not in given:
            raise Refused(self.module, call, "this placeholder has no type")
        for value in given.values():
            for name in (part for part in walk(value) if isinstance(part, ast.Name)):
                if name.id == loop.id:
                    raise Refused(self.module, name, "placeholders of a list that are not alike")
        self.state.only_binding(target)
        self.state.host_only(call, "the shape of a placeholder")
        self.state.host_only(count, "the number of placeholders")
        found = Placeholder(
            "placeholder", self.module, call, given, target.id, statement, self.place, count=count
        )
        self.found.placeholders.append(found)
        self.found.made.append(found)
        self.meanings[target.id] = found
        return Role.PLACEHOLDER

    def taken_place_of(self, value: ast.expr) -> ast.Call | None:
        """The placeholder of `x = tf.placeholder(tf.float32, shape) / 255.`, which nothing names.

        Nothing can feed it: runs feed `x`, which takes the place of what is computed, and has the
        placeholder's type and shape. One that does not feed what it needs is an error in TF1.
        """
        if isinstance(value, ast.Call):
            if name_of(self.module, value) != "placeholder":
                return None
            given = NamedArguments(self.module, value, _GIVEN)
            dtype = given.get("dtype")
            known = constant(dtype) or name_of(self.module, dtype)
            return value if known in _FLOATS and given.get("name") is None else None
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, _KEEP_TYPE):
            return None
        left, right = value.left, value.right
        if type(constant(right)) in (int, float):
            return self.taken_place_of(left)
        return self.taken_place_of(right) if type(constant(left)) in (int, float) else None

    def _is_free_later(self, target: ast.Name) -> bool:
        """Whether a name is Python's own again, once nothing stands for the placeholder any more.

        `for x, y in results:`, at the end of a script: steps have the placeholder as a parameter.
        """
        bindings = self.names.bindings_of(target)
        places = {entry.statement: place for place, entry in enumerate(self.scope.entries)}
        again: list[int] = []
        for binding in bindings:
            if binding.node is target:
                continue
            around = [binding.node, *self.names.ancestors(binding.node)]
            places_of = [
                places[one] for one in around if isinstance(one, ast.stmt) and one in places
            ]
            if not places_of or self.scope.resets:
                return False
            again.append(places_of[0])
        if not again or min(again) <= self.place:
            return False
        first = self.scope.entries[min(again)]
        for mention in self.names.mentions(target.id, self.home):
            if not isinstance(mention.ctx, ast.Load):
                continue
            if not self.runs.is_home(mention) or is_inside(self.module, mention, {first.statement}):
                return False
        return not first.opens

    def find_numbers(self) -> None:
        """Which placeholders without a shape are a number, as Keras 3 wants to know.

        Those that every run feeds a number, written out, or that only a number can be: a rate.
        """
        rates = [update.rate for update in self.found.updates if update.rate is not None]
        names = {part.id for rate in rates for part in walk(rate) if isinstance(part, ast.Name)}
        shared = self.state.shared
        for one in self.found.placeholders:
            if shared is not None and one.name in shared.numbers | shared.others:
                if one.name not in shared.others and is_unshaped(one):
                    self.found.numbers.add(one)
            elif (
                one.count is None
                and not one.sparse
                and is_unshaped(one)
                and (one.name in names or self._is_fed_numbers(one) or self._is_dropped_by(one))
            ):
                self.found.numbers.add(one)

    def _is_fed_numbers(self, placeholder: Placeholder) -> bool:
        values = []
        for key, fed in self.found.fed.items():
            given = self.names.parents[key]
            if fed is placeholder and isinstance(given, ast.Dict):
                values.append(constant(given.values[given.keys.index(key)]))
            elif fed is placeholder and isinstance(given, ast.Subscript):
                statement = self.names.statement(key)
                assert isinstance(statement, ast.Assign)
                values.append(constant(statement.value))
            elif fed is placeholder:
                values.append(None)  # one of several, `dict(zip([x, y], batch))`
        return bool(values) and all(isinstance(value, (bool, int, float)) for value in values)

    def _is_dropped_by(self, placeholder: Placeholder) -> bool:
        """Whether it is the rate of a dropout, here or in a function that it is given to."""
        for use in ValueFlow(self.graph).uses(self.module, placeholder.node):
            parent = use.module.names.parents.get(use.node) if use.node is not None else None
            call = use.module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
            if isinstance(call, ast.Call) and name_of(use.module, call) == "nn.dropout":
                given = NamedArguments(use.module, call, _DROPOUT)
                if use.node in (given.get("keep_prob"), given.get("rate")):
                    return True
        return False


def list_of_placeholders(
    module: Module, value: ast.expr
) -> tuple[ast.Call, ast.Name, ast.expr] | None:
    """What makes each placeholder of a list, the name that counts them, and how many there are."""
    if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
        return None
    loop, call = value.generators[0], value.elt
    over = loop.iter
    if not isinstance(call, ast.Call) or name_of(module, call) != "placeholder" or loop.ifs:
        return None
    if not isinstance(loop.target, ast.Name) or not isinstance(over, ast.Call):
        return None
    if module.names.qualname(over.func) not in COUNTS or len(over.args) != 1 or over.keywords:
        return None
    return call, loop.target, over.args[0]


def is_unshaped(placeholder: Placeholder) -> bool:
    """Whether nothing is written of a placeholder's shape."""
    shape = placeholder.arguments.get("shape")
    return shape is None or is_none(shape)
