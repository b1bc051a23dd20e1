"""Whether a value of Python's or NumPy's makes a variable of float32.

`tf.Variable(weights.T)`, where `weights = np.random.randn(8, 4).astype(np.float32)`: NumPy's own
arrays are of float64.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.reaching_definitions import reaching
from migrate_mgpu.analysis.scopes import position
from migrate_mgpu.api.tables import name_of

DOUBLE = frozenset(("float64", "double"))

_SAME_TYPE = {"copy", "flatten", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "transpose"}
# NumPy's functions that say the type of their array, and the place of `dtype` among what they take.
_MAKERS = {
    "array": 1, "asarray": 1, "empty": 1, "eye": 3, "full": 2, "identity": 1, "ones": 1, "zeros": 1,
}  # fmt: skip


def type_of(module: Module, node: ast.expr) -> object:
    """`float32`, of `tf.float32`, `np.float32`, or a text."""
    numpy = (module.names.qualname(node) or "").startswith("numpy.")
    last = node.attr if numpy and isinstance(node, ast.Attribute) else ""
    return last or name_of(module, node) or constant(node)


def is_single(module: Module, node: ast.expr) -> bool:
    """Whether a value is an array that is seen to be of float32."""
    if isinstance(node, ast.Name):
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        bindings = reaching(module.names, node, home) if home is not None else []
        values = [one.value for one in bindings if one.kind == "assign"]
        # What stands above alone: that ends recursion.
        return len(values) == len(bindings) > 0 and all(
            one is not None and position(one) < position(node) and is_single(module, one)
            for one in values
        )
    if isinstance(node, ast.Subscript):
        return is_single(module, node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return is_single(module, node.operand)
    if isinstance(node, ast.Attribute):
        return node.attr == "T" and is_single(module, node.value)
    if isinstance(node, ast.BinOp):  # one number of NumPy's and one of Python's are a float64
        arithmetic = isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
        return arithmetic and is_single(module, node.left) and is_single(module, node.right)
    return isinstance(node, ast.Call) and _makes_single(module, node)


def _makes_single(module: Module, call: ast.Call) -> bool:
    told = {one.arg: one.value for one in call.keywords}
    if None in told or any(isinstance(one, ast.Starred) for one in call.args):
        return False
    full_name = module.names.qualname(call.func) or ""
    if full_name.startswith("numpy."):
        name = full_name.rpartition(".")[2]
        place = _MAKERS.get(name)
        if name == "float32" or place is None:
            return name == "float32"
        dtype = told.get("dtype", call.args[place] if len(call.args) > place else None)
        return dtype is not None and type_of(module, dtype) == "float32"
    method = call.func
    if not isinstance(method, ast.Attribute) or full_name or name_of(module, method):
        return False
    if method.attr == "astype":
        dtype = told.get("dtype", call.args[0] if call.args else None)
        return dtype is not None and type_of(module, dtype) == "float32"
    return method.attr in _SAME_TYPE and not told and is_single(module, method.value)
