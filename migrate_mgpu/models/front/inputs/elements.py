"""What an element of a Dataset is: a tuple, whose parts its methods give functions one by one."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import Function
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.value_flow import ValueFlow, returns

TUPLE, ONE, UNKNOWN = "tuple", "one value", ""

# Methods whose elements have the structure that those of their Dataset have.
_KEEP = {
    "batch", "cache", "concatenate", "filter", "padded_batch", "prefetch", "repeat", "shard",
    "shuffle", "skip", "take", "unbatch", "with_options",
}  # fmt: skip
_PARAMETER = {"from_tensors": "tensors", "from_tensor_slices": "tensors", "zip": "datasets"}
_OF_FILES = {"FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"}
# Functions of TF1's and numpy's that give one array, or a dictionary of them.
_ONE_TENSOR = {
    "cast", "concat", "constant", "convert_to_tensor", "expand_dims", "identity", "ones", "range",
    "reshape", "stack", "to_float", "zeros", "decode_raw", "io.decode_raw", "random_normal",
    "random_uniform", "random.normal", "random.uniform", "parse_example", "parse_single_example",
    "io.parse_example", "io.parse_single_example",
}  # fmt: skip
_ONE_ARRAY = {
    "arange", "array", "asarray", "concatenate", "empty", "expand_dims", "full", "linspace", "ones",
    "random.normal", "random.rand", "random.randint", "random.randn", "random.random",
    "random.uniform", "reshape", "stack", "zeros",
}  # fmt: skip
# Functions that give a sparse tensor, and the tensors that it is made of.
_SPARSE = {"SparseTensor", "string_split", "sparse.SparseTensor", "strings.split"}
_OF_SPARSE = {"dense_shape", "indices", "values"}
_OF_ARRAYS = {"astype", "reshape"}  # methods that tuples do not have
_OF_DICTIONARIES = {"get", "items", "keys", "pop", "update", "values"}


class Elements:
    """Reads how Datasets are made, as far as it says whether their elements are tuples."""

    def __init__(self, values: ValueFlow) -> None:
        self.values = values
        self._asked: set[ast.AST] = set()

    def of(self, module: Module, dataset: ast.expr) -> str:
        """TUPLE, ONE for anything else, or UNKNOWN."""
        found = {
            UNKNOWN if origin.node is None else self._dataset_kind(origin.module, origin.node)
            for origin in self.values.definitions(module, dataset)
        }
        return found.pop() if len(found) == 1 else UNKNOWN

    def _dataset_kind(self, module: Module, node: ast.expr) -> str:
        if node in self._asked or not isinstance(node, ast.Call):
            return UNKNOWN  # in a loop, it is made of itself
        self._asked.add(node)
        try:
            return self._called(module, node)
        finally:
            self._asked.discard(node)

    def _called(self, module: Module, call: ast.Call) -> str:
        name = tensorflow_name(module, call.func)
        if name.startswith(("data.", "contrib.data.")):
            last = name.rpartition(".")[2]
            if last in _PARAMETER:
                parts = by_parameter(call, (_PARAMETER[last],)).get(_PARAMETER[last])
                return self._value(module, parts) if parts is not None else UNKNOWN
            return ONE if last in _OF_FILES or last in ("range", "list_files") else UNKNOWN
        if not isinstance(call.func, ast.Attribute):
            return UNKNOWN
        if call.func.attr in _KEEP:
            return self.of(module, call.func.value)
        if call.func.attr == "map":
            function = by_parameter(call, ("map_func",)).get("map_func")
            return self._result_kind(module, function) if function is not None else UNKNOWN
        if call.func.attr in ("flat_map", "interleave"):
            function = by_parameter(call, ("map_func",)).get("map_func")
            return self.of(module, function.body) if isinstance(function, ast.Lambda) else UNKNOWN
        return TUPLE if call.func.attr == "enumerate" else UNKNOWN

    def _result_kind(self, module: Module, node: ast.expr) -> str:
        """What a function gives that a Dataset's method calls."""
        if isinstance(node, ast.Lambda):
            return self._value(module, node.body, TUPLE)
        function = self.values.graph.target(module, node)
        return self._returned(function) if function is not None else UNKNOWN

    def _returned(self, function: Function) -> str:
        found = {
            UNKNOWN if one.value is None else self._value(function.module, one.value, TUPLE)
            for one in returns(function)
        }
        return found.pop() if len(found) == 1 else UNKNOWN

    def _value(self, module: Module, node: ast.expr, of_list: str = ONE) -> str:
        """Of what elements are made; the list that a function returns counts as a tuple."""
        found = {
            UNKNOWN if origin.node is None else _structure(origin.module, origin.node, of_list)
            for origin in self.values.definitions(module, node)
        }
        return found.pop() if len(found) == 1 else UNKNOWN


def used_as_dictionary(batch: str, node: ast.AST) -> bool:
    """Whether code takes members out of a batch by their names: a tuple has none."""
    for part in ast.walk(node):
        if not isinstance(part, (ast.Attribute, ast.Subscript)):
            continue
        whole = part.value
        if isinstance(whole, ast.Name) and whole.id == batch:
            if isinstance(part, ast.Attribute) and part.attr in _OF_DICTIONARIES:
                return True
            if isinstance(part, ast.Subscript) and isinstance(constant(part.slice), str):
                return True
    return False


def _structure(module: Module, node: ast.expr, of_list: str) -> str:
    if isinstance(node, ast.Tuple):
        return TUPLE
    if isinstance(node, (ast.List, ast.ListComp)):
        return of_list
    if isinstance(node, (ast.Dict, ast.DictComp, ast.Constant)):
        return ONE
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub, ast.Pow)):
        return ONE
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
        part_of = tensorflow_name(module, node.value.func)
        return ONE if part_of in _SPARSE and node.attr in _OF_SPARSE else UNKNOWN
    if isinstance(node, ast.Call):
        name = module.names.qualname(node.func) or ""
        package, _, function = name.partition(".")
        if name == "builtins.dict" or (package == "numpy" and function in _ONE_ARRAY):
            return ONE
        if tensorflow_name(module, node.func) in _ONE_TENSOR:
            return ONE
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ARRAYS:
            return ONE
    return UNKNOWN
