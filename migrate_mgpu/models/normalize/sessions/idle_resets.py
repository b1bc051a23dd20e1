"""A reset of the default graph that has nothing in it yet: it goes.

    from tensorflow.python.framework import ops
    ops.reset_default_graph()

    def main(_):
        with tf.Graph().as_default():
            ...

A script that begins so is read with it. Where a function builds the graph, its reader does not see
what its module does above. A random seed that was set before would be gone with the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.idioms import is_main_guard
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.session.scope import is_reset, session_calls
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

# What leaves nothing in a graph, and asks for none.
_ASIDE = ("flags.", "app.", "logging.", "gfile.", "compat.as_")
_NAMES = ("reset_default_graph", "__version__", "VERSION")


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for one such statement; none where there is none."""
    if any(module in other.imported for other in modules if other is not module):
        return []  # what those do before they import it is not seen
    if any(not _is_in_function(module, call) for call in session_calls(module)):
        return []
    for statement in module.tree.body:
        if is_reset(module, statement):
            others = (one for one in modules if one is not module)
            if all(_builds_nothing(one, graph, one.tree.body) for one in others):
                if Layout(module.source, statement).owns_lines:
                    gone = [statement, *_imported_for(module, statement)]
                    return [without_paragraph(module.source, one) for one in gone]
        if not _builds_nothing(module, graph, [statement]):
            return []
    return []


def _imported_for(module: Module, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The import whose only name nothing but the reset mentions."""
    names = module.names
    for part in ast.walk(statement):
        binding = names.only_binding(part) if isinstance(part, ast.Name) else None
        if not isinstance(part, ast.Name) or binding is None:
            continue
        mentions = names.mentions(part.id, names.module_scope)
        for one in module.tree.body:
            if isinstance(one, (ast.Import, ast.ImportFrom)) and len(one.names) == 1:
                bound = (one.names[0].asname or one.names[0].name) == part.id
                if bound and mentions == [part] and Layout(module.source, one).owns_lines:
                    yield one


def _is_in_function(module: Module, node: ast.AST) -> bool:
    return any(isinstance(one, ast.FunctionDef) for one in module.names.ancestors(node))


def _builds_nothing(module: Module, graph: CallGraph, body: Sequence[ast.stmt]) -> bool:
    """Whether statements of a module leave nothing in a graph when it is imported."""
    for statement in body:
        if is_main_guard(statement):
            return False
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        for part in _run_now(statement):
            name = name_of(module, part) if isinstance(part, (ast.Name, ast.Attribute)) else ""
            known = name in _NAMES or f"{name}.".startswith(_ASIDE)
            if name and not known and not _is_part(module, part):
                return False
            if isinstance(part, ast.Call) and graph.target(module, part.func) is not None:
                return False
    return True


def _is_part(module: Module, node: ast.AST) -> bool:
    """Whether a node is the beginning of a longer name: `tf.flags` of `tf.flags.FLAGS`."""
    parent = module.names.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.value is node


def _run_now(node: ast.AST) -> Iterator[ast.AST]:
    """What is computed where a statement stands: functions are only defined there."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner: list[ast.AST] = [*node.args.defaults]
        inner += [one for one in node.args.kw_defaults if one is not None]
        inner += getattr(node, "decorator_list", [])
    else:
        inner = [*ast.iter_child_nodes(node)]
    for one in inner:
        yield from _run_now(one)
