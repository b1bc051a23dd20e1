"""`tf.contrib.layers.apply_regularization(l2_regularizer(scale), weights)`, as the sum that it is:

    tf.add_n([tf.multiply(scale, tf.nn.l2_loss(weight)) for weight in weights])

TF1 puts the sum into a collection as well, which nothing may ask for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.analysis.style import style_at
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.models.normalize.layers.applied_regularizers import TERMS, is_plain
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout, without_paragraph

_APPLIES = "contrib.layers.apply_regularization"
_COLLECTIONS = ("losses.get_", "get_collection", "GraphKeys")


def summed(modules: Sequence[Module], graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits for all such calls of a module; none where a collection is asked for."""
    every = {*modules, *graph.modules}
    if not any(calls_of_names(one).get(_APPLIES) for one in modules):
        return {}
    if any(use.symbol.name.startswith(_COLLECTIONS) for one in every for use in one.uses):
        return {}
    for module in modules:
        edits: list[Edit] = []
        gone: dict[ast.stmt, int] = {}
        for call in calls_of_names(module).get(_APPLIES, ()):
            edits += _sum(module, call, gone)
        edits += _unused(module, gone)
        if edits:
            return {module: edits}
    return {}


def _sum(module: Module, call: ast.Call, gone: dict[ast.stmt, int]) -> Iterator[Edit]:
    """The sum; ``gone`` counts the uses of a regularizer with a name that go."""
    given = by_parameter(call, ("regularizer", "weights_list"))
    told, weights = given.get("regularizer"), given.get("weights_list")
    made = module.names.only_value(told) if isinstance(told, ast.Name) else told
    name = name_of(module, made) if isinstance(made, ast.Call) else ""
    if name not in TERMS or weights is None or is_none(weights) or len(given) != 2:
        return
    assert isinstance(made, ast.Call)
    settings = by_parameter(made, ("scale", "scope"))
    scale = settings.get("scale")
    if scale is None or not is_plain(module, scale) or not _means_the_same(module, scale, call):
        return
    if "\n" in module.source.code(weights):
        return
    source, tensorflow = module.source, style_at(module, call).tensorflow
    variable = module.names.fresh(module.names.scope_at(call), "weight", "one_weight")
    term = TERMS[name].format(tf=tensorflow, value=variable)
    text = f"{tensorflow}.multiply({source.code(scale)}, {term})"
    text = f"{tensorflow}.add_n([{text} for {variable} in {source.code(weights)}])"
    yield Edit(*source.span(call), text)
    if isinstance(told, ast.Name):
        statement = module.names.statement(made)
        gone[statement] = gone.get(statement, 0) + 1


def _means_the_same(module: Module, scale: ast.expr, call: ast.Call) -> bool:
    """Whether a scale is the same where the regularizer is made and where it is applied."""
    names = module.names
    root = scale.value if isinstance(scale, ast.Attribute) else scale
    if not isinstance(root, ast.Name):
        return True
    there = names.defining_scope(root.id, names.scope_of_name[root])
    return names.defining_scope(root.id, names.scope_at(call)) is there


def _unused(module: Module, gone: dict[ast.stmt, int]) -> Iterator[Edit]:
    """The regularizers with a name that nothing else mentions."""
    for statement, uses in gone.items():
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and Layout(module.source, statement).owns_lines:
            home = module.names.scope_of_name[target]
            if len(module.names.mentions(target.id, home)) == uses + 1:
                yield without_paragraph(module.source, statement)
