"""The normalization passes, in their order.

Each brings one form of a program into another that a reader knows: equal TF1 code.
"""

from __future__ import annotations

from collections.abc import Callable

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import CUSTOM, EstimatorFlow
from migrate_mgpu.models.normalize import (
    branches,
    callables,
    closures,
    digits,
    feature_columns,
    helpers,
    local_functions,
    made_inside,
    methods,
    optimizers,
    public_keras,
    registries,
    total_loss,
    towers,
    variable_makers,
    variables,
)
from migrate_mgpu.source.source import Edit


def in_model(flow: EstimatorFlow, why: Diagnostic) -> bool:
    """Whether an Estimator stays because of its model_fn."""
    if flow.kind != CUSTOM or "model_fn" not in flow.arguments:
        return False
    if flow.function is None or variable_makers.is_trigger(flow, why):
        return True
    module, node = flow.function.module, flow.function.node
    return why.module is module and node in (why.node, *module.names.ancestors(why.node))


def _no_other(flow: EstimatorFlow, why: Diagnostic) -> bool:
    return False


@record(frozen=True)
class Pass:
    """``normalize`` gives the edits for an Estimator of this form, none for any other.

    A pass is for Estimators that stay because of their model_fn, and for those that
    ``is_trigger`` tells by what is in their way.
    """

    normalize: Callable[[EstimatorFlow, CallGraph], dict[Module, list[Edit]]]
    is_trigger: Callable[[EstimatorFlow, Diagnostic], bool] = _no_other

    def triggered(self, flow: EstimatorFlow, why: Diagnostic) -> bool:
        """Whether the pass is to be tried."""
        return in_model(flow, why) or self.is_trigger(flow, why)


PASSES = (
    Pass(variables.normalize),
    Pass(variable_makers.normalize),
    Pass(closures.normalize),
    Pass(callables.normalize),
    Pass(methods.normalize),
    Pass(helpers.normalize),
    Pass(local_functions.normalize),
    Pass(branches.normalize),
    Pass(registries.normalize, registries.is_trigger),
    Pass(total_loss.normalize),
    Pass(optimizers.normalize),
    Pass(feature_columns.normalize),
    Pass(towers.normalize),
    Pass(digits.normalize, digits.is_trigger),
    Pass(public_keras.normalize, public_keras.is_trigger),
    Pass(made_inside.normalize, made_inside.is_trigger),
)
