"""The style that new code at a place of a file takes over."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import ROOTS, Module
from migrate_mgpu.analysis.symbols import tensorflow_root
from migrate_mgpu.source.style import FileStyle


def style_at(module: Module, node: ast.AST) -> FileStyle:
    """The file's style, with the name that TensorFlow has at a place."""
    return FileStyle.of(module.source, root(module, node))


def root(module: Module, node: ast.AST) -> str:
    """The name of TensorFlow's root at a place, TF2's own if the module has both."""
    names = module.names
    scope = names.scope_at(node)
    found: dict[str, str] = {}
    current = scope
    while current is not None:
        for name, bindings in current.bindings.items():
            if any(binding.qualname in ROOTS for binding in bindings):
                roots = names.roots(name, scope)
                if roots:
                    found.setdefault(roots[0], name)
        if current.parent is None:
            break
        current = current.parent
    return found.get("tensorflow") or next(iter(found.values()), "tf")


def spelling(module: Module, statement: ast.AST) -> str | None:
    """The name by which TensorFlow's root module is known at a statement, if it is."""
    names = module.names
    scope = names.scope_at(statement)
    best: str | None = None
    current = scope
    while current is not None:
        for name, bindings in current.bindings.items():
            if names.defining_scope(name, scope) is not current:
                continue
            if any(binding.qualname in ROOTS for binding in bindings):
                roots = names.roots(name, scope)
                if (
                    roots
                    and all(tensorflow_root(path) for path in roots)
                    and (best is None or name == "tf")
                ):
                    best = name
        if best or current.parent is None:
            break
        current = current.parent
    return best
