"""``dataset.output_types`` and its like: attributes of TF1's Datasets, functions for TF2's."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

STRUCTURE = ("output_types", "output_shapes", "output_classes")
# Methods that give a Dataset of one.
_METHODS = {
    "apply", "batch", "cache", "concatenate", "enumerate", "filter", "flat_map", "from_generator",
    "from_tensor_slices", "from_tensors", "interleave", "list_files", "map", "padded_batch",
    "prefetch", "range", "repeat", "shard", "shuffle", "skip", "take", "zip",
}  # fmt: skip


def is_own(module: Module, node: ast.Attribute) -> bool:
    """Whether something of the module's has an attribute of that name."""
    return any(not isinstance(other.ctx, ast.Load) for other in module.names.attributes[node.attr])


def structure_edit(
    module: Module, node: ast.Attribute, values: ValueFlow, style: FileStyle
) -> Edit | None:
    """The function's call in the attribute's place; None where it may be of something else."""
    if not _is_dataset(module, node.value, values, set()):
        return None
    function = f"{style.tensorflow}.compat.v1.data.get_{node.attr}"
    text = f"{function}({module.source.code(node.value)})"
    return Edit(*module.source.span(node), text)


def _is_dataset(
    module: Module, node: ast.expr | None, values: ValueFlow, seen: set[ast.expr]
) -> bool:
    """Whether a value can be a Dataset only; ``seen`` are those that it is made of."""
    if node is None or node in seen:
        return node is not None
    seen.add(node)
    if not isinstance(node, ast.Call):
        found = values.definitions(module, node)
        behind = [(one.module, one.node) for one in found if one.node is not node]
        return bool(behind) and all(_is_dataset(home, one, values, seen) for home, one in behind)
    name = tensorflow_name(module, node.func)
    if name:
        return name.startswith(("data.", "contrib.data.")) and "Dataset" in name
    method = node.func if isinstance(node.func, ast.Attribute) else None
    known = method is not None and method.attr in _METHODS
    return known and method is not None and _is_dataset(module, method.value, values, seen)
