"""A model_fn with arguments, kept in a variable: `fn = functools.partial(model_fn, rate=0.1)`.

It is written where the Estimator is made, or the Estimators: nothing else reads the variable.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import Names
from migrate_mgpu.analysis.scopes import line_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import SIGNATURES
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
    home = names.defining_scope(given.id, names.scope_of_name[given])
    if home is None or given not in reads or names.scope_at(statement) is not home:
        return {}
    if len(reads) > 1 and not (
        _is_wrapper(module, value) and all(_makes_estimator(module, one) for one in reads)
    ):
        return {}
    imported = any(module in other.imported for other in graph.project.modules.values())
    if home.is_module and imported:
        return {}
    tops = [_beside(names, statement, one) for one in reads]
    if any(top is None for top in tops):
        return {}
    last = max(top.end_lineno or top.lineno for top in tops if top is not None)
    inner = any(names.scope_of_name[one] is not home for one in reads)
    read = [n for n in ast.walk(value) if isinstance(n, ast.Name)]
    for name in (n for n in read if names.defining_scope(n.id, names.scope_of_name[n]) is home):
        if inner and len(home.bindings[name.id]) != 1:
            return {}  # a function may be called later
        for binding in home.bindings[name.id]:
            if statement.lineno < line_of(binding.node) <= last:
                return {}
    text = module.source.code(value)
    if "\n" in text and isinstance(value, ast.Call):
        return {}  # another pass makes it a lambda
    return {module: [layout.replace([]), *(Edit(*module.source.span(one), text) for one in reads)]}


def _beside(names: Names, made: ast.stmt, read: ast.Name) -> ast.stmt | None:
    """The statement of a block below what it makes that holds a mention; None where none does."""
    block = names.block(made)
    around = [read, *names.ancestors(read)]
    found = next((one for one in around if one in block), None)
    return found if isinstance(found, ast.stmt) and found is not made else None


def _is_wrapper(module: Module, value: ast.expr) -> bool:
    """Whether it makes no difference how often a value is made."""
    if isinstance(value, ast.Call):
        return module.names.qualname(value.func) == "functools.partial"
    return isinstance(value, ast.Lambda)


def _makes_estimator(module: Module, node: ast.Name) -> bool:
    """Whether a name is what another Estimator is given as its model_fn."""
    call = module.names.taker(node)
    if call is None or tensorflow_name(module, call.func) != "estimator.Estimator":
        return False
    return by_parameter(call, SIGNATURES["Estimator"]).get("model_fn") is node
