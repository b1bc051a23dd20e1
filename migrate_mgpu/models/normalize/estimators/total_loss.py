"""`tf.losses.get_total_loss()` as what it sums up: the one loss, and the regularization."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import statement_value, walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.source import Edit

# They give no loss, or take some that are there already.
_NO_LOSS = {
    "add_loss", "get_losses", "get_regularization_loss", "get_regularization_losses",
    "get_total_loss", "Reduction",
}  # fmt: skip


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where several losses, or one of another function's, may be collected."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, node = function.module, function.node
    calls = [call for call in walk(node) if isinstance(call, ast.Call)]
    named = [(call, _name(module, call)) for call in calls]
    totals = [call for call, name in named if name == "get_total_loss"]
    losses = [call for call, name in named if name and name not in _NO_LOSS]
    if len(totals) != 1 or len(losses) != 1 or any(name == "add_loss" for _, name in named):
        return {}
    if any(_name(m, c) for m in flow.modules for c in m.names.calls if c not in calls):
        return {}
    (total,), (loss,) = totals, losses
    if any(k.arg == "loss_collection" for k in loss.keywords) or len(total.args) > 1:
        return {}
    statement = module.names.statement(loss)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or statement_value(statement) is not loss:
        return {}
    if statement not in node.body or statement.lineno >= total.lineno:
        return {}  # it may not be made in every mode
    text = target.id
    given = {k.arg: k.value for k in total.keywords}
    added = total.args[0] if total.args else given.pop("add_regularization_losses", None)
    if given.keys() - {"name"}:
        return {}
    if added is None or constant(added) is True:
        tf = module.source.code(total.func).rpartition(".")[0]
        text += f" + {tf}.get_regularization_loss()"
        if not isinstance(module.names.parents[total], ast.Assign):
            text = f"({text})"
    elif constant(added) is not False:
        return {}
    return {module: [Edit(*module.source.span(total), text)]}


def _name(module: Module, call: ast.Call) -> str:
    """The last name of a function of `tf.losses`."""
    head, _, last = name_of(module, call).partition("losses.")
    return "" if head else last
