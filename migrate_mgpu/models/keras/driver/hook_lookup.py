"""Which class of the run a hook is made of."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.api.hooks import HOOK_BASES


def hook_class(
    graph: CallGraph, module: Module, node: ast.expr
) -> tuple[Module, ast.ClassDef] | None:
    """The class of the run that an expression names, if it is a plain ``SessionRunHook``."""
    found = graph.class_of(module, node)
    if found is None:
        return None
    return found if is_hook(*found) else None


def is_hook(module: Module, owner: ast.ClassDef) -> bool:
    """Whether a class is a plain ``SessionRunHook``."""
    bases = [tensorflow_name(module, base) for base in owner.bases]
    plain = len(bases) == 1 and bases[0] in HOOK_BASES
    return plain and not owner.keywords and not owner.decorator_list
