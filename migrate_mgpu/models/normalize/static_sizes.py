"""Sizes of variables that are asked of tensors, where what makes these says them.

`tf.get_variable('w1', [h0.get_shape()[1], 512])` below `h0 = tf.nn.relu(tf.matmul(x, w0))`, whose
`w0` has 256 columns, becomes `[256, 512]`; `shape[-1]` of `shape = [batch_size, 7, 7, 64]` is 64.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.layers import LAYERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.core.records import record
from migrate_mgpu.source.source import Edit

# What gives tensors of the shape that their first argument has,
_ALIKE = {
    "nn.relu", "nn.relu6", "nn.elu", "nn.selu", "nn.leaky_relu", "nn.tanh", "nn.sigmoid",
    "nn.dropout", "nn.bias_add", "nn.softmax", "nn.lrn", "nn.local_response_normalization", "tanh",
    "sigmoid", "identity",
}  # fmt: skip
_LAYERS_ALIKE = {"BatchNormalization", "Dropout"}
_POOLS = {"nn.max_pool", "nn.avg_pool"}  # or of as many channels
# What is given the shape of a variable that begins with it.
_DRAWN = {
    "zeros", "ones", "random_normal", "truncated_normal", "random_uniform", "random.normal",
    "random.truncated_normal", "random.uniform",
}  # fmt: skip
_PLAIN = (
    ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


@record(frozen=True)
class _Size:
    """How many dimensions a tensor has, and what its last one is, in the code of its function."""

    rank: int
    last: ast.expr


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
                        outer = _outer(module, node)
                        text = module.source.code(value)
                        if isinstance(module.names.parents[outer], (ast.BinOp, ast.UnaryOp)):
                            text = f"({text})" if isinstance(value, ast.BinOp) else text
                        found[outer] = Edit(*module.source.span(outer), text)
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
    made = _made(module, node) if isinstance(node.ctx, ast.Load) else None
    asked = made.value if isinstance(made, ast.Attribute) and made.attr == "value" else made
    if not isinstance(asked, ast.Subscript) or _asked(asked.value) is None:
        return None
    value = _value(module, asked)
    return value if value is not None and _stays(module, value, node) else None


def _is_inside(module: Module, node: ast.AST, known: dict[ast.AST, Edit]) -> bool:
    return any(parent in known for parent in module.names.ancestors(node))


def _outer(module: Module, node: ast.expr) -> ast.expr:
    """What is a number in TF1: `x.get_shape()[1].value`, `int(x.get_shape()[1])`."""
    parent = module.names.parents[node]
    if isinstance(parent, ast.Attribute) and parent.attr == "value":
        node, parent = parent, module.names.parents[parent]
    if isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords:
        if module.names.qualname(parent.func) == "builtins.int":
            return parent
    return node


def _value(module: Module, node: ast.Subscript) -> ast.expr | None:
    """What stands at an index of a shape, or of a list that nothing changes."""
    index = constant(node.slice)
    if not isinstance(index, int):
        return None
    tensor = _asked(node.value)
    if tensor is not None:
        size = _size(module, tensor)
        found = size.last if size is not None and index in (-1, size.rank - 1) else None
    else:
        elements = _elements(module, node.value) or []
        found = elements[index] if -len(elements) <= index < len(elements) else None
    return found if found is not None and _stays(module, found, node) else None


def _asked(node: ast.expr) -> ast.expr | None:
    """The tensor of a shape: `x.get_shape()`, `x.get_shape().as_list()`, `x.shape`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        if node.func.attr == "as_list":
            return _asked(node.func.value)
        return node.func.value if node.func.attr == "get_shape" else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None


def _elements(module: Module, node: ast.expr | None) -> list[ast.expr] | None:
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


def _size(module: Module, node: ast.expr | None, deep: int = 0) -> _Size | None:
    """The dimensions of a tensor, as far as what makes it says them."""
    if node is None or deep > 40:
        return None
    if isinstance(node, ast.Name):
        return _size(module, _made(module, node), deep + 1)
    if isinstance(node, ast.BinOp):
        left, right = (_size(module, one, deep + 1) for one in (node.left, node.right))
        if left is None or right is None or ast.dump(left.last) != ast.dump(right.last):
            return None
        return left if left.rank > right.rank else right
    return _of_call(module, node, deep) if isinstance(node, ast.Call) else None


def _of_call(module: Module, call: ast.Call, deep: int) -> _Size | None:
    name = name_of(module, call)
    row = LAYERS.by_name.get(name)
    first = next(iter(call.args), None)
    if name in VARIABLES.by_name:
        return _of_list(module, _shape_of_variable(module, call))
    if name in _ALIKE or (row is not None and row.keras in _LAYERS_ALIKE):
        return _size(module, _input(call), deep + 1)
    if name in _POOLS:
        size = _size(module, _input(call), deep + 1)
        return size if size is not None and size.rank == 4 else None
    if name == "matmul" and len(call.args) == 2 and not call.keywords:
        right = _size(module, call.args[1], deep + 1)
        return right if right is not None and right.rank == 2 else None
    if name == "nn.conv2d":
        given = by_parameter(call, ("input", "filter", "strides", "padding"))
        kernel = _size(module, given.get("filter"), deep + 1)
        formatted = "data_format" in given or len(call.args) > 5
        return kernel if kernel is not None and kernel.rank == 4 and not formatted else None
    if name == "nn.conv2d_transpose":
        given = by_parameter(call, ("value", "filter", "output_shape", "strides", "padding"))
        return None if "data_format" in given else _of_list(module, given.get("output_shape"))
    if name == "reshape" and first is not None:
        return _of_list(module, by_parameter(call, ("tensor", "shape")).get("shape"))
    return None


def _input(call: ast.Call) -> ast.expr | None:
    """What an operation is applied to."""
    named = (
        k.value for k in call.keywords if k.arg in ("x", "value", "inputs", "features", "input")
    )
    return call.args[0] if call.args else next(named, None)


def _shape_of_variable(module: Module, call: ast.Call) -> ast.expr | None:
    """The shape of a variable, as it is written out."""
    if name_of(module, call) == "get_variable":
        return by_parameter(call, ("name", "shape")).get("shape")
    first = by_parameter(call, ("initial_value",)).get("initial_value")
    if isinstance(first, ast.Call) and name_of(module, first) in _DRAWN:
        return by_parameter(first, ("shape",)).get("shape")
    return None


def _of_list(module: Module, node: ast.expr | None) -> _Size | None:
    """The dimensions that a list says; -1 is none."""
    elements = _elements(module, node)
    last: ast.expr | None = elements[-1] if elements else None
    if isinstance(last, ast.Subscript):
        last = _value(module, last)
    if elements is None or last is None or constant(last) == -1 or is_none(last):
        return None
    return _Size(len(elements), last)


def _made(module: Module, name: ast.Name) -> ast.expr | None:
    """What a name stands for at its mention: the one statement that gives it its value there."""
    names = module.names
    home = names.defining_scope(name.id, names.scope_of_name[name])
    found = reaching(module, name, home) if home is not None else []
    return found[0].value if len(found) == 1 and found[0].kind != "parameter" else None
