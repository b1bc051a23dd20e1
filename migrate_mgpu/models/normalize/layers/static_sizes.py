"""Sizes of variables that are asked of tensors, where what makes these says them.

`tf.get_variable('w1', [h0.get_shape()[1], 512])` below `h0 = tf.nn.relu(tf.matmul(x, w0))`, whose
`w0` has 256 columns, becomes `[256, 512]`; `shape[-1]` of `shape = [batch_size, 7, 7, 64]` is 64.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.variables import function_of
from migrate_mgpu.models.front.session.placeholders import PLACEHOLDERS
from migrate_mgpu.source.source import Edit

# What gives tensors of the shape that their first argument has.
ALIKE = {
    "nn.relu", "nn.relu6", "nn.elu", "nn.selu", "nn.leaky_relu", "nn.tanh", "nn.sigmoid",
    "nn.dropout", "nn.bias_add", "nn.softmax", "nn.lrn", "nn.local_response_normalization", "tanh",
    "sigmoid", "identity", "cast",
}  # fmt: skip
LAYERS_ALIKE = {"BatchNormalization", "Dropout"}
_POOLS = {"nn.max_pool", "nn.avg_pool"}  # or of as many channels
# What is given the shape of a variable that begins with it.
_DRAWN = {
    "zeros", "ones", "random_normal", "truncated_normal", "random_uniform", "random.normal",
    "random.truncated_normal", "random.uniform",
}  # fmt: skip
OF_TWO = {"add", "subtract", "multiply", "math.add", "math.subtract", "math.multiply"}
_PLAIN = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


@record(frozen=True)
class _Size:
    """How many dimensions a tensor has, and what its last one is, in the code of its function.

    A number has none: ``last`` is the number itself. ``shown`` is how its author wrote the last:
    `sizes[0]`, of a list of numbers.
    """

    rank: int
    last: ast.expr
    shown: ast.expr


_NOTHING: Mapping[str, _Size] = {}


@fact_of_text
def normalize(module: Module) -> list[Edit]:
    """The edits; none where no size is asked for, or none is seen."""
    found: dict[ast.AST, Edit] = {}
    for call in module.names.calls:
        if name_of(module, call) in VARIABLES.by_name:
            for node in walk(call):
                if isinstance(node, ast.Subscript) and not _is_inside(module, node, found):
                    value = _value(module, node)
                    if value is not None:
                        whole = outer(module, node)
                        text = module.source.code(value)
                        if isinstance(module.names.parents[whole], (ast.BinOp, ast.UnaryOp)):
                            text = f"({text})" if isinstance(value, ast.BinOp) else text
                        found[whole] = Edit(*module.source.span(whole), text)
                elif isinstance(node, ast.Name) and not _is_inside(module, node, found):
                    value = _named(module, node)
                    if value is not None:
                        text = module.source.code(value)
                        found[node] = Edit(*module.source.span(node), text)
    return list(found.values())


def _named(module: Module, node: ast.Name) -> ast.expr | None:
    """The size that a name in the list of a variable's sizes stands for, `dim` of `[dim, 512]`."""
    if not isinstance(module.names.parents[node], (ast.List, ast.Tuple)):
        return None
    made = made_of(module, node) if isinstance(node.ctx, ast.Load) else None
    if isinstance(made, ast.Call) and len(made.args) == 1 and not made.keywords:
        counts = module.names.qualname(made.func) == "builtins.int"
        made = made.args[0] if counts else made
    asked = made.value if isinstance(made, ast.Attribute) and made.attr == "value" else made
    if not isinstance(asked, ast.Subscript) or asked_of(asked.value) is None:
        return None
    value = _value(module, asked)
    return value if value is not None and _stays(module, value, node) else None


def _is_inside(module: Module, node: ast.AST, known: dict[ast.AST, Edit]) -> bool:
    return any(parent in known for parent in module.names.ancestors(node))


