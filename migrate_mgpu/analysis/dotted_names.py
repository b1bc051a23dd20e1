"""By what dotted name Python imports a module, as far as the run shows."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.removal import is_inside, name_unused


def imported_as(module: Module, importers: Sequence[Module]) -> str | None:
    """A module's one name; None where it has several, or depends on how it is started."""
    own = module.name
    found: set[str] = set()
    path = module.path.absolute().with_suffix("").parts
    if path[-1] == "__init__":
        return None
    if module.path.suffix == ".ipynb" or not path[-1].isidentifier():  # it runs where it lies
        return path[-1].rpartition(".")[2]
    started = module.has_main_guard or not importers
    if "." in own and (module.in_package or names_own_package(module)):
        found.add(own)
    elif "." in own and started and module.has_main_guard and not importers:
        found.add(own.rpartition(".")[2])  # a script: it asks for nothing of its package
    elif "." in own and started:
        return None  # as a script, or by its package's name
    elif started:
        found.add(own)
    relative: set[str] = set()  # below a package whose own place nothing may show
    for importer in importers:
        for statement in importer.names.imports:
            named = [alias.name for alias in statement.names]
            if isinstance(statement, ast.ImportFrom):
                base = importer.names.absolute(statement) or ""
                within = [f"{base}.{name}" for name in named]
                named = [name for name in within if _leads_to(name, path)] or [base]
            # `from nmt import train` is about the package, when `nmt.nmt` is asked for.
            named = [name for name in named if name != module.package]
            is_relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
            others = relative if is_relative else found
            others.update(name for name in named if _leads_to(name, path))
    found |= {one for one in relative if not any(name.endswith(f".{one}") for name in found)}
    return found.pop() if len(found) == 1 else None


def _leads_to(name: str, path: tuple[str, ...]) -> bool:
    parts = tuple(name.split("."))
    return path[-len(parts) :] == parts


def names_own_package(module: Module) -> bool:
    """Whether a module imports from its own outermost package by that package's name."""
    top = module.name.split(".")[0]
    for statement in module.names.imports:
        if isinstance(statement, ast.Import):
            named = [alias.name for alias in statement.names]
        else:
            named = [statement.module or ""] if not statement.level else []
        if any(name.split(".")[0] == top for name in named):
            return True
    return False


def takes(
    importer: Module,
    module: Module,
    name: str,
    gone: AbstractSet[ast.AST] = frozenset(),
    by_star: bool = True,
) -> bool:
    """Whether a module that imports another one uses a name as that one binds it.

    What is ``gone`` uses nothing any more. ``by_star`` is False where names that `import *` brings
    are written anew in their own module.
    """
    stem = module.path.stem
    if f"{stem}.{name}" in importer.source.text:
        return True
    return any(
        (alias.name == name and not name_unused(importer, statement, alias, gone))
        or (
            by_star
            and alias.name == "*"
            and any(
                not is_inside(importer, one, gone) for one in importer.names.by_id.get(name, ())
            )
        )
        for statement, _ in importer.import_statements
        if isinstance(statement, ast.ImportFrom)
        and (statement.module or "").rpartition(".")[2] in (stem, "")
        for alias in statement.names
    )
