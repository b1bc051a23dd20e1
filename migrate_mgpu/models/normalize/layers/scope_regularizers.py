"""Scopes that give their variables a regularizer, as variables that state it.

    with tf.variable_scope("model", regularizer=tf.contrib.layers.l2_regularizer(1e-3)):
        w = tf.get_variable("w", [3, 2])

becomes `tf.get_variable("w", [3, 2], regularizer=...)`, also in the functions that are called in
such scopes alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from migrate_mgpu.analysis.call_graph import CallGraph, Definition, Function
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.initializers import INITIALIZERS
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.source.call_edit import CallEdit
from migrate_mgpu.source.source import Edit

_SCOPE, _GIVEN = "variable_scope", "regularizer"
_REGULARIZERS = ("contrib.layers.l1_regularizer", "contrib.layers.l2_regularizer")
# What makes no variable, besides what only computes.
_KNOWN = {"variable_scope", "name_scope", "device", "get_variable_scope", "get_collection",
          "add_to_collection", *_REGULARIZERS}  # fmt: skip
_METHODS = ("append", "extend", "get_shape", "as_list", "compute_gradients", "format",
            "reuse_variables", "num_elements")  # fmt: skip


def normalize(module: Module, graph: CallGraph, modules: Sequence[Module]) -> list[Edit]:
    """The edits for all scopes of a program that have a regularizer, if it is one.

    ``modules`` are all that the program has.
    """
    scopes = list(_scopes(module))
    if not scopes or any(list(_scopes(other)) for other in modules if other is not module):
        return []
    blocks: set[ast.AST] = set()
    for call in scopes:
        block = module.names.parents.get(module.names.parents.get(call, call))
        if not isinstance(block, ast.With):
            return []
        blocks.add(block)
    given = {module.source.code(_regularizer(call)) for call in scopes}
    if len(given) != 1 or not all(_is_plain(module, _regularizer(call)) for call in scopes):
        return []
    found: set[ast.Call] = set()
    for block in blocks:
        assert isinstance(block, ast.With)
        for statement in block.body:
            made = _made(module, graph, statement, blocks, frozenset())
            if made is None:
                return []
            found |= made
    if not found:
        return []
    edits: list[Edit] = []
    for call in found:
        edit = CallEdit(module.source, call)
        edit.add(_GIVEN, next(iter(given)))
        edits += edit.edits()
    for call in scopes:
        edit = CallEdit(module.source, call)
        edit.drop(_GIVEN)
        edits += edit.edits()
    return edits


def _scopes(module: Module) -> Iterator[ast.Call]:
    for call in calls_of_names(module).get(_SCOPE, ()):
        if any(one.arg == _GIVEN and not is_none(one.value) for one in call.keywords):
            yield call


def _regularizer(call: ast.Call) -> ast.expr:
    return next(one.value for one in call.keywords if one.arg == _GIVEN)


def _is_plain(module: Module, node: ast.expr) -> bool:
    """Whether a regularizer is the same wherever it is made."""
    if isinstance(node, ast.Name):
        value = module.names.only_value(node)
        home = module.names.defining_scope(node.id, module.names.scope_of_name[node])
        return home is module.names.module_scope and value is not None and _is_plain(module, value)
    if not isinstance(node, ast.Call) or name_of(module, node) not in _REGULARIZERS:
        return False
    parts = (*node.args, *(one.value for one in node.keywords))
    return bool(parts) and all(constant(one) is not None for one in parts)


def _made(
    module: Module,
    graph: CallGraph,
    node: ast.AST,
    blocks: AbstractSet[ast.AST],
    seen: frozenset[ast.AST],
) -> set[ast.Call] | None:
    """The calls that make variables there; None where something else may make some."""
    found: set[ast.Call] = set()
    for call in (one for one in walk(node) if isinstance(one, ast.Call)):
        name = name_of(module, call)
        if name == "get_variable":
            if len(call.args) > 4 or any(one.arg in (_GIVEN, None) for one in call.keywords):
                return None
            found.add(call)
            continue
        if name:
            if name in COMPUTES or name in INITIALIZERS.by_name or name in _KNOWN:
                continue
            if name.startswith("nn.") and "rnn" not in name:
                continue  # functions of tensors: the variables are among them
            return None
        if (module.names.qualname(call.func) or "").startswith("builtins."):
            continue
        target = graph.target(module, call.func)
        if target is None:
            if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
                continue
            if isinstance(call.func, ast.Name) and module.names.is_parameter(call.func):
                continue  # an activation, which a call gives: of TensorFlow, or seen there
            return None
        if target.node in seen:
            return None
        if target.module is not module or not _only_there(module, graph, target.node, blocks, seen):
            return None
        inner = _made(module, graph, target.node, blocks, seen | {target.node})
        if inner is None:
            return None
        found |= inner
    return found


def _only_there(
    module: Module,
    graph: CallGraph,
    node: Definition,
    blocks: AbstractSet[ast.AST],
    seen: AbstractSet[ast.AST],
) -> bool:
    """Whether a function is called in such scopes alone, or by functions that are."""
    for reference in graph.references(Function(module, node)):
        around = module.names.ancestors(reference.node)
        inside = any(parent in blocks or parent in seen for parent in around)
        if reference.module is not module or reference.call is None or not inside:
            return False
    return True