def outer(module: Module, node: ast.expr) -> ast.expr:
    """What is a number in TF1: `x.get_shape()[1].value`, `int(x.get_shape()[1])`."""
    parent = module.names.parents[node]
    if isinstance(parent, ast.Attribute) and parent.attr == "value":
        node, parent = parent, module.names.parents[parent]
    if isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords:
        if module.names.qualname(parent.func) == "builtins.int":
            return parent
    return node


def last_size(module: Module, tensor: ast.expr) -> tuple[int, ast.expr, ast.expr] | None:
    """How many dimensions a tensor has, and its last one, as what makes it says.

    The last is how its author wrote that: `sizes[0]`, of a list of numbers.
    """
    size = _size(module, tensor)
    return (size.rank, size.last, size.shown) if size is not None and size.rank else None


def _value(module: Module, node: ast.Subscript) -> ast.expr | None:
    """What stands at an index of a shape, or of a list that nothing changes."""
    index = constant(node.slice)
    if not isinstance(index, int):
        return None
    tensor = asked_of(node.value)
    if tensor is not None:
        size = _size(module, tensor)
        known = size is not None and size.rank > 0
        found = size.last if size is not None and known and index in (-1, size.rank - 1) else None
    else:
        elements = elements_of(module, node.value) or []
        found = elements[index] if -len(elements) <= index < len(elements) else None
    return found if found is not None and _stays(module, found, node) else None


