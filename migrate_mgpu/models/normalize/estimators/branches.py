"""One call of the network for all modes, where each branch on the mode has its own.

``logits = model(image, training=True)`` under TRAIN and ``logits = model(image,
training=False)`` under EVAL become ``logits = model(image, training=mode ==
tf.estimator.ModeKeys.TRAIN)`` above both: the same graph in every mode.
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.dataflow import Dataflow, loaded
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import MODES, TRAIN, Modes, path
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.analysis.scopes import walk
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.source.blocks import render
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.statements import Layout

_MODELS = ("keras.Sequential", "keras.models.Sequential", "keras.Model", "keras.models.Model")


def normalize(flow: EstimatorFlow, graph: CallGraph) -> dict[Module, list[Edit]]:
    """The edits; none where the branches do not call the network alike."""
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return {}
    try:
        edits = _Branches(function.module, function.node, graph).edits()
    except Refused:
        return {}
    return {function.module: edits} if edits else {}


@record()
class _Group:
    """The statements, one of each mode, that become one; ``flags`` tell the mode."""

    name: str
    units: dict[str, ast.stmt]
    flags: list[ast.expr]  # of the statement for training


class _Branches:
    def __init__(self, module: Module, function: ast.FunctionDef, graph: CallGraph) -> None:
        self.module = module
        self.graph = graph
        self.function = function
        same = {mode: mode for mode in MODES}
        modes = Modes(module, function, {"mode": same})
        paths = {mode: path(module, function, modes, mode) for mode in MODES}
        parameters = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        self.flows = {mode: Dataflow(paths[mode], parameters) for mode in MODES}
        self.units = {
            mode: found.units for mode, found in paths.items() if self._returns(mode, found.result)
        }

    def _returns(self, mode: str, result: ast.expr | None) -> bool:
        """Whether a mode ends in a value, and not in an error."""
        if isinstance(result, ast.Name):
            return bool(self.flows[mode].definitions(result.id, None))
        return result is not None and not isinstance(result, ast.Constant)

    def edits(self) -> list[Edit]:
        """All edits, or none."""
        keys = self._mode_keys()
        if len(self.units) < 2 or TRAIN not in self.units or keys is None:
            return []
        groups = [g for unit in self.units[TRAIN] if (g := self._group(unit)) is not None]
        members = [unit for group in groups for unit in group.units.values()]
        if not groups:
            return []
        top = min((self._top(unit) for unit in members), key=lambda s: s.lineno)
        own = {id(unit) for unit in members}
        for group in groups:
            for mode, unit in group.units.items():
                names = {name.id for name in loaded(unit)} | {group.name}
                for name in names:
                    for made in self.flows[mode].definitions(name, unit):
                        if id(made) not in own and made.lineno >= top.lineno:
                            return []
        return self._written(groups, members, top, f"mode == {keys}.TRAIN")

    def _mode_keys(self) -> str | None:
        """How the function spells `tf.estimator.ModeKeys`."""
        for node in ast.walk(self.function):
            if isinstance(node, ast.Attribute):
                head = (self.module.names.qualname(node) or "").rpartition(".")[0]
                if head.endswith("ModeKeys"):
                    return self.module.source.code(node.value)
        return None

    def _group(self, unit: ast.stmt) -> _Group | None:
        """The statements of the other modes that say what one of training's says."""
        if all(unit in units for units in self.units.values()):
            return None
        name = _target(unit)
        flow = self.flows[TRAIN]
        if name is None or flow.depends(unit, unit, "labels"):
            return None
        if not flow.depends(unit, unit, "features"):
            return None
        found = _Group(name, {TRAIN: unit}, [])
        for mode, units in self.units.items():
            if mode == TRAIN:
                continue
            alike = [other for other in units if self._alike(unit, other, found.flags)]
            if len(alike) != 1:
                return None
            found.units[mode] = alike[0]
        flags = {id(flag): flag for flag in found.flags}
        for mode, other in found.units.items():
            if mode != TRAIN and len(self._flags(unit, other) or ()) != len(flags):
                return None
        found.flags = list(flags.values())
        return found

    def _alike(self, unit: ast.stmt, other: ast.stmt, flags: list[ast.expr]) -> bool:
        if _target(other) != _target(unit):
            return False
        found = self._flags(unit, other)
        flags.extend(found or ())
        return found is not None

    def _flags(self, unit: ast.stmt, other: ast.stmt) -> list[ast.expr] | None:
        """The arguments that are True in one call and False in the other; None if more differs."""
        assert isinstance(unit, ast.Assign) and isinstance(unit.value, ast.Call)
        assert isinstance(other, ast.Assign) and isinstance(other.value, ast.Call)
        untold = self._is_keras(unit.value.func) and self._is_keras(other.value.func)
        return _flags(unit.value, other.value, untold)

    def _is_keras(self, function: ast.expr) -> bool:
        """Whether a variable is a Keras model: in a graph it does not train unless it is told."""
        made = self.module.names.assigned(function) if isinstance(function, ast.Name) else None
        maker = self.graph.target(self.module, made.func) if isinstance(made, ast.Call) else None
        if maker is None:
            return name_of(self.module, made) in _MODELS
        module, returns = maker.module, [n for n in walk(maker.node) if isinstance(n, ast.Return)]
        values = [module.names.assigned(one.value) for one in returns]
        return bool(values) and all(name_of(module, value) in _MODELS for value in values)

    def _top(self, unit: ast.stmt) -> ast.stmt:
        """The statement of the function's own block that a statement stands in."""
        for parent in (unit, *self.module.names.ancestors(unit)):
            if parent in self.function.body:
                assert isinstance(parent, ast.stmt)
                return parent
        return unit

    def _written(
        self, groups: list[_Group], members: list[ast.stmt], top: ast.stmt, training: str
    ) -> list[Edit]:
        source = self.module.source
        layout = Layout(source, top)
        lines: list[str] = []
        for group in groups:
            unit = group.units[TRAIN]
            flags = [Edit(*source.span(flag), training) for flag in group.flags]
            text = render(source, unit, flags, len(layout.indent), layout.indent)
            lines += [line.removeprefix(layout.indent) for line in text.split("\n")]
        found = [layout.insert_paragraph([line.rstrip("\r") for line in lines])]
        for unit in dict.fromkeys(members):
            block = self.module.names.block(unit)
            gone = all(other in members for other in block)
            found.append(
                Layout(source, unit).replace(["pass"] if gone and unit is block[0] else [])
            )
        return found


