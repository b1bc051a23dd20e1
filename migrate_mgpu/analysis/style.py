"""The style that new code at a place of a file takes over."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import ROOTS, Module
from migrate_mgpu.analysis.symbols import tensorflow_root
from migrate_mgpu.core.records import record
from migrate_mgpu.source.style import FileStyle

NAMELESS = "no-name-for-tensorflow"  # key of a diagnostic


@record(frozen=True, eq=False, kw_only=True)
class _Nameless(FileStyle):
    """The style of a file that imports parts of TensorFlow alone: new code cannot name it."""

    module: Module

    @property  # type: ignore[misc]
    def tensorflow(self) -> str:
        text = f"{self.module.path.name} has no name for TensorFlow as a whole"
        advice = "import tensorflow as tf, and use that"
        raise Refused(self.module, self.module.tree.body[0], text, advice, NAMELESS)


def style_at(module: Module, node: ast.AST) -> FileStyle:
    """The file's style, with the name that TensorFlow has at a place.

    Whoever asks it for a name that the file has not gets ``Refused``.
    """
    name = _root(module, node)
    style = FileStyle.of(module.source, name or "")
    return style if name is not None else _Nameless(**vars(style), module=module)


def root(module: Module, node: ast.AST) -> str:
    """The name of TensorFlow's root at a place, TF2's own if the module has both.

    Raises:
        Refused: the file has none.
    """
    return style_at(module, node).tensorflow


def _root(module: Module, node: ast.AST) -> str | None:
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
    if found:
        return found.get("tensorflow") or next(iter(found.values()))
    scopes = names.scopes.values()
    bound = [b for one in scopes for bindings in one.bindings.values() for b in bindings]
    return "tf" if any(binding.qualname in ROOTS for binding in bound) else None


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
