"""Values of a graph that are lists of tensors, or other structures of them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of

_STRUCTURES = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_DEEP = 20  # methods of datasets, and names
# What gives several tensors.
_SEVERAL = {
    "split", "unstack", "meshgrid", "tuple", "unique", "unique_with_counts", "setdiff1d",
    "clip_by_global_norm", "gradients", "dynamic_partition", "linalg.svd", "svd", "linalg.qr", "qr",
    "nn.moments", "nn.weighted_moments", "nn.top_k", "trainable_variables",
}  # fmt: skip
# What makes a dataset of another one whose elements are alike.
_ALIKE = (
    "batch", "cache", "make_initializable_iterator", "make_one_shot_iterator", "prefetch", "repeat",
    "shuffle", "skip", "take",
)  # fmt: skip
_PLAIN = ("list", "tuple", "dict", "sorted", "reversed")


def appended(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The list that a statement adds something to, and that: `outputs.append(state)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute):
        return None
    if func.attr != "append" or not isinstance(func.value, ast.Name):
        return None
    alone = len(call.args) == 1 and not call.keywords
    return (func.value.id, call.args[0]) if alone else None


def is_nested(
    module: Module,
    graph: CallGraph,
    name: str,
    statement: ast.AST,
    seen: frozenset[ast.AST] = frozenset(),
    key: object = None,
) -> bool:
    """Whether what a statement gives a name, or its item of a key, is a structure of tensors."""
    if isinstance(statement, (ast.For, ast.If)):
        inside = [one for one in walk(statement) if isinstance(one, ast.stmt)]
        if any((one := appended(part)) is not None and one[0] == name for part in inside):
            return True
        given = [one for one in inside if isinstance(one, ast.Assign)]
        return any(is_nested(module, graph, name, one, seen, key) for one in given)
    if not isinstance(statement, ast.Assign):
        return False
    for target in statement.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return holds_several(module, graph, statement.value, key, seen)
        for index, part in enumerate(getattr(target, "elts", ())):
            if isinstance(part, ast.Name) and part.id == name and key is None:
                return holds_several(module, graph, statement.value, index, seen)
    return False


def holds_several(
    module: Module,
    graph: CallGraph,
    node: ast.expr | None,
    index: object = None,
    seen: frozenset[ast.AST] = frozenset(),
) -> bool:
    """Whether an expression, or its item of an index or key, is a structure."""
    if node is None or node in seen:
        return False
    seen = seen | {node}
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(index, int):
        known = -len(node.elts) <= index < len(node.elts)
        return known and holds_several(module, graph, node.elts[index], None, seen)
    if isinstance(node, ast.Dict) and index is not None:
        items = [one for key, one in zip(node.keys, node.values) if constant(key) == index]
        return any(holds_several(module, graph, one, None, seen) for one in items)
    if isinstance(node, _STRUCTURES):
        return index is None
    if isinstance(node, ast.IfExp):
        return any(
            holds_several(module, graph, one, index, seen) for one in (node.body, node.orelse)
        )
    if isinstance(node, ast.BinOp):
        return any(
            holds_several(module, graph, one, index, seen) for one in (node.left, node.right)
        )
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return holds_several(module, graph, node.value, index, seen)
    if isinstance(node, ast.Subscript) and index is None:
        key = constant(node.slice)
        return key is not None and holds_several(module, graph, node.value, key, seen)
    if isinstance(node, ast.Name):
        names = module.names
        bindings = names.bindings_of(node) if node in names.scope_of_name else []
        return any(
            is_nested(module, graph, node.id, names.statement(one.node), seen, index)
            for one in bindings
            if one.kind == "assign"
        )
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get_next":
        return index is None and not _is_of_single(module, node.func.value)
    if name_of(module, node) in _SEVERAL:
        return index is None
    qualname = module.names.qualname(node.func) or ""
    if qualname.rpartition(".")[2] in _PLAIN and qualname.startswith("builtins."):
        return index is None
    target = graph.target(module, node.func)
    if target is None or not isinstance(target.node, ast.FunctionDef):
        return False
    given = [one.value for one in walk(target.node) if isinstance(one, ast.Return)]
    return any(holds_several(target.module, graph, one, index, seen) for one in given)


def _is_of_single(module: Module, node: ast.expr | None, deep: int = 0) -> bool:
    """Whether the elements of an iterator, or a dataset, are seen to be single tensors."""
    if isinstance(node, ast.Name) and deep < _DEEP:
        return _is_of_single(module, module.names.only_value(node), deep + 1)
    if not isinstance(node, ast.Call) or deep >= _DEEP:
        return False
    name = name_of(module, node)
    if name == "data.Dataset.from_tensor_slices" and len(node.args) == 1:
        given = node.args[0]
        value = module.names.only_value(given) if isinstance(given, ast.Name) else given
        if isinstance(value, ast.Subscript):
            return isinstance(value.slice, ast.Slice)
        made = module.names.qualname(value.func) if isinstance(value, ast.Call) else None
        return (made or "").startswith("numpy.")
    if name in ("data.Dataset.range", "data.TextLineDataset", "data.TFRecordDataset"):
        return True
    func = node.func
    alike = isinstance(func, ast.Attribute) and func.attr in _ALIKE
    return isinstance(func, ast.Attribute) and alike and _is_of_single(module, func.value, deep + 1)
