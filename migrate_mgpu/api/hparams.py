"""``tf.contrib.training.HParams`` that only holds values: Python's own namespace."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.source.source import Edit

# What HParams can and a namespace cannot.
_METHODS = {
    "parse", "parse_json", "values", "to_json", "add_hparam", "set_hparam", "del_hparam", "get",
    "override_from_dict", "set_from_map", "get_model_structure", "to_proto",
}  # fmt: skip


def hparams_edits(module: Module, node: ast.AST) -> list[Edit] | None:
    """`HParams(rate=0.1)` as `types.SimpleNamespace(rate=0.1)`; None where it does more.

    The file needs `import types` then.
    """
    if tensorflow_name(module, node) != "contrib.training.HParams":
        return None
    call = module.names.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or call.args:
        return None
    if any(keyword.arg in (None, "hparam_def", "model_structure") for keyword in call.keywords):
        return None
    for name in _METHODS & module.names.attributes.keys():
        for attribute in module.names.attributes[name]:
            value = attribute.value  # of a call what is called tells what it gives
            value = value.func if isinstance(value, ast.Call) else value
            receiver = module.source.code(value).rpartition(".")[2]
            if "param" in receiver.lower() or receiver in _targets(module, call):
                return None
    if any(b.qualname != "types" for b in module.names.module_scope.bindings.get("types", ())):
        return None
    start, end = module.source.span(node)
    return [Edit(start, end, "types.SimpleNamespace")]


def _targets(module: Module, call: ast.Call) -> set[str]:
    parent = module.names.parents[call]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}
