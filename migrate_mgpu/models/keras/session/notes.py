"""What is told of a session's program that becomes native."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate_mgpu.analysis.edit_set import EditSet
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import calls_of_names, name_of
from migrate_mgpu.core.findings import AVERAGES, BATCHES
from migrate_mgpu.models.front.network.cell_states import value_of
from migrate_mgpu.models.front.session.expressions import descriptions
from migrate_mgpu.models.front.session.program import SessionProgram, closure
from migrate_mgpu.models.ir import Mover, Step, TowerInput, Unit, Update

_FORGOTTEN = (
    "no step runs tf.GraphKeys.UPDATE_OPS: its averages never move, here by `momentum=1.0`; "
    "without that they would"
)
_RACING = (
    "each tower moves these averages, in TF1 in any order: two runs of that differ; here each "
    "replica moves them from what they were before the step"
)
_NOT_WRITTEN = "the graph is not written for TensorBoard: there is none, and it is left out"
_DESCRIBED = (
    "it printed what a tensor of the graph is called, and not its value: TF2 has no such tensor, "
    "and it is left out"
)
_DRAWN = (
    "TF1's towers take their batches from the iterator in any order, here in the towers' order: a "
    "value that is read from one tower may be of another batch; the training step is the same"
)
_TOGETHER = (
    "what one of these optimizers minimizes may depend on variables that another one trains: TF1 "
    "computes it before or after these change, in no fixed order; here all of it is of before"
)
_BESIDE = (
    "what is fetched here beside a training step and is not made by it is computed of variables, "
    "in TF1 before or after they change, in no fixed order; here all of it is of before"
)
_COLOCATED = (
    "TF1 put the operations of these gradients on the devices of those that they are of; here "
    "TensorFlow places them"
)
_DEEP = 8  # means of one number
_SIGNED = (
    "TF1.15 loses the outer minus sign of this when it computes it, a defect of its graph "
    "optimizer that gradients do not have; TF2 computes what is written"
)
_LIMITED = (
    "TF1 limits these variables before or after the step changes them, in no fixed order; here it "
    "is after"
)


def tell(program: SessionProgram, found: EditSet) -> None:
    """Notes on what is otherwise in TF2, or left out."""
    module = program.scope.module
    for layer in program.layers.values():
        if not layer.normalizes or (layer.in_place and program.scope.towers is None):
            continue
        if not (program.moves_averages or layer.in_place):
            found.note(module, layer.found.call, _FORGOTTEN, AVERAGES)
        elif program.mover is Mover.ALL:
            found.note(module, layer.found.call, _RACING, AVERAGES)
    for unit in program.units.values():
        if isinstance(unit, TowerInput) and unit.drawn and not program.drawn[unit.node].each:
            found.note(module, unit.node, _DRAWN, BATCHES)
    for run in program.runs:
        if _reads_trained(run.step):
            found.note(module, run.call, _TOGETHER)
        elif _reads_beside(program, run.step):
            found.note(module, run.call, _BESIDE)
        if any(program.limits_trained(unit, run.step.updates) for unit in run.step.units):
            found.note(module, run.call, _LIMITED)
    for unit in program.units.values():
        if _loses_sign(module, unit.node):
            found.note(module, unit.node, _SIGNED)
    if program.scope.towers is None and "device" in calls_of_names(module):
        for call in module.names.calls:
            told = (one.value for one in call.keywords if one.arg == "colocate_gradients_with_ops")
            if any(constant(one) is True for one in told):
                found.note(module, call, _COLOCATED)
    for written in program.graph_files:
        found.note(module, written, _NOT_WRITTEN)
    for printed in program.described:
        found.note(module, printed, _DESCRIBED)
    assert program.layer_helpers is not None
    layered = (one.function for one in program.layer_helpers.found.values())
    for function in (*program.builders.values(), *layered):
        for printed in descriptions(function.module, function.node):
            found.note(function.module, printed, _DESCRIBED)
    for node in program.idle:
        found.note(module, node, "no step needs what is built here: it is left out")


def _loses_sign(module: Module, node: ast.AST) -> bool:
    """Whether a minus sign is around a mean of one number with another one.

    `-tf.reduce_mean(-loss)`, where `loss = tf.reduce_mean(errors)`: 1.15.5 gives `-loss`.
    """
    return any(_is_negated(module, part) for part in walk(node))


def _is_negated(module: Module, node: ast.AST) -> bool:
    inner, between = _negated(module, node), 0
    while inner is not None and between < _DEEP:
        value = value_of(module, inner)
        negated = _negated(module, value)
        if negated is not None:
            return between > 0 and _reduced(module, value_of(module, negated)) is not None
        inner = _reduced(module, value)
        between += 1
    return False


def _negated(module: Module, node: ast.AST | None) -> ast.expr | None:
    """What has its sign changed."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.Call) and name_of(module, node) in ("negative", "neg"):
        return node.args[0] if len(node.args) == 1 else None
    return None


def _reduced(module: Module, node: ast.AST | None) -> ast.expr | None:
    """What becomes one number, over all its dimensions."""
    kinds = ("reduce_mean", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod")
    if isinstance(node, ast.Call) and name_of(module, node) in kinds and len(node.args) == 1:
        plain = all(one.arg == "name" for one in node.keywords)
        return node.args[0] if plain else None
    return None


def _reads_beside(program: SessionProgram, step: Step) -> bool:
    """Whether a step gives more than it trains by that is computed of variables it changes."""
    inside = {unit for one in step.updates for unit in closure(one.made_of, step.feeds)}
    changed = _trained(step.updates) | {one.counts for one in step.updates}
    told = {*program.summarizing, *program.copies}
    others = (unit for unit in step.units if unit.node not in told)
    return any(changed & _read((unit,)) for unit in others if unit not in inside)


def _reads_trained(step: Step) -> bool:
    """Whether an optimizer of a step minimizes what depends on what another one trains."""
    return any(
        _read(closure([update.unit], step.feeds))
        & _trained(one for one in step.updates if one is not update)
        for update in step.updates
    )


def _read(units: Iterable[Unit]) -> set[object]:
    """The variables that units take values of, or are parts of."""
    read = [v for unit in units for v in (*unit.reads, *unit.collects)]
    return {one.whole for v in read for one in (v, *v.listed)}


def _trained(updates: Iterable[Update]) -> set[object]:
    every = [some for one in updates for some in one.variables]
    return {one.whole for some in every for one in (some, *some.listed)}
