"""Functions that make one gradient of those of all towers: what they compute, told by symbols."""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import Combined

_ADVICE = "average them as the cifar10 tutorial does, or by tf.add_n"
_REDUCE = ("input_tensor", "axis", "keepdims", "name", "reduction_indices", "keep_dims")


class _Is(enum.Enum):
    """What a value is, in a function that is given the gradients of all towers."""

    TOWERS = enum.auto()  # the argument: a list of pairs for each tower
    VARIABLES = enum.auto()  # `zip(*towers)`: for each variable the pairs of all towers
    PAIRS = enum.auto()  # those of one variable
    PAIR = enum.auto()  # one of them
    GRADIENT = enum.auto()  # one tower's gradient
    ROW = enum.auto()  # the same, with a dimension for the towers
    VARIABLE = enum.auto()
    EMPTY = enum.auto()
    GRADIENTS = enum.auto()  # a list of those of all towers
    ROWS = enum.auto()
    STACKED = enum.auto()  # a tensor of them
    COUNT = enum.auto()  # how many there are
    SHARE = enum.auto()  # one through that
    SUM = enum.auto()
    MEAN = enum.auto()
    SUM_PAIR = enum.auto()
    MEAN_PAIR = enum.auto()
    SUMS = enum.auto()  # a list of such pairs
    MEANS = enum.auto()


_APPENDED = {
    _Is.GRADIENT: _Is.GRADIENTS,
    _Is.ROW: _Is.ROWS,
    _Is.SUM_PAIR: _Is.SUMS,
    _Is.MEAN_PAIR: _Is.MEANS,
}
_ITEM = {_Is.TOWERS: None, _Is.VARIABLES: _Is.PAIRS, _Is.PAIRS: _Is.PAIR,
         _Is.GRADIENTS: _Is.GRADIENT, _Is.ROWS: _Is.ROW}  # fmt: skip
_COMBINED = {_Is.MEANS: Combined.MEAN, _Is.SUMS: Combined.SUM}
_SUMS = {_Is.MEAN: Combined.MEAN, _Is.SUM: Combined.SUM}


def read_average(function: Function, count: ast.expr | None) -> Combined:
    """What a function makes of the gradients of all towers, which are its one argument.

    ``count`` is how many towers there are, as their loop tells it.

    Raises:
        Refused: it cannot be determined, or it does more.
    """
    node = function.node
    arguments = node.args
    if len(function.parameters()) != 1 or arguments.vararg or arguments.kwonlyargs:
        raise Refused(function.module, node, f"`{function.name}` has other arguments", _ADVICE)
    reader = _Reader(function.module, {function.parameters()[0]: _Is.TOWERS}, count)
    returned = reader.block(node.body)
    if returned not in _COMBINED:
        text = f"what `{function.name}` makes of the gradients of all towers cannot be analyzed"
        raise Refused(function.module, node, text, _ADVICE)
    return _COMBINED[returned]


def read_sum(
    module: Module, node: ast.expr, names: Mapping[str, ast.expr | None], count: ast.expr | None
) -> tuple[Combined, bool, bool] | None:
    """What an expression makes of the losses of all towers; None where that cannot be analyzed.

    ``names`` are the list of them (None), and what else it mentions that is made of it. Told are
    also whether the values of all are put behind each other, and whether it is a mean of these.
    """
    for held in (_Is.GRADIENTS, _Is.ROWS):
        reader = _Reader(module, {}, count, whole=True)
        for name, value in names.items():
            one = held if value is None else reader.value(value)
            if one is not None:
                reader.values[name] = one
        found = _SUMS.get(reader.value(node) or _Is.EMPTY)
        if found is not None:
            return found, held is _Is.ROWS, reader.of_values
    return None


