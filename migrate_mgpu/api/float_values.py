"""Whether an expression is a number, an array or a tensor of floating point, as far as it is seen.

TensorFlow computes with values of one type: what is added to a float is one.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.api.tables import name_of

# What gives values of the type that it is given,
_ALIKE = {
    "abs", "add", "add_n", "clip_by_value", "cumsum", "expand_dims", "gather", "identity", "matmul",
    "maximum", "minimum", "multiply", "negative", "nn.bias_add", "nn.conv2d", "nn.dropout",
    "nn.embedding_lookup", "nn.l2_normalize", "nn.max_pool", "nn.relu", "pow", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "reshape", "slice", "square",
    "squared_difference", "squeeze", "stop_gradient", "subtract", "tile", "transpose",
}  # fmt: skip
_ALIKE |= {f"math.{name}" for name in _ALIKE}
# and what gives floats, whatever it is given.
_FLOATS = {
    "exp", "log", "log1p", "norm", "rsqrt", "sqrt", "sigmoid", "tanh", "truediv", "divide",
    "nn.sigmoid", "nn.tanh", "nn.softmax", "nn.log_softmax", "nn.l2_loss", "to_float", "to_double",
    "nn.softmax_cross_entropy_with_logits", "nn.sparse_softmax_cross_entropy_with_logits",
    "nn.softmax_cross_entropy_with_logits_v2", "nn.sigmoid_cross_entropy_with_logits",
}  # fmt: skip
_FLOATS |= {f"math.{name}" for name in _FLOATS}
_TYPES = {"float", "float16", "float32", "float64", "bfloat16"}
_PLACES = {"cast": 1, "placeholder": 0, "constant": 1, "get_variable": 2}  # of the type
_DEEP = 12


def is_float(module: Module, node: ast.expr | None, deep: int = 0) -> bool:
    """Whether an expression is of floating point; it may be where this says no."""
    if node is None or deep > _DEEP:
        return False
    deep += 1
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.UnaryOp):
        return is_float(module, node.operand, deep)
    if isinstance(node, ast.BinOp):
        arithmetic = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow))
        either = is_float(module, node.left, deep) or is_float(module, node.right, deep)
        return arithmetic and either
    if isinstance(node, ast.Subscript):
        return is_float(module, node.value, deep)
    if isinstance(node, ast.Name):
        return is_float(module, module.names.only_value(node), deep)
    return isinstance(node, ast.Call) and _gives_floats(module, node, deep)


def _gives_floats(module: Module, call: ast.Call, deep: int) -> bool:
    name = name_of(module, call)
    if name in _FLOATS:
        return True
    if name in _ALIKE:
        given = [*call.args[:2], *(one.value for one in call.keywords if one.arg in ("x", "y"))]
        parts = given[:1] if given and name.startswith(("reduce", "math.reduce")) else given
        return any(is_float(module, one, deep) for one in parts)
    if name not in (*_PLACES, "Variable"):
        return False
    told = next((one.value for one in call.keywords if one.arg == "dtype"), None)
    place = _PLACES.get(name, len(call.args))
    told = told or (call.args[place] if place < len(call.args) else None)
    if told is not None:
        return constant(told) in _TYPES or name_of(module, told) in _TYPES
    if name == "get_variable":
        return not any(one.arg == "initializer" for one in call.keywords) and len(call.args) < 4
    return name in ("constant", "Variable") and is_float(module, next(iter(call.args), None), deep)
