"""A network that is called to train, and again, by `reuse`, to test: two calls of one model.

    logits_train = network(features, reuse=False, is_training=True)
    logits_test = network(features, reuse=True, is_training=False)

In each mode TF1 takes the loss from the first and the predictions from the second: the loss of
an evaluation is the training network's, dropout and all.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import MODES, TRAIN, Value
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.network.functions import Helpers


@record(frozen=True)
class Twins:
    """The two statements, and what stands for the mode in the first one's call."""

    first: ast.Assign
    second: ast.Assign
    flags: Mapping[ast.expr, Mapping[str, Value]]

    @property
    def names(self) -> tuple[str, str]:
        """The variables that the two values are given to."""
        first, second = self.first.targets[0], self.second.targets[0]
        assert isinstance(first, ast.Name) and isinstance(second, ast.Name)
        return first.id, second.id

    def share(self, module: Module, helpers: Helpers, normalizes: bool) -> None:
        """The second call goes away: the first one's function has both.

        Raises:
            Refused: an evaluation would move batch normalization's statistics.
        """
        if normalizes:
            text = "the loss of an evaluation uses batch normalization in training mode"
            raise Refused(module, self.first, text, "call the network once, told by the mode")
        for helper in helpers.found.values():
            if any(call is self.first.value for _, call in helper.calls):
                assert isinstance(self.second.value, ast.Call)
                helper.calls.append((module, self.second.value))


def find_twins(units: Sequence[ast.stmt]) -> Twins | None:
    """The two calls of a network, if there are such."""
    calls = [unit for unit in units if _is_call(unit)]
    for index, first in enumerate(calls):
        for second in calls[index + 1 :]:
            assert isinstance(first, ast.Assign) and isinstance(second, ast.Assign)
            flags = _flags(first.value, second.value)
            if flags is not None:
                return Twins(first, second, flags)
    return None


def _is_call(unit: ast.stmt) -> bool:
    if not isinstance(unit, ast.Assign) or not isinstance(unit.value, ast.Call):
        return False
    return len(unit.targets) == 1 and isinstance(unit.targets[0], ast.Name)


def _flags(first: ast.expr, second: ast.expr) -> dict[ast.expr, Mapping[str, Value]] | None:
    """What differs between two calls: one reuses what the other makes, and does not train."""
    assert isinstance(first, ast.Call) and isinstance(second, ast.Call)
    if ast.dump(first.func) != ast.dump(second.func) or len(first.args) != len(second.args):
        return None
    mine = {k.arg: k.value for k in first.keywords}
    yours = {k.arg: k.value for k in second.keywords}
    if mine.keys() - yours.keys() - {"reuse"} or yours.keys() - mine.keys() - {"reuse"}:
        return None
    pairs = [*zip(first.args, second.args)]
    pairs += [(value, yours[name]) for name, value in mine.items() if name in yours]
    found: dict[ast.expr, Mapping[str, Value]] = {}
    reuses = "reuse" in yours and "reuse" not in mine and _literal(yours["reuse"]) is True
    for one, other in pairs:
        if ast.dump(one) == ast.dump(other):
            continue
        if _literal(one) is True and _literal(other) is False:
            found[one] = {mode: mode == TRAIN for mode in MODES}
        elif _literal(one) is False and _literal(other) is True and not reuses:
            found[one], reuses = dict.fromkeys(MODES, False), True
        else:
            return None
    return found if reuses else None


def _literal(node: ast.expr) -> bool | None:
    """True or False where it is written; None, which reuses nothing, counts as False."""
    if not isinstance(node, ast.Constant):
        return None
    return False if node.value is None else node.value if isinstance(node.value, bool) else None
