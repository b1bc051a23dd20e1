"""Layers of what is fed as float64, whose variables TF1 makes of float64 as well.

Keras's layers have the type that they are told, float32 by themselves, and cast what they get.
"""

from __future__ import annotations

import ast
from typing import Optional

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.number_types import DOUBLE, type_of
from migrate_mgpu.models.front.session.program import MadeLayer
from migrate_mgpu.models.front.session.state import StatementReader
from migrate_mgpu.models.ir import Layer, Placeholder, Unit

_CASTS = {"to_float": "float32", "to_double": "float64"}
# What has the type of what it is given, as layers have.
_KEEP = {
    "add", "clip_by_value", "concat", "expand_dims", "identity", "matmul", "maximum", "minimum",
    "multiply", "pad", "reshape", "split", "squeeze", "stack", "stop_gradient", "subtract", "tanh",
    "tile", "transpose", "unstack", "reduce_mean", "reduce_sum", "reduce_max", "square", "exp",
}  # fmt: skip
_KEEP |= {
    "nn.avg_pool", "nn.bias_add", "nn.conv2d", "nn.dropout", "nn.elu", "nn.leaky_relu",
    "nn.max_pool", "nn.relu", "nn.selu", "nn.sigmoid", "nn.softmax", "nn.softplus", "nn.tanh",
}  # fmt: skip
_PARTS = (ast.UnaryOp, ast.Tuple, ast.List, ast.keyword, ast.Subscript, ast.Slice, ast.Starred)
_SAME = (ast.Add, ast.Sub, ast.Mult)  # what makes a float of a whole number is not among them
_ADVICE = "make what is fed float32"
DOUBLE_LAYER = "layer-of-float64"  # a diagnostic's key

# A type by its name, or that of a placeholder whose type is asked of a value: `data.dtype`.
_Types = set[Optional[object]]


class LayerTypeReader(StatementReader):
    """Tells the layers that are not of float32 what they are of."""

    def read(self) -> None:
        """Tells the types of the layers that need to be told one.

        Raises:
            Refused: one may be of float64, and cannot be told that.
        """
        asked = [one for one in self.found.placeholders if self._type(one) not in _PLAIN]
        if not asked:
            return
        units = {one.node: one for one in self.found.units.values()}
        for made in self.found.layers.values():
            unit = units.get(made.variables.unit)
            types = self._types(unit, set()) if unit is not None else set()
            if types:
                self._tell(made, types)

    def _tell(self, made: MadeLayer, types: _Types) -> None:
        found = made.found
        plain = isinstance(found.layer, Layer) and found.helper is None and not made.normalizes
        if (
            len(types) > 1
            or None in types
            or not plain
            or made.is_object
            or made.calls
            or made.bound
        ):
            text = "a layer is given what may be float64, and has variables of that type in TF1"
            raise Refused(self.module, found.call, text, _ADVICE, DOUBLE_LAYER)
        only = next(iter(types))
        self.found.layer_types[found.call] = only if isinstance(only, Placeholder) else "float64"

    def _type(self, placeholder: Placeholder) -> object:
        """The name of its type, or itself where that is asked of a value of Python's."""
        dtype = placeholder.arguments["dtype"]
        known = type_of(placeholder.module, dtype)
        if isinstance(known, str) and known != "dtype":
            return known.rpartition(".")[2]
        return placeholder

    def _types(self, unit: Unit, seen: set[Unit]) -> _Types:
        """The types of floats that a unit computes with, which are those that it is fed.

        None among them: something else may become of one.
        """
        if unit in seen:
            return set()
        seen.add(unit)
        node = unit.node.value if isinstance(unit.node, ast.Assign) else unit.node
        return self._types_in(node, seen)

    def _types_in(self, node: ast.AST, seen: set[Unit]) -> _Types:
        if isinstance(node, ast.Name):
            meaning = self.runs.meaning(node)
            if isinstance(meaning, Placeholder):
                return {self._type(meaning)} - _PLAIN
            return self._types(meaning, seen) if isinstance(meaning, Unit) else set()
        name = name_of(self.module, node) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and (name in _CASTS or name == "cast"):
            told = by_parameter(node, ("x", "dtype", "name")).get("dtype")
            known = _CASTS.get(name) or (type_of(self.module, told) if told is not None else None)
            if known in DOUBLE or known in _PLAIN:
                return {"float64"} if known in DOUBLE else set()
        found: _Types = set()
        for part in ast.iter_child_nodes(node):
            found |= self._types_in(part, seen)
        kept = name in _KEEP or name.startswith("layers.") or isinstance(node, _PARTS)
        if not found or kept or (isinstance(node, ast.BinOp) and isinstance(node.op, _SAME)):
            return found
        if isinstance(node, ast.BinOp):
            return {one for one in found if not isinstance(one, Placeholder)}
        return {None} if found & {*DOUBLE, None} else set()


_PLAIN: _Types = {
    "float32", "float", "bool", "string", "int8", "int16", "int32", "int64", "int", "uint8",
    "uint16", "uint32", "uint64", "float16", "half", "bfloat16", "complex64", "complex128",
}  # fmt: skip
