"""`tf.train.init_from_checkpoint` in a model_fn: what the variables begin with.

TF1 takes these values where the folder of the model has no checkpoint yet.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.dataflow import loaded
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.idioms import is_showing
from migrate_mgpu.analysis.modes import MODES
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.scopes import names_in, walk
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import FirstValues

_INIT, _TRAINED = "train.init_from_checkpoint", "trainable_variables"
_OF_VARIABLES = {
    "assign", "assign_add", "device", "eval", "get_shape", "graph", "initial_value",
    "initialized_value", "initializer", "load", "op", "read_value", "trainable", "value",
}  # fmt: skip
_ADVICE = "let it ask for names, shapes and types of variables alone"


def read_first_values(
    reading: Reading, network: set[ast.stmt], training: ast.stmt | None, graph: CallGraph
) -> FirstValues | None:
    """What gives variables first values; None where nothing does.

    ``network`` are the statements that make variables, ``training`` the one that makes the
    training step.

    Raises:
        Refused: which variables get which values is not known.
    """
    module, units = reading.module, reading.paths[reading.base].units
    firsts = [unit for unit in units if _calls(module, unit, _INIT)]
    for mode in MODES:
        for unit in reading.paths[mode].units if mode in reading.specs else ():
            if _calls(module, unit, _INIT) and unit not in firsts:
                text = "the variables begin with a checkpoint's values in some modes alone"
                raise Refused(module, unit, text, "let all modes begin so")
    if not firsts:
        return None
    flow = reading.flow
    found = {*firsts, *(made for unit in firsts for made in flow.slice([unit], unit))}
    if any(_calls(module, unit, _INIT) for unit in network) or found & network:
        raise Refused(module, firsts[0], "the network and a checkpoint's values share statements")
    # What tells which variables they were goes with them.
    for unit in units[units.index(firsts[0]) :]:
        reads = {name.id for name in loaded(unit)}
        if unit in found or not reads & {name for one in found for name in _given(one)}:
            continue
        behind = flow.slice([unit], unit)
        if not {unit, *behind} & {*network, training}:
            found |= {unit, *behind}
    last = max(map(units.index, found))
    for unit in units[units.index(firsts[0]) : last]:
        if unit not in found and _only_tells(module, unit):
            found.add(unit)
    ordered = sorted(found, key=units.index)
    above = [unit for unit in units if unit in network]
    if above and units.index(ordered[0]) < units.index(above[-1]):
        text = "a checkpoint's values are given before all variables exist"
        raise Refused(module, ordered[0], text, "let it stand behind the network")
    if training is not None and training in units and last > units.index(training):
        text = "a checkpoint's values are given behind the optimizer, whose variables TF1 may mean"
        raise Refused(module, ordered[-1], text, "let it stand above the optimizer")
    _check_names(reading, ordered)
    everywhere = all(
        set(ordered) <= set(reading.paths[mode].units) for mode in MODES if mode in reading.specs
    )
    listed = [call for unit in ordered for call in _calls(module, unit, _TRAINED)]
    for call in listed:
        if call.args or call.keywords:
            raise Refused(module, call, "the trainable variables of one scope", "take all")
    for home, node in _asking(module, ordered, graph):
        if isinstance(node, ast.Attribute) and node.attr in _OF_VARIABLES:
            text = f"what gives first values may ask `{node.attr}` of a variable"
            raise Refused(home, node, text, _ADVICE)
    calls = tuple(call for unit in ordered for call in _calls(module, unit, _INIT))
    nodes = (node for unit in ordered for node in walk(unit))
    roots = any(isinstance(node, ast.Constant) and node.value == "/" for node in nodes)
    return FirstValues(tuple(ordered), calls, tuple(listed), everywhere, roots)


def _calls(module: Module, unit: ast.stmt, name: str) -> list[ast.Call]:
    calls = (node for node in walk(unit) if isinstance(node, ast.Call))
    return [call for call in calls if tensorflow_name(module, call.func) == name]


def _given(unit: ast.stmt) -> set[str]:
    """The names that a statement gives values."""
    return {name.id for name in names_in(unit) if isinstance(name.ctx, ast.Store)}


def _only_tells(module: Module, unit: ast.stmt) -> bool:
    """Whether a statement logs a text that is written out."""
    call = unit.value if isinstance(unit, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    return is_showing(module, call) and all(isinstance(given, ast.Constant) for given in call.args)


def _check_names(reading: Reading, units: list[ast.stmt]) -> None:
    """They are made of settings, and of nothing that a batch has.

    Raises:
        Refused: something else is.
    """
    names = reading.module.names
    home = names.scopes[reading.function]
    own = {name for unit in units for name in _given(unit)}
    own.update(reading.settings)
    for unit in units:
        for part in walk(unit):
            if isinstance(part, ast.expr) and reading.modes.asks(part):
                text = "what the variables begin with depends on the mode"
                raise Refused(reading.module, part, text, "let all modes begin so")
        for name in loaded(unit):
            if name.id not in own and names.defining_scope(name.id, home) is home:
                text = f"what the variables begin with depends on `{name.id}`"
                raise Refused(reading.module, name, text, "give it by `params`")


def _asking(
    module: Module, units: list[ast.stmt], graph: CallGraph
) -> list[tuple[Module, ast.AST]]:
    """All that these statements do, with the functions of the run that they call."""
    found: list[tuple[Module, ast.AST]] = []
    stack: list[tuple[Module, ast.AST]] = [(module, unit) for unit in units]
    seen: set[ast.AST] = set()
    while stack:
        home, node = stack.pop()
        for part in walk(node):
            found.append((home, part))
            target = graph.target(home, part.func) if isinstance(part, ast.Call) else None
            if target is not None and target.node not in seen:
                seen.add(target.node)
                stack.append((target.module, target.node))
    return found