def asked_of(node: ast.expr) -> ast.expr | None:
    """The tensor of a shape: `x.get_shape()`, `x.get_shape().as_list()`, `x.shape`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        if node.func.attr == "as_list":
            return asked_of(node.func.value)
        return node.func.value if node.func.attr == "get_shape" else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None


def elements_of(module: Module, node: ast.expr | None) -> list[ast.expr] | None:
    """The elements of a list that is written out, and by its name only read."""
    if isinstance(node, ast.Name):
        names = module.names
        value = names.only_value(node)
        home = names.defining_scope(node.id, names.scope_of_name[node])
        for mention in names.mentions(node.id, home) if home is not None else ():
            parent = names.parents.get(mention)
            stored = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
            if stored or isinstance(parent, (ast.Attribute, ast.AugAssign)):
                return None
        node = value
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    return None if any(isinstance(one, ast.Starred) for one in node.elts) else node.elts


def _stays(module: Module, node: ast.expr, place: ast.expr) -> bool:
    """Whether an expression is the same number at a place as where it stands."""
    if not all(isinstance(part, _PLAIN) for part in ast.walk(node)):
        return False
    names, there = module.names, module.names.scope_at(place)
    return all(
        names.only_binding(one) is not None
        and names.defining_scope(one.id, there)
        is names.defining_scope(one.id, names.scope_of_name[one])
        for one in ast.walk(node)
        if isinstance(one, ast.Name)
    )


def _size(
    module: Module, node: ast.expr | None, deep: int = 0, given: Mapping[str, _Size] = _NOTHING
) -> _Size | None:
    """The dimensions of a tensor, as far as what makes it says them.

    ``given`` are those of the parameters of a function that computes it.
    """
    if node is None or deep > 40:
        return None
    if isinstance(node, ast.Name):
        if node.id in given and module.names.is_parameter(node):
            return given[node.id]
        return _size(module, made_of(module, node), deep + 1, given)
    if isinstance(node, ast.BinOp):
        return _of_two(module, node.left, node.right, deep, given)
    if isinstance(constant(node), (int, float)):
        return _Size(0, node, node)
    return _of_call(module, node, deep, given) if isinstance(node, ast.Call) else None


def _of_two(
    module: Module, left: ast.expr, right: ast.expr, deep: int, given: Mapping[str, _Size]
) -> _Size | None:
    """The dimensions of what is computed element by element."""
    one, other = (_size(module, node, deep + 1, given) for node in (left, right))
    if one is None or other is None:
        known, rest = (other, left) if one is None else (one, right)
        return known if known is not None and _is_single(module, rest, deep + 1) else None
    if not one.rank or not other.rank:
        return one if not other.rank else other
    if ast.dump(one.last) != ast.dump(other.last):
        single = [o for o in (left, right) if _is_single(module, o, deep + 1)]
        return None if len(single) != 1 else other if single[0] is left else one
    return one if one.rank > other.rank else other


def _is_single(module: Module, node: ast.expr | None, deep: int) -> bool:
    """Whether a value is one number, or a list of one: what it is added to keeps its size."""
    if node is None or deep > 40:
        return False
    if isinstance(node, ast.Name):
        return _is_single(module, made_of(module, node), deep + 1)
    if isinstance(node, ast.BinOp):
        return all(_is_single(module, one, deep + 1) for one in (node.left, node.right))
    if isinstance(node, ast.Call) and name_of(module, node) in PLACEHOLDERS:
        shape = by_parameter(node, ("dtype", "shape")).get("shape")
        elements = shape.elts if isinstance(shape, (ast.List, ast.Tuple)) else None
        return elements is not None and [constant(one) for one in elements] in ([], [1])
    return isinstance(constant(node), (int, float))


def _of_own(module: Module, call: ast.Call, deep: int, given: Mapping[str, _Size]) -> _Size | None:
    """What a function of the program returns, which keeps the dimensions of what it is given."""
    home, node = function_of(module, call)
    if node is None or node.decorator_list or node.args.vararg or node.args.kwarg:
        return None
    last = node.body[-1]
    while isinstance(last, ast.With):
        last = last.body[-1]
    if not isinstance(last, ast.Return) or len(node.args.args) < len(call.args):
        return None
    if sum(isinstance(one, ast.Return) for one in walk(node)) != 1:
        return None
    names = [one.arg for one in node.args.args]
    told = dict(zip(names, call.args))
    told.update({one.arg: one.value for one in call.keywords if one.arg is not None})
    defaults = dict(zip(names[::-1], node.args.defaults[::-1]))
    inside = {
        name: size
        for name in names
        if len(home.names.scopes[node].bindings[name]) == 1
        and (size := _of_argument(module, told.get(name), defaults.get(name), deep, given))
    }
    found = _size(home, last.value, deep + 1, inside)
    return found if found is not None and found.rank and found in inside.values() else None


def _of_argument(
    module: Module,
    node: ast.expr | None,
    default: ast.expr | None,
    deep: int,
    given: Mapping[str, _Size],
) -> _Size | None:
    """What a parameter is given, or a number that it is where nothing is given."""
    if node is None:
        known = isinstance(constant(default), (int, float))
        return _Size(0, default, default) if default is not None and known else None
    return _size(module, node, deep + 1, given)


def _of_call(module: Module, call: ast.Call, deep: int, given: Mapping[str, _Size]) -> _Size | None:
    name = name_of(module, call)
    if not name and module.names.qualname(call.func) == "builtins.abs":
        return _size(module, _input(call), deep + 1, given)
    if not name:
        return _of_own(module, call, deep, given)
    row = LAYERS.by_name.get(name)
    first = next(iter(call.args), None)
    if name in VARIABLES.by_name:
        return _of_list(module, shape_of_variable(module, call))
    if name in PLACEHOLDERS and name != "sparse_placeholder":
        return _of_list(module, by_parameter(call, ("dtype", "shape")).get("shape"))
    if name in ALIKE or (row is not None and row.keras in LAYERS_ALIKE):
        return _size(module, _input(call), deep + 1, given)
    if name in _POOLS:
        size = _size(module, _input(call), deep + 1, given)
        return size if size is not None and size.rank == 4 else None
    if name == "matmul" and len(call.args) == 2 and not call.keywords:
        right = _size(module, call.args[1], deep + 1, given)
        return right if right is not None and right.rank == 2 else None
    if name == "nn.conv2d":
        told = by_parameter(call, ("input", "filter", "strides", "padding"))
        kernel = _size(module, told.get("filter"), deep + 1, given)
        formatted = "data_format" in told or len(call.args) > 5
        return kernel if kernel is not None and kernel.rank == 4 and not formatted else None
    if name == "nn.conv2d_transpose":
        told = by_parameter(call, ("value", "filter", "output_shape", "strides", "padding"))
        return None if "data_format" in told else _of_list(module, told.get("output_shape"))
    if name in OF_TWO and len(call.args) == 2 and not call.keywords:
        return _of_two(module, call.args[0], call.args[1], deep, given)
    if name in _DRAWN and (drawn := _input_of_shape(module, call)) is not None:
        return _size(module, drawn, deep + 1, given)
    if name == "reshape" and first is not None:
        return _of_list(module, by_parameter(call, ("tensor", "shape")).get("shape"))
    return None


def _input_of_shape(module: Module, call: ast.Call) -> ast.expr | None:
    """The tensor in the shape of which something is drawn: `tf.random_uniform(tf.shape(x))`."""
    shape = by_parameter(call, ("shape",)).get("shape")
    if isinstance(shape, ast.Call) and name_of(module, shape) == "shape":
        return _input(shape)
    return None


def _input(call: ast.Call) -> ast.expr | None:
    """What an operation is applied to."""
    named = (
        k.value for k in call.keywords if k.arg in ("x", "value", "inputs", "features", "input")
    )
    return call.args[0] if call.args else next(named, None)


def shape_of_variable(module: Module, call: ast.Call) -> ast.expr | None:
    """The shape of a variable, as it is written out."""
    if name_of(module, call) == "get_variable":
        return by_parameter(call, ("name", "shape")).get("shape")
    first = by_parameter(call, ("initial_value",)).get("initial_value")
    if isinstance(first, ast.Call) and name_of(module, first) in _DRAWN:
        return by_parameter(first, ("shape",)).get("shape")
    return None


def _of_list(module: Module, node: ast.expr | None) -> _Size | None:
    """The dimensions that a list says; -1 is none."""
    elements = elements_of(module, node)
    shown: ast.expr | None = elements[-1] if elements else None
    last = _value(module, shown) if isinstance(shown, ast.Subscript) else shown
    if elements is None or shown is None or last is None:
        return None
    if constant(last) == -1 or is_none(last):
        return None
    return _Size(len(elements), last, shown)


def made_of(module: Module, name: ast.Name) -> ast.expr | None:
    """What a name stands for at its mention: the one statement that gives it its value there."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    statement = names.statement(name)
    if home is not None and names.scope_of_name[name] is home:
        above = _above(module, name.id, statement)
        if above is not None:
            return above
    found = reaching(module.names, name, home) if home is not None else []
    return found[0].value if len(found) == 1 and found[0].kind != "parameter" else None


def _above(module: Module, name: str, statement: ast.stmt) -> ast.expr | None:
    """What the statements that run before one, and never without it, give a name last."""
    names = module.names
    while True:
        block = names.block(statement)
        found = _last(name, block[: block.index(statement)])
        parent = names.parents.get(statement)
        if found is not None or not isinstance(parent, ast.With):
            return found.value if isinstance(found, ast.Assign) else None
        statement = parent


def _last(name: str, block: Sequence[ast.stmt]) -> ast.stmt | None:
    """The last statement of a block that gives a name a value: a plain one, or one around it."""
    for one in reversed(block):
        stored = [n for n in walk(one) if isinstance(n, ast.Name) and n.id == name]
        if any(not isinstance(n.ctx, ast.Load) for n in stored):
            if isinstance(one, ast.With):
                return _last(name, one.body) or one
            if isinstance(one, ast.Assign) and one.targets == stored[:1]:
                return one
            return ast.Pass()
    return None
