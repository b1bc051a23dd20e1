"""What of a module is not there any more once some of its nodes are removed."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.module import Module


def is_inside(module: Module, node: ast.AST, gone: AbstractSet[ast.AST]) -> bool:
    parents = module.names.parents
    current: ast.AST | None = node
    while current is not None and gone:
        if current in gone:
            return True
        current = parents.get(current)
    return False


def binds_only_removed(module: Module, node: ast.AST, gone: AbstractSet[ast.AST]) -> bool:
    """Whether an import statement's names are used nowhere but in what goes away."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    return all(name_unused(module, node, alias, gone) for alias in node.names)


def name_unused(
    module: Module, node: ast.AST, alias: ast.alias, gone: AbstractSet[ast.AST]
) -> bool:
    """Whether everything that mentions an imported name goes away (and something does)."""
    names = module.names
    local = alias.asname or alias.name.split(".")[0]
    home = names.defining_scope(local, names.scope_at(node))
    if home is None:
        return False
    mentions = names.mentions(local, home)
    return bool(mentions) and all(is_inside(module, mention, gone) for mention in mentions)
