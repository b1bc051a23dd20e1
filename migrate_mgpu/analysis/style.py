"""The style that new code at a place of a file takes over."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import ROOTS, Module
from migrate_mgpu.analysis.names import Names, Scope
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
    scope = module.names.scope_at(node)
    known = _KNOWN.setdefault(module.names, {})
    if scope not in known:
        name = _root(module, node)
        style = FileStyle.of(module.source, name or "")
        known[scope] = style if name is not None else _Nameless(**vars(style), module=module)
    return known[scope]


# Of the scopes of modules.
_KNOWN: WeakKeyDictionary[Names, dict[Scope, FileStyle]] = WeakKeyDictionary()


def root(module: Module, node: ast.AST) -> str:
    """The name of TensorFlow's root at a place, TF2's own if the module has both.

    Raises:
        Refused: the file has none.
    """
    return style_at(module, node).tensorflow


def spelling(module: Module, node: ast.AST) -> str | None:
    """The nearest name of TensorFlow's root that a place sees, if there is one."""
    for level in _roots(module, node):
        fits = [name for name, roots in level if all(map(tensorflow_root, roots))]
        if fits:
            return "tf" if "tf" in fits else fits[0]
    return None


def _root(module: Module, node: ast.AST) -> str | None:
    found: dict[str, str] = {}
    for level in _roots(module, node):
        for name, roots in level:
            found.setdefault(roots[0], name)
    if found:
        return found.get("tensorflow") or next(iter(found.values()))
    scopes = module.names.scopes.values()
    bound = [b for one in scopes for bindings in one.bindings.values() for b in bindings]
    return "tf" if any(binding.qualname in ROOTS for binding in bound) else None


def _roots(module: Module, node: ast.AST) -> Iterator[list[tuple[str, tuple[str, ...]]]]:
    """For each scope around a place, from within: names bound there, and the roots they may be."""
    names = module.names
    scope = names.scope_at(node)
    current: Scope | None = scope
    while current is not None:
        yield [
            (name, roots)
            for name, bindings in current.bindings.items()
            if any(binding.qualname in ROOTS for binding in bindings)
            and names.defining_scope(name, scope) is current
            and (roots := names.roots(name, scope))
        ]
        current = current.parent
