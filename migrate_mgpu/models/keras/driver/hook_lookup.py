"""Which class of the run a hook is made of."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name

BASES = ("train.SessionRunHook", "estimator.SessionRunHook")


def hook_class(
    graph: CallGraph, module: Module, node: ast.expr
) -> tuple[Module, ast.ClassDef] | None:
    """The class of the run that an expression names, if it is a plain ``SessionRunHook``."""
    found = class_of(graph, module, node)
    if found is None:
        return None
    where, owner = found
    bases = [tensorflow_name(where, base) for base in owner.bases]
    plain = len(bases) == 1 and bases[0] in BASES
    return found if plain and not owner.keywords and not owner.decorator_list else None


def class_of(
    graph: CallGraph, module: Module, node: ast.expr
) -> tuple[Module, ast.ClassDef] | None:
    """The class that an expression names, in its own module or an imported one."""
    names = module.names
    if isinstance(node, ast.Name):
        bindings = names.bindings_of(node)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
            return module, bindings[0].node
    head, _, last = (names.qualname(node) or "").rpartition(".")
    for target in graph.project.resolve(module, head)[-1:] if head else []:
        bindings = target.names.module_scope.bindings.get(last, [])
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
            return target, bindings[0].node
    return None
