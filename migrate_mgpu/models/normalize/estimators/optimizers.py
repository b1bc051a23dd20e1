"""An optimizer that is handed on before it trains: it is made where it trains.

``first, name = tf.train.AdamOptimizer(0.01), "x"``, ``table["adam"].minimize(loss)``, and one
that a function returns which does nothing else.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.carriers import Carriers
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import position, statement_value
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.optimizers import OPTIMIZERS
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import field, record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.visibility import is_visible
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_TRAINS = ("apply_gradients", "compute_gradients", "minimize")


@record()
class _Edits:
    """The edits of one form, and the statements that are gone."""

    edits: dict[Module, list[Edit]] = field(default_factory=dict)
    gone: set[ast.AST] = field(default_factory=set)

    def edit(self, module: Module, edit: Edit) -> None:
        self.edits.setdefault(module, []).append(edit)


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the optimizer is more than one, or used for more than to train."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    module, values = function.module, ValueFlow(graph)
    inside = set(ast.walk(function.node))
    trains: dict[Value, list[ast.expr]] = {}
    for name in _TRAINS:
        for attribute in module.names.attributes.get(name, ()):
            made = _handed_on(module, attribute.value, values) if attribute in inside else None
            if made is not None:
                trains.setdefault(made, []).append(attribute.value)
    if len(trains) != 1:
        return {}
    ((made, places),) = trains.items()
    try:
        return _made_at(module, made, sorted(places, key=position), values)
    except Refused:
        return {}


def _handed_on(module: Module, node: ast.expr, values: ValueFlow) -> Value | None:
    """The call that makes an optimizer which comes here by more than a variable."""
    found = values.definitions(module, node)
    if len(found) != 1 or not isinstance(found[0].node, ast.Call) or found[0].node is node:
        return None
    home, call = found[0].module, found[0].node
    if name_of(home, call) not in OPTIMIZERS.by_name:
        return None
    statement = home.names.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    plain = isinstance(target, ast.Name) and isinstance(node, ast.Name) and target.id == node.id
    plain = plain and home.names.scope_at(statement) is module.names.scope_at(node)
    return None if plain and statement_value(statement) is call else found[0]


def _made_at(
    module: Module, value: Value, places: list[ast.expr], values: ValueFlow
) -> dict[Module, list[Edit]]:
    home, made = value.module, value.node
    assert made is not None
    names, first = module.names, module.names.statement(places[0])
    block = names.block(first)
    used = {use.node for use in values.uses(home, made)}
    beside = all(
        any(one in block for one in (p, *names.ancestors(p)) if isinstance(one, ast.stmt))
        for p in places
    )
    pure = not any(isinstance(part, ast.Call) and part is not made for part in ast.walk(made))
    if used != set(places) or not beside or not pure or not is_visible(home, made, first, module):
        return {}
    if not all(_steady(home, part) for part in ast.walk(made) if isinstance(part, ast.Name)):
        return {}
    found = _Edits()
    carriers = Carriers([value], values, found, "optimizer")
    helper = values.graph.enclosing(home, made)
    inside = helper is not None and first in set(ast.walk(helper.node))
    if helper is not None and helper.name != "__init__" and not inside:
        carriers.without_helper(helper)
    carriers.take_out()
    text = home.source.code(made)
    if len(places) > 1:
        name = names.fresh(names.scope_at(first), "optimizer", "train_optimizer")
        found.edit(module, Layout(module.source, first).insert_before([f"{name} = {text}"]))
        text = name
    for place in places:
        found.edit(module, Edit(*module.source.span(place), text))
    return found.edits


def _steady(module: Module, name: ast.Name) -> bool:
    """Whether a name has one value wherever it is read."""
    bindings = module.names.bindings_of(name)
    return not bindings or len(bindings) == 1 or all(b.kind == "import" for b in bindings)
