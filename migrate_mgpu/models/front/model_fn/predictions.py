"""What a model_fn predicts, as made of the network's values."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.dataflow import Dataflow, items
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import PREDICT
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.scopes import names_in
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.api.graph import COMPUTES
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.front.model_fn.outputs import Outputs
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import Predictions

# What a function of TensorFlow gives: tensors, but for records, by their names.
_TENSORS = frozenset(name for name in COMPUTES if "parse" not in name and "Feature" not in name)


def read_predictions(reading: Reading, outputs: Outputs | None = None) -> Predictions | None:
    """What `predict` gives; None where that is what the model gives.

    Raises:
        Refused: they are not given, or not written out.
    """
    if PREDICT not in reading.specs:
        text = "the program asks for predictions, and model_fn returns none"
        raise Refused(reading.module, reading.function, text)
    flow, spec = reading.flows[PREDICT], reading.specs[PREDICT]
    output, made = reading.output if outputs is None else ("", None)
    value = reading.argument(PREDICT, "predictions")
    if value is None:
        text = "the EstimatorSpec for PREDICT has no predictions"
        raise Refused(reading.module, spec.call, text)
    found, where = flow.resolve(value, spec.unit, made)
    assert found is not None
    if isinstance(found, ast.Name) and found.id == output:
        if made is not None and flow.single(output, where) is made:
            return None
    filled = outputs is not None and _is_filled(flow, found, where)
    if not items(found) and isinstance(found, (ast.Dict, ast.Name)) and not filled:
        if outputs is None or not _is_tensor(reading.module, found, outputs):
            raise Refused(reading.module, value, "predictions is not a dictionary literal")
    if outputs is None:
        return _of_output(reading, value, spec.unit, tuple(items(found)))
    if isinstance(found, ast.Name) and outputs.names_of(False) == [found.id]:
        return None
    units = outputs.predictions
    keys = tuple(items(found))
    named = filled or bool(keys)
    return Predictions(value, spec.unit, units, named=named, keys=keys, of_output=False)


def _is_filled(flow: Dataflow, node: ast.expr, unit: ast.stmt | None) -> bool:
    """Whether a variable is a dictionary that is written out, with items set one by one."""
    statements = flow.definitions(node.id, unit) if isinstance(node, ast.Name) else ()
    if len(statements) < 2 or not isinstance(node, ast.Name):
        return False
    made = statements[0].value if isinstance(statements[0], ast.Assign) else None
    if not isinstance(made, ast.Dict):
        return False
    changes = [name for one in statements[1:] for name in names_in(one) if name.id == node.id]
    return all(_sets_item(one) for one in statements[1:]) and len(changes) == len(statements) - 1


def _sets_item(statement: ast.stmt) -> bool:
    """`d[key] = value`, also as all that a loop does."""
    if isinstance(statement, ast.For) and len(statement.body) == 1 and not statement.orelse:
        return _sets_item(statement.body[0])
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)


def _is_tensor(module: Module, node: ast.expr, outputs: Outputs) -> bool:
    """Whether a value is what a function of TensorFlow computes, in a helper's result as well."""
    found = ValueFlow(outputs.helpers.graph).definitions(module, node)
    return all(
        isinstance(one.node, ast.Call) and name_of(one.module, one.node) in _TENSORS
        for one in found
    )


def _of_output(
    reading: Reading, value: ast.expr, unit: ast.stmt | None, keys: tuple[object, ...]
) -> Predictions:
    """The statements between the network's output and the predictions."""
    flow, (_, made) = reading.flows[PREDICT], reading.output
    named = bool(keys)
    needed = _between(reading, value, unit)
    if any(flow.depends(one, one, "features") for one in needed & reading.network):
        return Predictions(value, unit, named=named, keys=keys, of_output=False)
    units = sorted(needed - {made}, key=lambda statement: statement.lineno)
    for name in reading.settings:
        outside = [u for u in units if flow.depends(u, u, name, made)]
        if any(n.id == name for n in ast.walk(value) if isinstance(n, ast.Name)):
            outside.append(made)
        if outside:
            raise Refused(reading.module, outside[0], f"the predictions depend on `{name}`")
    return Predictions(value, unit, units, named=named, keys=keys)


def _between(reading: Reading, value: ast.expr, unit: ast.stmt | None) -> set[ast.stmt]:
    """The statements behind a value, down to the output."""
    flow, (_, made) = reading.flows[PREDICT], reading.output
    found: set[ast.stmt] = set()
    stack: list[tuple[ast.AST, ast.stmt | None]] = [(value, unit)]
    while stack:
        node, place = stack.pop()
        for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
            for statement in flow.definitions(name.id, place):
                if statement is not made and statement not in found:
                    found.add(statement)
                    stack.append((statement, statement))
    return found
