"""``StopAtStepHook``: how many steps a training has, where a hook says it."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.modes import TRAIN
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.value_flow import ValueFlow
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.visibility import known_at
from migrate_mgpu.models.front.model_fn.reading import Reading
from migrate_mgpu.models.ir import DriverCall
from migrate_mgpu.models.keras.driver.hooks import STOP, hooks_of, name_of_hook

_ADVICE = "give train() its max_steps"


@record(frozen=True)
class Stop:
    """What a ``StopAtStepHook`` says: ``steps`` or ``max_steps``, and how many."""

    kind: str
    module: Module
    node: ast.expr

    def amounts(
        self, values: ValueFlow, call: DriverCall
    ) -> tuple[ast.expr | None, ast.expr | None]:
        """The training's ``steps`` and ``max_steps``.

        Raises:
            Refused: it has others, or the hook's are not known there.
        """
        known = known_at(values, self.module, self.node, call.module, call.node)
        if known is None or "steps" in call.arguments or "max_steps" in call.arguments:
            text = "a StopAtStepHook beside other numbers of steps, or of another function"
            raise Refused(self.module, self.node, text, _ADVICE)
        return (known, None) if self.kind == "steps" else (None, known)


def stopping(values: ValueFlow, flow: EstimatorFlow, call: DriverCall) -> Stop | None:
    """The hook that ends a training, among those of the call or of the model_fn.

    Raises:
        Refused: there are several.
    """
    found = [stop for stop in (_given_stop(values, call), model_stop(flow)) if stop is not None]
    if len(found) > 1:
        text = "a StopAtStepHook beside one of the model_fn's"
        raise Refused(found[0].module, found[0].node, text, _ADVICE)
    return found[0] if found else None


def _given_stop(values: ValueFlow, call: DriverCall) -> Stop | None:
    node = call.arguments.get("hooks")
    if node is None:
        return None
    found: list[Stop] = []
    here = set(ast.walk(node))
    for hook in hooks_of(values, call.module, node):
        if name_of_hook(hook) == STOP:
            assert isinstance(hook.node, ast.Call)
            found.append(_stop(hook.module, hook.node, bool(found)))
            if found[0].kind == "steps" and hook.node not in here:
                text = "a StopAtStepHook that may stop a second training at once"
                raise Refused(hook.module, hook.node, text, "give train() its steps")
    return found[0] if found else None


def model_stop(flow: EstimatorFlow) -> Stop | None:
    """The one among the hooks of the model_fn's EstimatorSpec.

    Raises:
        Refused: there are several.
    """
    function = flow.function
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return None
    module = function.module
    if "StopAtStepHook" not in module.source.code(function.node):
        return None
    reading = Reading(module, function.node, tuple(flow.bound))
    found: list[Stop] = []
    for name in ("training_hooks", "training_chief_hooks"):
        value, _ = reading.resolved(TRAIN, name)
        for hook in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
            made, _ = reading.flows[TRAIN].resolve(hook, reading.specs[TRAIN].unit)
            if isinstance(made, ast.Call) and tensorflow_name(module, made.func) == STOP:
                found.append(_stop(module, made, bool(found)))
    return found[0] if found else None


def _stop(module: Module, call: ast.Call, again: bool) -> Stop:
    given = arguments_of(module, call, ("num_steps", "last_step"))
    if len(given) != 1 or again:
        text = "how many steps its StopAtStepHooks allow"
        raise Refused(module, call, text, _ADVICE)
    return Stop(
        "steps" if "num_steps" in given else "max_steps", module, next(iter(given.values()))
    )
