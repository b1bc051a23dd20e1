"""Imports that a migrated file needs, and those that it no longer does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from symtable import SymbolTable, symtable

from migrate_mgpu.analysis.dotted_names import takes
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import name_unused
from migrate_mgpu.analysis.runs_on import gone_keras_names
from migrate_mgpu.analysis.standard_library import is_standard
from migrate_mgpu.source.import_edit import import_edit
from migrate_mgpu.source.source import Edit, splice
from migrate_mgpu.source.statements import Layout


def with_imports(module: Module, needed: set[str]) -> list[Edit]:
    """Inserts ``import X`` lines where the file has its own, sorted among the first ones."""
    missing = _grouped(sorted(name for name in needed if not _has(module, name)))
    if not missing:
        return []
    top: list[ast.stmt] = [
        s
        for s in module.tree.body
        if isinstance(s, ast.Import) or (isinstance(s, ast.ImportFrom) and s.module != "__future__")
    ]
    if not top:
        return [_after_docstring(module, [_line(name) for name in missing])]
    edits: list[Edit] = []
    first: list[str] = []  # those of a group of its own, above the author's
    for name in missing:
        if name.startswith("from "):  # `from absl import app`, above TensorFlow's own
            place = next((s for s in module.tensorflow_imports if s in top), top[0])
            edits.append(Layout(module.source, place).insert_before([name]))
            continue
        if name.startswith("tensorflow"):
            place = next((s for s in module.tensorflow_imports if s in top), top[-1])
            edits.append(Layout(module.source, place).insert_before([f"import {name}"]))
            continue
        plain = _first_group(top)
        later = [s for s in plain if _key(s) > name]
        if not _is_standard_import(plain[0]):
            first.append(f"import {name}")
        elif later:
            edits.append(Layout(module.source, later[0]).insert_before([f"import {name}"]))
        else:
            edits.append(Layout(module.source, plain[-1]).insert_after([f"import {name}"]))
    if first:
        edits.append(Layout(module.source, _first_group(top)[0]).insert_before([*first, ""]))
    return edits


def _first_group(top: list[ast.stmt]) -> list[ast.stmt]:
    """The first run of imports without a blank line between them."""
    group = [top[0]]
    for statement in top[1:]:
        if statement.lineno != (group[-1].end_lineno or 0) + 1:
            break
        group.append(statement)
    if not any(_is_standard_import(statement) for statement in group):
        return [top[0]]
    return [s for s in group if _is_standard_import(s)]


def _is_standard_import(statement: ast.stmt) -> bool:
    return is_standard(_key(statement).partition(".")[0])


def _key(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ImportFrom):
        return statement.module or ""
    assert isinstance(statement, ast.Import)
    return statement.names[0].name


def _grouped(names: list[str]) -> list[str]:
    """`from absl import app` and `from absl import flags` are one line."""
    found: dict[str, list[str]] = {}
    for name in names:
        head, _, tail = name.partition(" import ")
        found.setdefault(head, []).extend([tail] if tail else [])
    return [f"{head} import {', '.join(tails)}" if tails else head for head, tails in found.items()]


def _line(name: str) -> str:
    return name if name.startswith("from ") else f"import {name}"


_BEHIND_IMPORTS = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With)


def _has(module: Module, needed: str) -> bool:
    if needed.startswith("from "):
        head, _, name = needed.partition(" import ")
        return any(
            isinstance(statement, ast.ImportFrom)
            and f"from {statement.module}" == head
            and any(
                (f"{a.name} as {a.asname}" if a.asname else a.name) == name for a in statement.names
            )
            for statement in module.tree.body
        )
    for statement in module.tree.body:
        if isinstance(statement, ast.Import):
            if any(alias.name == needed and not alias.asname for alias in statement.names):
                return True
        elif isinstance(statement, _BEHIND_IMPORTS):
            return False  # as in a notebook's cell: one that comes later may be too late
    return False


def _after_docstring(module: Module, lines: list[str]) -> Edit:
    body = module.tree.body
    first = body[0] if body else None
    if first is None:
        return Edit(0, 0, "".join(line + module.source.newline for line in lines))
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return Layout(module.source, first).insert_after(["", *lines])
    return Layout(module.source, first).insert_before(lines)


def remove_imports(
    module: Module, gone: set[ast.AST], planned: list[Edit], importers: Sequence[Module] = ()
) -> list[Edit]:
    """Removes imported names whose every use was rewritten; all others stay.

    Imports under `try` or `if`, re-exports of an ``__init__``, what other modules import from this
    one, TensorFlow itself and statements that are edited anyway are left alone. What no Keras of
    TF2 has is no re-export.
    """
    lost = set(gone_keras_names(module)) if module.path.name == "__init__.py" else None
    edits: list[Edit] = []
    result = _Result(module, planned)
    for statement in module.tree.body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        lost_home = isinstance(statement, ast.ImportFrom) and _is_contrib(statement)
        unused = [
            a for a in statement.names if lost_home or name_unused(module, statement, a, gone)
        ]
        unused = [a for a in unused if a.name not in ("tensorflow", "tensorflow.compat.v1")]
        unused = [a for a in unused if not result.mentions(a)]
        unused = [
            a for a in unused if not any(takes(o, module, _local(a), gone) for o in importers)
        ]
        if lost is not None:
            base = "" if isinstance(statement, ast.Import) else module.names.absolute(statement)
            unused = [a for a in unused if (statement, f"{base}.{a.name}".lstrip(".")) in lost]
        if not unused:
            continue
        layout = Layout(module.source, statement)
        if any(e.start < layout.next_line and e.end > layout.line_start for e in planned):
            continue
        if len(unused) == len(statement.names):
            if layout.owns_lines:
                edits.append(layout.replace([]))
            continue
        edits.append(import_edit(module.source, statement, unused))
    return edits


def _is_contrib(statement: ast.ImportFrom) -> bool:
    """`from tensorflow.contrib import learn`: no TF2 has it, whoever rewrote its uses."""
    return not statement.level and f"{statement.module}.".startswith("tensorflow.contrib.")


def unused_lost_imports(
    module: Module, others: Iterable[Module]
) -> list[ast.Import | ast.ImportFrom]:
    """Imports of names that TF2 lost, of which nothing here or in other modules makes any use."""
    if module.path.name == "__init__.py":
        return []
    lost = {use.node for use in module.uses if use.status in ("gone", "tf2.15_only")}
    found: list[ast.Import | ast.ImportFrom] = []
    for statement in module.tree.body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)) or statement not in lost:
            continue
        if not Layout(module.source, statement).owns_lines:
            continue
        names = [_local(alias) for alias in statement.names]
        texts = {n.value for n in ast.walk(module.tree) if isinstance(n, ast.Constant)}
        used = "*" in names or texts & {*names}  # `__all__` has it
        if used or any(module.names.mentions(name, module.names.module_scope) for name in names):
            continue
        if not any(other is not module and _takes(other, names) for other in others):
            found.append(statement)
    return found


def binds_nothing_else(
    module: Module, node: ast.AST, gone: AbstractSet[ast.AST], others: Iterable[Module]
) -> bool:
    """Whether an import of `tf.contrib` has names that go, and besides some that nobody reads."""
    if not isinstance(node, ast.ImportFrom) or not _is_contrib(node):
        return False
    used = [one for one in node.names if not name_unused(module, node, one, gone)]
    names = [_local(one) for one in used]
    if len(used) == len(node.names) or "*" in names or module.path.name == "__init__.py":
        return False
    if any(module.names.mentions(name, module.names.module_scope) for name in names):
        return False
    texts = {n.value for n in ast.walk(module.tree) if isinstance(n, ast.Constant)}
    taken = any(other is not module and _takes(other, names) for other in others)
    return not taken and not texts & {*names}  # `__all__` has it


def _takes(module: Module, names: list[str]) -> bool:
    """Whether a module imports something of such a name, or asks another one for it."""
    imported = {
        alias.name
        for statement in module.names.imports
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    return bool(imported & {*names}) or any(name in module.names.attributes for name in names)


def unused_roots(module: Module, planned: list[Edit]) -> tuple[list[Edit], list[Edit]]:
    """Second names of TensorFlow's that nothing mentions any more: `import tensorflow as tf1`.

    Returns the edits that take them away, and those of the planned ones that wrote them.
    """
    roots = [
        statement
        for statement in module.tree.body
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and _is_root(statement)
    ]
    edits: list[Edit] = []
    obsolete: list[Edit] = []
    source = module.source
    result = _Result(module, planned)
    for statement in roots:
        layout = Layout(source, statement)
        if not layout.owns_lines or len(edits) + 1 == len(roots):
            continue
        alias = statement.names[0]
        if _rewritten(module, alias, planned) and not result.mentions(alias):
            start, end = source.span(statement)
            obsolete += [edit for edit in planned if edit.start < end and edit.end > start]
            edits.append(layout.replace([]))
    return edits, obsolete


class _Result:
    """A module as the planned edits make it; it is read when a name's use is asked for."""

    def __init__(self, module: Module, planned: list[Edit]) -> None:
        self.module = module
        self.planned = planned

    def mentions(self, alias: ast.alias) -> bool:
        """Whether an imported name is still used, or that cannot be known."""
        return self._globals is None or _local(alias) in self._globals

    @cached_property
    def _globals(self) -> set[str] | None:
        try:
            text = splice(self.module.source.text, self.planned)
            return set(_global_names(symtable(text, str(self.module.path), "exec")))
        except (SyntaxError, ValueError, RecursionError):
            return None  # which the file's own check reports


def _global_names(table: SymbolTable) -> Iterator[str]:
    """The names of the module's own scope that code reads, anywhere."""
    for one in table.get_symbols():
        if one.is_referenced() and (table.get_type() == "module" or one.is_global()):
            yield one.get_name()
    for inner in table.get_children():
        yield from _global_names(inner)


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_root(statement: ast.Import | ast.ImportFrom) -> bool:
    """`import tensorflow.compat.v1 as tf`, `from tensorflow.compat import v1`, alone."""
    names = statement.names
    if isinstance(statement, ast.Import):
        known = ("tensorflow", "tensorflow.compat.v1")
        return len(names) == 1 and names[0].name in known and bool(names[0].asname)
    return statement.module == "tensorflow.compat" and [a.name for a in names] == ["v1"]


def _rewritten(module: Module, alias: ast.alias, planned: list[Edit]) -> bool:
    """Whether edits take every mention of an imported name away (and there is one)."""
    names, source = module.names, module.source
    spans = [source.span(m) for m in names.mentions(_local(alias), names.module_scope)]
    return bool(spans) and all(
        any(edit.start <= start and end <= edit.end for edit in planned) for start, end in spans
    )
