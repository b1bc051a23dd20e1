"""Statements that add to a collection which nobody reads, or that no call comes to: they go.

`if wd is not None: tf.add_to_collection('losses', decay)`, where every call has no `wd`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.constant_parameters import constants, truth
from migrate_mgpu.analysis.module import Module, fact_of_text
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.normalize.layers.collection_lists import OWN, mentions
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_ADDS = "add_to_collection"
_LOSSES = ("get_losses", "get_total_loss")  # `tf.losses` has the same collection
_READS = ("get_collection", "get_collection_ref")


def dropped(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for one module with such statements; none where there are none."""
    read = _read(modules)
    for module in modules:
        edits = [edit for found in _adding(module) for edit in _gone(module, found, read, graph)]
        if edits:
            return {module: edits}
    return {}


@fact_of_text
def _adding(module: Module) -> list[ast.Expr]:
    if _ADDS not in module.source.text:
        return []
    return [
        statement
        for statement in walk(module.tree)
        if isinstance(statement, ast.Expr) and name_of(module, statement.value) == _ADDS
    ]


def _read(modules: Sequence[Module]) -> set[str] | None:
    """The names of the collections that somebody reads; None where that cannot be told."""
    found: set[str] = set()
    for module in modules:
        here = _read_in(module)
        if here is None:
            return None
        found |= here
    return found


@fact_of_text
def _read_in(module: Module) -> set[str] | None:
    """Those that one module reads."""
    found: set[str] = set()
    if any(use.symbol.name.endswith(_LOSSES) for use in module.uses):
        found.add("losses")
    for node in mentions(module):
        call = module.names.parents.get(node)
        if isinstance(node, ast.ImportFrom):
            return None
        if name_of(module, call) == _ADDS:
            continue
        if name_of(module, call) not in _READS or not isinstance(call, ast.Call):
            return None
        key = constant(call.args[0]) if call.args else None
        if isinstance(key, str):
            found.add(key)
        elif not call.args or not name_of(module, call.args[0]).startswith("GraphKeys."):
            return None
        elif name_of(module, call.args[0]) == "GraphKeys.LOSSES":
            found.add("losses")
    return found


def _gone(
    module: Module, statement: ast.Expr, read: set[str] | None, graph: CallGraph
) -> list[Edit]:
    call = statement.value
    assert isinstance(call, ast.Call)
    block = module.names.parents[statement]
    whole: ast.stmt = statement
    if isinstance(block, ast.If) and not block.orelse and _never(module, block, graph):
        whole = block
    else:
        key = constant(call.args[0]) if call.args else None
        known = isinstance(key, str) and key not in OWN
        if read is None or not known or key in read or len(call.args) != 2 or call.keywords:
            return []
    found: list[ast.stmt] = [whole]
    if whole is statement:
        added = call.args[1]
        made = _made_for(module, added) if isinstance(added, ast.Name) else None
        found += [made] if made is not None else []
        if made is None and not isinstance(added, ast.Name):
            return []  # it may do more
        body = module.names.block(statement)
        if isinstance(block, ast.If) and not block.orelse and {*body} == {*found}:
            found = [block] if _only_asks(block.test) else []
        elif {*body} == {*found}:
            found = []
    layouts = [Layout(module.source, one) for one in found]
    if not all(layout.owns_lines for layout in layouts):
        return []
    return [Edit(layout.line_start, layout.next_line, "") for layout in layouts]


def _made_for(module: Module, name: ast.Name) -> ast.stmt | None:
    """The statement that makes what is added, and nothing else reads."""
    names = module.names
    binding = names.only_binding(name)
    home = names.defining_scope(name.id, names.scope_of_name[name])
    made = names.parents.get(binding.node) if binding is not None else None
    if home is None or home.is_module or not isinstance(made, ast.Assign):
        return None
    if len(made.targets) != 1 or made.targets[0] is not getattr(binding, "node", None):
        return None
    computes = isinstance(made.value, (ast.Call, ast.BinOp)) and name_of(module, made.value) in (
        "", "multiply", "mul", "nn.l2_loss",
    )  # fmt: skip
    plain = all(name_of(module, part) for part in walk(made.value) if isinstance(part, ast.Call))
    return made if computes and plain and len(names.mentions(name.id, home)) == 2 else None


def _only_asks(test: ast.expr) -> bool:
    return not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(test))


def _never(module: Module, block: ast.If, graph: CallGraph) -> bool:
    """Whether `if wd is not None:`, `if wd:` holds in no call of its function."""
    return truth(block.test, lambda name: constants(module, name, graph)) is False