class _Reader:
    def __init__(
        self,
        module: Module,
        values: Mapping[str, _Is],
        count: ast.expr | None,
        whole: bool = False,
    ) -> None:
        """``whole``: of what all towers have, one number is made."""
        self.whole = whole
        self.of_values = False  # a mean is one of the values that towers have, not of the towers
        self.module = module
        self.values: dict[str, _Is] = dict(values)
        self.count = count

    def block(self, body: Sequence[ast.stmt]) -> _Is | None:
        """What is returned, once all statements are read.

        Raises:
            Refused: a statement is not understood.
        """
        returned: _Is | None = None
        for statement in body:
            if returned is not None or not self._statement(statement):
                if isinstance(statement, ast.Return) and statement.value is not None:
                    returned = self.value(statement.value)
                    if returned is not None:
                        continue
                text = "what happens to the gradients of all towers here cannot be analyzed"
                raise Refused(self.module, statement, text, _ADVICE)
        return returned

    def _statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Expr):
            if isinstance(statement.value, ast.Constant):
                return True
            return self._append(statement.value)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            value = self.value(statement.value)
            return value is not None and self._bind(statement.targets[0], value)
        if isinstance(statement, ast.For) and not statement.orelse:
            item = _ITEM.get(self.value(statement.iter) or _Is.EMPTY)
            if item is None or not self._bind(statement.target, item):
                return False
            return self.block(statement.body) is None
        if isinstance(statement, ast.If) and not statement.orelse:
            return self._skips(statement)
        if isinstance(statement, ast.If) and self._asks_sparse(statement.test):
            return self._both(statement)
        if isinstance(statement, ast.With):  # where it is computed
            return (
                all(
                    isinstance(item.context_expr, ast.Call)
                    and name_of(self.module, item.context_expr) in ("device", "name_scope")
                    for item in statement.items
                )
                and self.block(statement.body) is None
            )
        return isinstance(statement, ast.Pass)

    def _skips(self, statement: ast.If) -> bool:
        """`if g is None: continue`: a variable that no tower has a gradient for."""
        if self._asks_any(statement.test):  # `if grads:`
            return self.block(statement.body) is None
        if not self._asks_none(statement.test):
            return False
        if _is_not(statement.test):
            return self.block(statement.body) is None
        return len(statement.body) == 1 and isinstance(statement.body[0], ast.Continue)

    def _asks_sparse(self, node: ast.expr) -> bool:
        """`isinstance(g, tf.IndexedSlices)`"""
        if not isinstance(node, ast.Call) or len(node.args) != 2 or node.keywords:
            return False
        asked = self.module.names.qualname(node.func) == "builtins.isinstance"
        gradient = self.value(node.args[0]) is _Is.GRADIENT
        return asked and gradient and name_of(self.module, node.args[1]) == "IndexedSlices"

    def _both(self, statement: ast.If) -> bool:
        """Whether both arms of a condition compute the same."""
        other = _Reader(self.module, self.values, self.count, self.whole)
        ends = self.block(statement.body) is None and other.block(statement.orelse) is None
        return ends and self.values == other.values

    def _asks_none(self, node: ast.expr) -> bool:
        """`g is None`, `g is not None`, `grad_and_vars[0][0] is None`, `len(grads) == 0`"""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._asks_any(node.operand)  # `not grads`
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return False
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and is_none(node.comparators[0]):
            return self.value(node.left) is _Is.GRADIENT
        zero = constant(node.comparators[0]) == 0 and isinstance(node.ops[0], ast.Eq)
        return zero and self.value(node.left) is _Is.COUNT

    def _asks_any(self, node: ast.expr) -> bool:
        """`grads`, `len(grads)`, `len(grads) > 0`: whether a tower has a gradient."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            above = isinstance(node.ops[0], (ast.Gt, ast.NotEq))
            asks = above and constant(node.comparators[0]) == 0
            return asks and self.value(node.left) is _Is.COUNT
        if isinstance(node, ast.Call):
            return self.value(node) is _Is.COUNT
        return self.value(node) in (_Is.GRADIENTS, _Is.ROWS)

    def _append(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        owner = node.func.value
        if node.func.attr != "append" or not isinstance(owner, ast.Name) or len(node.args) != 1:
            return False
        made = _APPENDED.get(self.value(node.args[0]) or _Is.EMPTY)
        known = self.values.get(owner.id)
        if made is None or known not in (_Is.EMPTY, made):
            return False
        self.values[owner.id] = made
        return True

    def _bind(self, target: ast.expr, value: _Is) -> bool:
        if isinstance(target, ast.Name):
            self.values[target.id] = value
            return True
        if isinstance(target, ast.Tuple) and value is _Is.PAIR and len(target.elts) == 2:
            first, second = target.elts
            return self._bind(first, _Is.GRADIENT) and self._bind(second, _Is.VARIABLE)
        return False

    # -- expressions ----------------------------------------------------------------

    def value(self, node: ast.expr) -> _Is | None:
        """What an expression is; None where that cannot be determined."""
        if self._counts(node):
            return _Is.COUNT
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._display(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node)
        return self._call(node) if isinstance(node, ast.Call) else None

    def _counts(self, node: ast.expr) -> bool:
        """Whether an expression is how many towers there are, or a name for that."""
        told = self.count
        if isinstance(node, ast.Name) and node.id not in self.values and told is not None:
            known = node in self.module.names.scope_of_name
            value = self.module.names.only_value(node) if known else None
            if value is not None and ast.unparse(value) == ast.unparse(told):
                return True
        return told is not None and ast.unparse(node) == ast.unparse(told)

    def _display(self, node: ast.List | ast.Tuple) -> _Is | None:
        if not node.elts:
            return _Is.EMPTY if isinstance(node, ast.List) else None
        values = [self.value(one) for one in node.elts]
        if values == [_Is.MEAN, _Is.VARIABLE]:
            return _Is.MEAN_PAIR
        return _Is.SUM_PAIR if values == [_Is.SUM, _Is.VARIABLE] else None

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> _Is | None:
        if len(node.generators) != 1:
            return None
        loop = node.generators[0]
        item = _ITEM.get(self.value(loop.iter) or _Is.EMPTY)
        inner = _Reader(self.module, self.values, self.count)
        if item is None or not inner._bind(loop.target, item):
            return None
        if not all(inner._asks_none(test) and _is_not(test) for test in loop.ifs):
            return None
        return _APPENDED.get(inner.value(node.elt) or _Is.EMPTY)

    def _item(self, node: ast.Subscript) -> _Is | None:
        """`grad_and_vars[0][1]`: which of the towers does not matter for the variable."""
        whole, index = self.value(node.value), constant(node.slice)
        if whole is _Is.PAIRS and index == 0:
            return _Is.PAIR
        if whole is _Is.PAIR and index in (0, 1):
            return _Is.VARIABLE if index else _Is.GRADIENT
        return None

    def _arithmetic(self, node: ast.BinOp) -> _Is | None:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Div):
            if left is _Is.SUM and right is _Is.COUNT:
                return _Is.MEAN
            if right is _Is.COUNT and constant(node.left) in (1, 1.0):
                return _Is.SHARE
        if isinstance(node.op, ast.Mult) and {left, right} == {_Is.SUM, _Is.SHARE}:
            return _Is.MEAN
        return None

    def _call(self, node: ast.Call) -> _Is | None:
        qualname = self.module.names.qualname(node.func) or ""
        if qualname == "builtins.zip" and len(node.args) == 1:
            only = node.args[0]
            if isinstance(only, ast.Starred) and self.value(only.value) is _Is.TOWERS:
                return _Is.VARIABLES
            return None
        one = self.value(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if qualname in ("builtins.list", "builtins.tuple"):
            return one
        if qualname == "builtins.float":
            return one if one is _Is.COUNT else None
        if qualname == "builtins.len":
            towers = (_Is.TOWERS, _Is.PAIRS, _Is.GRADIENTS, _Is.ROWS)
            return _Is.COUNT if one in towers else None
        return self._function(node)

    def _function(self, node: ast.Call) -> _Is | None:
        name = name_of(self.module, node).replace("math.", "")
        if name == "convert_to_tensor":  # the rows of an embedding, as a gradient of all of it
            given = by_parameter(node, ("value", "dtype", "name"))
            one = self._argument_value(given, "value")
            return one if one is _Is.GRADIENT and not {"dtype"} & set(given) else None
        if name == "expand_dims":
            given = by_parameter(node, ("input", "axis", "name", "dim"))
            axis = constant(given.get("axis", given.get("dim")))
            one = self._argument_value(given, "input")
            return _Is.ROW if one is _Is.GRADIENT and axis == 0 else None
        if name == "concat":
            given = by_parameter(node, ("values", "axis", "name"))
            if constant(given.get("values")) == 0:  # before 1.0 the axis came first
                given["values"], given["axis"] = given["axis"], given["values"]
            rows = self._argument_value(given, "values") is _Is.ROWS
            return _Is.STACKED if rows and constant(given.get("axis")) == 0 else None
        if name in ("stack", "pack"):
            given = by_parameter(node, ("values", "axis", "name"))
            axis = constant(given["axis"]) if "axis" in given else 0
            one = self._argument_value(given, "values")
            return _Is.STACKED if one is _Is.GRADIENTS and axis == 0 else None
        if name in ("reduce_mean", "reduce_sum"):
            given = by_parameter(node, _REDUCE)
            axis = constant(given.get("axis", given.get("reduction_indices")))
            if {"keepdims", "keep_dims"} & set(given) or (axis is not None and self.whole):
                return None
            if not self.whole and axis not in (0, [0]):
                return None
            if self._argument_value(given, "input_tensor") in (_Is.STACKED, _Is.GRADIENTS):
                self.of_values = name == "reduce_mean"
                return _Is.MEAN if name == "reduce_mean" else _Is.SUM
            return None
        if name in ("add_n", "accumulate_n"):
            one = self._argument_value(by_parameter(node, ("inputs", "name")), "inputs")
            return _Is.SUM if one is _Is.GRADIENTS else None
        if name in ("divide", "div", "truediv", "multiply", "scalar_mul"):
            return self._operator(name, node)
        return None

    def _operator(self, name: str, node: ast.Call) -> _Is | None:
        names = ("scalar", "x") if name == "scalar_mul" else ("x", "y")
        given = by_parameter(node, (*names, "name"))
        if not all(one in given for one in names):
            return None
        operator: ast.operator = ast.Mult() if name in ("multiply", "scalar_mul") else ast.Div()
        return self._arithmetic(ast.BinOp(given[names[0]], operator, given[names[1]]))

    def _argument_value(self, given: Mapping[str, ast.expr], name: str) -> _Is | None:
        return self.value(given[name]) if name in given else None


def _is_not(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
