"""RunConfigs and hooks that nothing is given, and prints of one: they go, and are told of."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.idioms import showing
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import statement_value
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.hooks import IDLE_HOOKS, LOGGING_HOOKS
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow, constructed
from migrate_mgpu.models.keras.driver.driver_edits import DriverEdits
from migrate_mgpu.source.statements import Layout

_HOOKS = {*LOGGING_HOOKS, *IDLE_HOOKS}


def without_prints(places: list[Value], changes: DriverEdits) -> None:
    """Takes the statements away that print a RunConfig."""
    for value in places:
        assert value.node is not None
        statement = value.module.names.statement(value.node)
        if statement not in changes.gone:
            text = "this prints an object of TF1 that no longer exists: the statement is removed"
            changes.note(value.module, statement, text)
            _remove(value.module, statement, changes)


def without_idle(flow: EstimatorFlow, values: ValueFlow, changes: DriverEdits) -> None:
    """Takes RunConfigs and TensorFlow's own hooks away that are handed to nothing."""
    for module in flow.modules:
        for call in module.names.calls:
            made = constructed(module, call, "RunConfig")
            name = tensorflow_name(module, call.func)
            if (made is None and name not in _HOOKS) or call in changes.moved:
                continue
            statement = module.names.statement(call)
            single = isinstance(statement, ast.Assign) and isinstance(
                statement.targets[0], ast.Name
            )
            if not single or statement_value(statement) is not call:
                continue
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            parts = [part for value in given for part in ast.walk(value)]
            mentions = values.uses(module, call)
            direct = len(values.places(module, call)) == 1 + len(mentions)  # no function gets it
            shown = direct and all(
                m.node is not None
                and showing(m.module, m.node) is not None
                and [origin.node for origin in values.definitions(m.module, m.node)] == [call]
                for m in mentions
            )
            if not shown or any(isinstance(part, ast.Call) for part in parts):
                continue
            if module.names.scope_at(statement).is_module and _imported(module, values):
                continue
            without_prints(mentions, changes)
            changes.gone.add(call.func)
            changes.moved.add(call)
            kind, taker = ("RunConfig", "Estimator") if made else (name, "training")
            text = f"this {kind.rpartition('.')[2]} is passed to no {taker}: it is left out, as it "
            text += "did nothing"
            changes.note(module, call, text)
            _remove(module, statement, changes)


def _imported(module: Module, values: ValueFlow) -> bool:
    """Whether another module may read this one's variables by a star."""
    return any(
        statement for other in values.graph.project.modules.values()
        if module in other.imported for statement in other.names.star_imports
    )  # fmt: skip


def _remove(module: Module, statement: ast.stmt, changes: DriverEdits) -> None:
    layout = Layout(module.source, statement)
    alone = all(other is statement or other in changes.gone for other in
                module.names.block(statement))  # fmt: skip
    changes.gone.add(statement)
    changes.edit(module, layout.replace(["pass"] if alone else []))
