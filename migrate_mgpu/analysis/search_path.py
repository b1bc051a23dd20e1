"""Where a module says that Python shall look for modules: what it adds to ``sys.path``.

Folders that can be told without running the program count: written paths, ``__file__``,
``os.path``'s functions of them, variables that hold one, and the parameter of a function
whose calls give one (``_init_paths.add_path(...)``).
"""

from __future__ import annotations

import ast
import os

from migrate_mgpu.analysis.module import Module, fact_of_text

_ADDS = {"append": 0, "insert": 1, "extend": 0}
_SAME = {"abspath", "realpath", "normpath", "expanduser", "str", "Path", "resolve", "absolute"}
_HERE = {"os.getcwd", "os.path.curdir", "os.curdir", "pathlib.Path.cwd"}
_DEPTH = 8  # of names that stand for each other


def added_folders(module: Module) -> list[str]:
    """The folders that a module adds to ``sys.path``, absolute, in source order.

    A relative one starts from where the program is started, which is most often beside
    the file: it is taken so.
    """
    if not _names_path(module):
        return []
    found: list[str] = []
    names = module.names
    for attribute in names.attributes.get("path", ()):
        if names.qualname(attribute) != "sys.path":
            continue
        for expression in _added(names.parents.get(attribute), module):
            found += _folders(expression, module, _DEPTH)
    base = os.path.dirname(os.path.realpath(module.path))
    return list(dict.fromkeys(os.path.normpath(os.path.join(base, one)) for one in found))


@fact_of_text
def _names_path(module: Module) -> bool:
    return "sys.path" in module.source.text


def _added(parent: ast.AST | None, module: Module) -> list[ast.expr]:
    """The expressions that one mention of ``sys.path`` adds to it."""
    if isinstance(parent, ast.AugAssign):  # sys.path += [...]
        return _items(parent.value)
    if not isinstance(parent, ast.Attribute) or parent.attr not in _ADDS:
        return []
    call = module.names.parents.get(parent)
    place = _ADDS[parent.attr]
    if not isinstance(call, ast.Call) or call.func is not parent or len(call.args) <= place:
        return []
    argument = call.args[place]
    return _items(argument) if parent.attr == "extend" else [argument]


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []


def _folders(node: ast.expr, module: Module, depth: int) -> list[str]:
    """The paths that an expression can be; none where it cannot be determined."""
    if depth == 0:
        return []
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Name) and node.id == "__file__":
        return [os.path.realpath(module.path)]
    if module.names.qualname(node) in ("os.pardir", "os.path.pardir"):
        return [os.pardir]
    if module.names.qualname(node) in _HERE:
        return [os.curdir]
    if isinstance(node, ast.Name):
        return _named(node, module, depth - 1)
    if isinstance(node, ast.Call):
        return _called(node, module, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
        joined = os.path.join if isinstance(node.op, ast.Div) else str.__add__
        return [
            joined(left, right)
            for left in _folders(node.left, module, depth - 1)
            for right in _folders(node.right, module, depth - 1)
        ]
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        return [os.path.dirname(one) for one in _folders(node.value, module, depth - 1)]
    if isinstance(node, ast.Subscript):
        return _parents(node, module, depth - 1)
    return []


def _called(call: ast.Call, module: Module, depth: int) -> list[str]:
    qualname = module.names.qualname(call.func) or ""
    last = qualname.rpartition(".")[2]
    if qualname in _HERE:
        return [os.curdir]
    if not qualname and isinstance(call.func, ast.Attribute):
        last = call.func.attr
        if last in ("resolve", "absolute"):  # of a Path
            return _folders(call.func.value, module, depth)
        return []
    if last in _SAME and len(call.args) == 1:
        return _folders(call.args[0], module, depth)
    if last == "dirname" and len(call.args) == 1:
        return [os.path.dirname(one) or os.curdir for one in _folders(call.args[0], module, depth)]
    if last == "join" and qualname.endswith("path.join") and call.args:
        found = _folders(call.args[0], module, depth)
        for argument in call.args[1:]:
            more = _folders(argument, module, depth)
            found = [os.path.join(one, other) for one in found for other in more]
        return found
    return []


def _parents(node: ast.Subscript, module: Module, depth: int) -> list[str]:
    """``Path(__file__).resolve().parents[1]``."""
    index = node.slice
    if not (isinstance(node.value, ast.Attribute) and node.value.attr == "parents"):
        return []
    if not (isinstance(index, ast.Constant) and isinstance(index.value, int)):
        return []
    found = _folders(node.value.value, module, depth)
    for _ in range(index.value + 1):
        found = [os.path.dirname(one) for one in found]
    return found


def _named(name: ast.Name, module: Module, depth: int) -> list[str]:
    """What a variable holds, or a parameter is given by the calls in its module."""
    found: list[str] = []
    for binding in module.names.bindings_of(name):
        if binding.value is not None:
            found += _folders(binding.value, module, depth)
        for parent in module.names.ancestors(binding.node):
            if isinstance(parent, ast.For) and getattr(parent.target, "id", "") == name.id:
                for item in _items(parent.iter):
                    found += _folders(item, module, depth)
                break
            if isinstance(parent, ast.FunctionDef):
                found += _arguments(name.id, parent, module, depth)
                break
    return found


def _arguments(parameter: str, function: ast.FunctionDef, module: Module, depth: int) -> list[str]:
    names = [argument.arg for argument in function.args.args]
    if parameter not in names:
        return []
    place = names.index(parameter)
    return [
        folder
        for call in module.names.calls
        if isinstance(call.func, ast.Name) and call.func.id == function.name
        for argument in call.args[place : place + 1]
        for folder in _folders(argument, module, depth)
    ]
