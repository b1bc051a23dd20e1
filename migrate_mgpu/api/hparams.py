"""``tf.contrib.training.HParams`` that only holds values: Python's own namespace."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.source.source import Edit

# What HParams can and a namespace cannot.
_METHODS = {
    "parse", "parse_json", "values", "to_json", "add_hparam", "set_hparam", "del_hparam", "get",
    "override_from_dict", "set_from_map", "get_model_structure", "to_proto",
}  # fmt: skip


_NAMES = ("contrib.training.HParams", "contrib.training.python.training.hparam.HParams")


def hparams_edits(module: Module, node: ast.AST) -> list[Edit] | None:
    """`HParams(rate=0.1)` as `types.SimpleNamespace(rate=0.1)`; None where it does more.

    The file needs `import types` then.
    """
    if tensorflow_name(module, node) not in _NAMES:
        return None
    call = module.names.parents.get(node)
    if not isinstance(call, ast.Call) or call.func is not node or call.args:
        return None
    for keyword in call.keywords:
        if keyword.arg in ("hparam_def", "model_structure"):
            return None
        if keyword.arg is None and not _of_arguments(module, keyword.value):
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


def _of_arguments(module: Module, node: ast.expr) -> bool:
    """Whether the values are those that argparse read: `**vars(args)`, or `**args.__dict__`."""
    held = node.value if isinstance(node, ast.Attribute) and node.attr == "__dict__" else None
    if isinstance(node, ast.Call) and module.names.qualname(node.func) == "builtins.vars":
        held = node.args[0] if len(node.args) == 1 and not node.keywords else None
    read = module.names.only_value(held) if isinstance(held, ast.Name) else None
    if isinstance(read, ast.Call) and isinstance(read.func, ast.Name):  # `args = get_args()`
        function = module.names.only_definition(read.func)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return False
        given = [part.value for part in walk(function) if isinstance(part, ast.Return)]
        return bool(given) and all(_is_read(value) for value in given)
    return _is_read(read)


def _is_read(node: ast.expr | None) -> bool:
    """`parser.parse_args()`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "parse_args"
    )


def _targets(module: Module, call: ast.Call) -> set[str]:
    parent = module.names.parents[call]
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}
