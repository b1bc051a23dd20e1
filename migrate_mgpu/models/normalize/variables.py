"""A model_fn with arguments, kept in a variable: `fn = functools.partial(model_fn, rate=0.1)`.

It is written where the Estimator is made, which is the only one that reads the variable.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the variable is read elsewhere, or its value may be another by then."""
    given, module = flow.arguments.get("model_fn"), flow.module
    names = module.names
    if not isinstance(given, ast.Name):
        return {}
    bindings = names.bindings_of(given)
    if len(bindings) != 1 or not isinstance(bindings[0].value, (ast.Call, ast.Lambda)):
        return {}
    value = bindings[0].value
    statement = names.statement(value)
    layout = Layout(module.source, statement)
    if not isinstance(statement, ast.Assign) or statement.value is not value:
        return {}
    if len(statement.targets) != 1 or not layout.owns_lines or layout.trailing_comment:
        return {}
    reads = [
        name
        for name in names.by_id.get(given.id, ())
        if isinstance(name.ctx, ast.Load) and bindings[0] in names.bindings_of(name)
    ]
    home = names.scope_of_name[given]
    if reads != [given] or names.scope_at(statement) is not home:
        return {}
    imported = any(module in other.imported for other in graph.project.modules.values())
    if home.is_module and imported:
        return {}
    if statement not in names.block(names.statement(given)):
        return {}
    read = [n for n in ast.walk(value) if isinstance(n, ast.Name)]
    for name in (n for n in read if names.defining_scope(n.id, names.scope_of_name[n]) is home):
        for binding in home.bindings[name.id]:
            if statement.lineno < line_of(binding.node) <= flow.call.lineno:
                return {}
    text = module.source.code(value)
    if "\n" in text and isinstance(value, ast.Call):
        return {}  # another pass makes it a lambda
    return {module: [layout.replace([]), Edit(*module.source.span(given), text)]}
