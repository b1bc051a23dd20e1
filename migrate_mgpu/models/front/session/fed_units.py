"""Parts of the graph that some runs feed: what these take in their place.

    a = actor(s)
    q = critic(s, a)
    sess.run(train_critic, {s: states, a: actions, r: rewards})

The step is given `a` as it is given what a placeholder stands for, and computes nothing of which
`a` alone is made. How its tensors are shaped follows from the layers and placeholders behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from typing import Optional

from migrate_mgpu.analysis.arguments import bind
from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import Scope, names_in, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.session.program import GRAPH, Meaning, SessionProgram, reached
from migrate_mgpu.models.ir import Placeholder, Unit, Update

_DEEP = 40
# What has the shape and the type of what it is given.
_ALIKE = {
    "nn.relu", "nn.relu6", "nn.elu", "nn.selu", "nn.leaky_relu", "nn.tanh", "nn.sigmoid",
    "nn.softmax", "nn.softplus", "nn.dropout", "tanh", "sigmoid", "identity", "stop_gradient",
    "clip_by_value", "negative", "nn.bias_add", "exp", "math.exp", "log", "math.log", "square",
    "math.square", "sqrt", "math.sqrt", "abs", "math.abs", "sin", "cos",
}  # fmt: skip
_OF_TWO = {
    "add", "subtract", "multiply", "math.add", "math.subtract", "math.multiply", "maximum",
    "minimum", "scalar_mul",
}  # fmt: skip
_DENSE = {  # layers, and what they call their inputs and their size
    "layers.dense": ("inputs", "units"),
    "contrib.layers.fully_connected": ("inputs", "num_outputs"),
    "contrib.slim.fully_connected": ("inputs", "num_outputs"),
}
# What makes a tensor of a shape that it is given, and its parameters as far as its type.
_OF_SHAPE = {
    "random_normal": ("shape", "mean", "stddev", "dtype"),
    "random.normal": ("shape", "mean", "stddev", "dtype"),
    "truncated_normal": ("shape", "mean", "stddev", "dtype"),
    "random.truncated_normal": ("shape", "mean", "stddev", "dtype"),
    "random_uniform": ("shape", "minval", "maxval", "dtype"),
    "random.uniform": ("shape", "minval", "maxval", "dtype"),
    "zeros": ("shape", "dtype"),
    "ones": ("shape", "dtype"),
}
_VARIABLES = {  # what a variable's shape is read from comes first or second
    "Variable": ("initial_value", "trainable", "collections", "validate_shape", "caching_device",
                 "name", "variable_def", "dtype"),
    "get_variable": ("name", "shape", "dtype"),
}  # fmt: skip
_STACKS = {"stack", "pack"}
_FLOAT = ("float32", "float")

_Size = Optional[ast.expr]  # of a dimension: None where it is any number


@record(frozen=True, eq=False)
class _At:
    """An expression, and what the parameters of the function around it are given."""

    module: Module
    node: ast.expr
    given: Mapping[str, _At]

    def part(self, node: ast.expr) -> _At:
        """Another expression of the same function."""
        return _At(self.module, node, self.given)


class FedUnits:
    """Finds what takes the place of units that runs feed."""

    def __init__(
        self,
        module: Module,
        graph: CallGraph,
        home: Scope,
        meanings: Mapping[str, Meaning],
        found: SessionProgram,
    ) -> None:
        self.module = module
        self.names = module.names
        self.graph = graph
        self.home = home
        self.meanings = meanings
        self.found = found
        self._known: dict[Unit, Placeholder | None] = {}

    def of(self, unit: Unit) -> Placeholder | None:
        """What a step takes that is fed a unit; None where its shape is not seen."""
        if unit not in self._known:
            self._known[unit] = self._of(unit)
        return self._known[unit]

    def _of(self, unit: Unit) -> Placeholder | None:
        statement = unit.node
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            return None
        if len(statement.targets) > 1 or self.names.only_binding(target) is None:
            return None
        if self.found.scope.towers is not None or statement in self.found.drawn:
            return None
        sizes = self._sizes(_At(self.module, statement.value, {}), 0)
        if not sizes or sizes[-1] is None:
            return None
        shape = ast.List([ast.Constant(None) if one is None else one for one in sizes])
        given: dict[str, ast.expr] = {"dtype": ast.Constant("float32"), "shape": shape}
        return Placeholder(
            "placeholder", self.module, statement.value, given, target.id, statement, unit.place,
            computed=unit,
        )  # fmt: skip

    # -- shapes ----------------------------------------------------------------------------

    def _sizes(self, at: _At, deep: int) -> list[_Size] | None:
        """The dimensions of a tensor of float32; None where it is not seen to be one."""
        node = at.node
        if deep > _DEEP:
            return None
        if isinstance(node, ast.Name):
            made = self._made(at, node)
            return self._sizes(made, deep + 1) if made is not None else None
        if isinstance(node, ast.UnaryOp):
            return self._sizes(at.part(node.operand), deep + 1)
        if isinstance(node, ast.BinOp):
            return self._of_two(at, node.left, node.right, deep)
        return self._of_call(at, node, deep) if isinstance(node, ast.Call) else None

    def _made(self, at: _At, name: ast.Name) -> _At | None:
        """What a name is given, where that is one value alone."""
        names = at.module.names
        if names.only_binding(name) is None:
            return None
        if names.is_parameter(name):
            return at.given.get(name.id)
        value = names.only_value(name)
        return at.part(value) if value is not None else None

    def _of_two(self, at: _At, left: ast.expr, right: ast.expr, deep: int) -> list[_Size] | None:
        """What is computed element by element of a tensor and a value of Python's."""
        pair = [self._sizes(at.part(one), deep + 1) for one in (left, right)]
        known = [sizes for sizes in pair if sizes is not None]
        if len(known) == 1:
            other = left if pair[0] is None else right
            return known[0] if self._host(at.part(other), deep) is not None else None
        if len(known) < 2:
            return None
        short, long = sorted(known, key=len)
        # A bias is added to each row: all of its sizes are those of the row.
        rows = long[len(long) - len(short) :]
        if len(short) < len(long) and None in short:
            return None
        return long if [*map(_shown, short)] == [*map(_shown, rows)] else None

    def _of_call(self, at: _At, call: ast.Call, deep: int) -> list[_Size] | None:
        name = name_of(at.module, call)
        first = call.args[0] if call.args else None
        if not name and isinstance(call.func, ast.Name):  # activation = tf.nn.relu
            meant = self._made(at, call.func)
            if meant is not None and isinstance(meant.node, (ast.Name, ast.Attribute)):
                name = name_of(meant.module, meant.node)
        if not name:
            return self._of_own(at, call, deep)
        if name == "placeholder":
            return self._of_placeholder(at, call, deep)
        if name in _VARIABLES:
            return self._of_variable(at, call, name, deep)
        if name in _OF_SHAPE:
            told = by_parameter(call, _OF_SHAPE[name])
            shape = told.get("shape")
            plain = shape is not None and self._is_float(at, told.get("dtype"))
            return self._shape(at.part(shape), deep + 1) if shape is not None and plain else None
        if name in ("matmul", "linalg.matmul"):
            return self._of_product(at, call, deep)
        if name in _OF_TWO and len(call.args) == 2:
            return self._of_two(at, call.args[0], call.args[1], deep)
        if first is None:
            named = ("x", "inputs", "input", "features", "logits", "t")
            first = next((one.value for one in call.keywords if one.arg in named), None)
        if first is None:
            return None
        if name in _ALIKE:
            return self._sizes(at.part(first), deep + 1)
        if name in _DENSE:
            inside = self._sizes(at.part(first), deep + 1)
            units = by_parameter(call, _DENSE[name]).get(_DENSE[name][1])
            size = self._host(at.part(units), deep) if units is not None else None
            return [*inside[:-1], size] if inside and size is not None else None
        return None

    def _of_placeholder(self, at: _At, call: ast.Call, deep: int) -> list[_Size] | None:
        told = by_parameter(call, ("dtype", "shape"))
        dtype, shape = told.get("dtype"), told.get("shape")
        known = (name_of(at.module, dtype) or constant(dtype)) if dtype is not None else None
        named = self._made(at, shape) if isinstance(shape, ast.Name) else None
        if named is not None:
            at, shape = named, named.node
        if known not in _FLOAT or not isinstance(shape, (ast.List, ast.Tuple)):
            return None
        return [
            None if is_none(one) else self._host(at.part(one), deep) or None for one in shape.elts
        ]

    def _of_variable(self, at: _At, call: ast.Call, name: str, deep: int) -> list[_Size] | None:
        told = by_parameter(call, _VARIABLES[name])
        if "validate_shape" in told or not self._is_float(at, told.get("dtype")):
            return None
        if name == "Variable":
            first = told.get("initial_value")
            return self._sizes(at.part(first), deep + 1) if first is not None else None
        shape = told.get("shape")
        return self._shape(at.part(shape), deep + 1) if shape is not None else None

    def _is_float(self, at: _At, dtype: ast.expr | None) -> bool:
        return dtype is None or (name_of(at.module, dtype) or constant(dtype)) in _FLOAT

    def _of_product(self, at: _At, call: ast.Call, deep: int) -> list[_Size] | None:
        """The sizes of a product of two matrices as they stand."""
        told = by_parameter(call, ("a", "b"))
        if len(told) != 2 or len(call.args) + len(call.keywords) != 2:
            return None
        left, right = (self._sizes(at.part(told[one]), deep + 1) for one in ("a", "b"))
        if left is None or right is None or len(left) != 2 or len(right) != 2:
            return None
        return [left[0], right[1]]

    def _shape(self, at: _At, deep: int) -> list[_Size] | None:
        """The sizes that a tensor is made with; None where their number is not known."""
        node = at.node
        if deep > _DEEP:
            return None
        if isinstance(node, ast.Name):
            made = self._made(at, node)
            return self._shape(made, deep + 1) if made is not None else None
        if isinstance(node, ast.Call):
            name = name_of(at.module, node)
            if len(node.args) != 1 or node.keywords:
                return None
            if name in _STACKS:
                return self._shape(at.part(node.args[0]), deep + 1)
            return self._sizes(at.part(node.args[0]), deep + 1) if name == "shape" else None
        if not isinstance(node, (ast.List, ast.Tuple)):
            return None
        if any(isinstance(one, ast.Starred) for one in node.elts):
            return None
        return [self._host(at.part(one), deep) for one in node.elts]

    def _of_own(self, at: _At, call: ast.Call, deep: int) -> list[_Size] | None:
        """What a function of the program returns at its only end."""
        target = self.graph.target(at.module, call.func)
        node = target.node if target is not None else None
        if target is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return None
        ends = [one for one in walk(node) if isinstance(one, ast.Return)]
        if len(ends) != 1 or ends[0].value is None or bind(call, target).unclear is not None:
            return None
        bound, bindings = bind(call, target), target.module.names.scopes[node].bindings
        written = bound.written()
        inside: dict[str, _At] = {}
        for name in target.parameters():
            value = bound.value(name) if len(bindings[name]) == 1 else None
            if value is not None:  # a default stands in the function's own module
                inside[name] = at.part(value) if name in written else _At(target.module, value, {})
        return self._sizes(_At(target.module, ends[0].value, inside), deep + 1)

    def _host(self, at: _At, deep: int) -> ast.expr | None:
        """A value of Python's as the scope that builds the graph may write it."""
        node = at.node
        if isinstance(node, ast.Constant):
            return node
        if deep > _DEEP or not isinstance(
            node, (ast.Name, ast.Attribute, ast.BinOp, ast.Subscript)
        ):
            return None
        if at.module is self.module and all(map(self._is_known_here, names_in(node))):
            return node
        if isinstance(node, ast.Name):
            made = self._made(at, node)
            return self._host(made, deep + 1) if made is not None else None
        return None

    def _is_known_here(self, name: ast.Name) -> bool:
        """Whether a name is Python's own, and the same in the scope that builds the graph."""
        names = self.names
        if name not in names.scope_of_name:
            return False
        scope = names.defining_scope(name.id, names.scope_of_name[name])
        if scope is not names.defining_scope(name.id, self.home):
            return False
        return scope is not self.home or not isinstance(self.meanings.get(name.id), GRAPH)


def _shown(size: _Size) -> str:
    return "" if size is None else ast.dump(size)


def check_trained(
    module: Module, call: ast.Call, updates: Iterable[Update], fed: Collection[Unit]
) -> None:
    """No variable is trained through a part of the graph that is fed.

    TF1's gradients go through what the part is made of, though its value is another one.

    Raises:
        Refused: one is.
    """
    trained = {v for one in updates for some in one.variables for v in (some, *some.listed)}
    for unit in fed:
        if trained & reached(module, unit):
            text = "what it trains makes a part of the graph that is fed"
            raise Refused(module, call, text, "give the optimizer a `var_list`")