def _target(unit: ast.stmt) -> str | None:
    """The one name that a statement gives a call's value."""
    if isinstance(unit, ast.Assign) and len(unit.targets) == 1 and isinstance(unit.value, ast.Call):
        target = unit.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _flags(first: ast.Call, second: ast.Call, untold: bool) -> list[ast.expr] | None:
    """``untold``: a call that does not say ``training`` is one with ``training=False``."""
    if ast.dump(first.func) != ast.dump(second.func) or len(first.args) != len(second.args):
        return None
    told = all(any(k.arg == "training" for k in call.keywords) for call in (first, second))
    untold = untold and not told
    mine_, yours_ = _keywords(first, untold), _keywords(second, untold)
    if [k.arg for k in mine_] != [k.arg for k in yours_]:
        return None
    pairs = [
        *zip(first.args, second.args),
        *((a.value, b.value) for a, b in zip(mine_, yours_)),
    ]
    found: list[ast.expr] = []
    for mine, yours in pairs:
        if ast.dump(mine) == ast.dump(yours):
            continue
        if not (isinstance(mine, ast.Constant) and mine.value is True):
            return None
        if not (isinstance(yours, ast.Constant) and yours.value is False):
            return None
        found.append(mine)
    return found


def _keywords(call: ast.Call, untold: bool) -> list[ast.keyword]:
    """The keywords of a call, without a ``training=False`` that says what is so without it."""
    if not untold:
        return call.keywords
    return [k for k in call.keywords if not (k.arg == "training" and constant(k.value) is False)]
