"""What `tfds.load` gives: a Dataset, or several, and with them what is known of them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none

DATASET, TABLE, OTHER = "dataset", "datasets by name", "other"


def loaded(module: Module, node: ast.expr) -> str | None:
    """What an expression of `tensorflow_datasets` is; None for everything else."""
    if isinstance(node, ast.Subscript):
        inner = loaded(module, node.value)
        return None if inner is None else DATASET if inner == TABLE else OTHER
    if isinstance(node, ast.Call):
        parts = _parts(module, node)
        return parts if parts is None or isinstance(parts, str) else OTHER
    if isinstance(node, ast.Name):
        return _of_name(module, node)
    return None


def _parts(module: Module, call: ast.Call) -> str | list[str] | None:
    """The kind of what one call loads; of each member where it loads several."""
    if module.names.qualname(call.func) != "tensorflow_datasets.load":
        return None
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given or len(call.args) > 2:
        return OTHER
    if "batch_size" in given and not is_none(given["batch_size"]):
        return OTHER  # with -1, all of it as tensors
    split = call.args[1] if len(call.args) > 1 else given.get("split")
    kind: str | list[str] = DATASET
    if split is None or is_none(split):
        kind = TABLE
    elif isinstance(split, (ast.List, ast.Tuple)):
        kind = [DATASET] * len(split.elts)
    elif not isinstance(constant(split), str) and not isinstance(split, ast.JoinedStr):
        name = module.names.qualname(split) or ""
        kind = DATASET if name.startswith("tensorflow_datasets.Split.") else OTHER
    if "with_info" not in given or constant(given["with_info"]) is False:
        return kind
    if constant(given["with_info"]) is not True or isinstance(kind, list):
        return OTHER
    return [kind, OTHER]


def _of_name(module: Module, name: ast.Name) -> str | None:
    target = module.names.only_definition(name)
    if not isinstance(target, ast.Name):
        return None
    parents = module.names.parents
    group = parents[target]
    if isinstance(group, ast.Assign) and group.targets == [target]:
        return loaded(module, group.value)
    statement = parents.get(group)
    if not isinstance(group, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return None
    if statement.targets != [group] or not isinstance(statement.value, ast.Call):
        return None
    parts = _parts(module, statement.value)
    if parts is None or isinstance(parts, str) or len(parts) != len(group.elts):
        return parts if parts is None else OTHER
    return parts[group.elts.index(target)]
