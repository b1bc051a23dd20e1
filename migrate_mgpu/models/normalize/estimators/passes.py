"""The normalization passes, in their order.

Each brings one form of a program into another that a reader knows: equal TF1 code.
"""

from __future__ import annotations

from collections.abc import Callable

from migrate_mgpu.analysis.call_graph import CallGraph
from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.incompatibilities import GONE, GONE_LATE, TF1_NAME
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.core.records import record
from migrate_mgpu.models.front.estimators.parts import (
    ADDED_METRICS,
    CONTRIB_CANNED,
    CONTRIB_LEARN,
    INSIDE_STATEMENT,
    MADE_ELSEWHERE,
    OTHER_ESTIMATOR,
    USED_ELSEWHERE,
    EstimatorFlow,
)
from migrate_mgpu.models.front.inputs.batches import CHANGED
from migrate_mgpu.models.front.keras_model.model import NAMED
from migrate_mgpu.models.front.network.layer_calls import TEXT_SIZE
from migrate_mgpu.models.front.network.network_classes import OWN_CLASS
from migrate_mgpu.models.normalize.estimators import (
    added_metrics,
    appended_lists,
    array_names,
    averaged_networks,
    branch_tables,
    branches,
    built_objects,
    callables,
    changed_batches,
    changed_features,
    closures,
    cluster_filters,
    config_copies,
    constant_batches,
    contrib_canned,
    contrib_estimators,
    digits,
    drawn_arrays,
    driving_functions,
    experiments,
    feature_columns,
    head_specs,
    idle_imports,
    idle_receivers,
    inlining,
    keras_names,
    learn_datasets,
    learning_phases,
    local_functions,
    methods,
    mode_settings,
    nested_estimators,
    normalization_pairs,
    opened_files,
    optimizer_classes,
    optimizers,
    outer_effects,
    queued_inputs,
    random_fields,
    redefined_names,
    registries,
    resized_images,
    reused_estimators,
    spec_functions,
    stored_settings,
    text_sizes,
    total_loss,
    towers,
    tpu_arms,
    tpu_estimators,
    tpu_flags,
    trained_layers,
    turned_losses,
    variables,
    widths,
)
from migrate_mgpu.models.normalize.estimators.obstacles import (
    CHANGED_SETTING,
    COMPUTED_SIZE,
    FUNCTION_OF_TABLE,
    INPUT_LAYER,
    MNIST,
    MODEL_FN,
    NORMALIZATION_PAIR,
    PRIVATE_KERAS,
    REDEFINED,
    RESIZED,
    STACKED,
    TABLE,
    TPU_ARMS,
    TPU_ESTIMATOR,
    obstacles,
)
from migrate_mgpu.models.normalize.functions import public_keras, variable_makers
from migrate_mgpu.models.normalize.layers import contrib_losses, layer_stacks
from migrate_mgpu.models.normalize.recurrent import bidirectional, fused_cells
from migrate_mgpu.source.source import Edit


def _nothing(flow: EstimatorFlow, graph: CallGraph) -> list[Diagnostic]:
    return []


@record(frozen=True)
class Pass:
    """``normalize`` gives the edits for an Estimator of this form, none for any other.

    ``answers`` are the kinds of obstacles (``obstacles.py``) that it may take away. ``tell``
    gives what the owner of the program should know of its edits. ``explains``: where it refuses,
    that is why the Estimator stays.
    """

    normalize: Callable[[EstimatorFlow, CallGraph], dict[Module, list[Edit]]]
    answers: frozenset[str] = frozenset({MODEL_FN})
    tell: Callable[[EstimatorFlow, CallGraph], list[Diagnostic]] = _nothing
    explains: bool = False


def answering(flow: EstimatorFlow, why: Diagnostic) -> list[Pass]:
    """The passes that are to be tried, in their order."""
    found = obstacles(flow, why)
    return [known for known in PASSES if known.answers & found]


PASSES = (
    Pass(tpu_arms.normalize, frozenset({TPU_ARMS}), tpu_arms.tell),
    Pass(redefined_names.normalize, frozenset({REDEFINED})),
    Pass(tpu_flags.normalize, frozenset({TPU_ESTIMATOR})),
    Pass(tpu_estimators.normalize, frozenset({TPU_ESTIMATOR}), tpu_estimators.tell, True),
    Pass(
        normalization_pairs.normalize,
        frozenset({MODEL_FN, NORMALIZATION_PAIR}),
        normalization_pairs.tell,
    ),
    Pass(contrib_estimators.normalize, frozenset({CONTRIB_LEARN})),
    Pass(cluster_filters.normalize, frozenset({cluster_filters.CONFIG}), cluster_filters.tell),
    Pass(contrib_canned.normalize, frozenset({CONTRIB_CANNED})),
    Pass(contrib_canned.number_columns, frozenset({TF1_NAME})),
    Pass(head_specs.normalize, explains=True),
    Pass(contrib_losses.normalize),
    Pass(layer_stacks.normalize, frozenset({MODEL_FN, STACKED})),
    Pass(experiments.normalize, frozenset({experiments.EXPERIMENT}), experiments.tell),
    Pass(averaged_networks.normalize),
    Pass(mode_settings.normalize),
    Pass(learning_phases.normalize),
    Pass(variables.normalize),
    Pass(variable_makers.normalize),
    Pass(bidirectional.normalize),
    Pass(changed_features.normalize),
    Pass(array_names.normalize),
    Pass(random_fields.normalize),
    Pass(fused_cells.normalize),
    Pass(branch_tables.normalize, tell=branch_tables.tell),
    Pass(stored_settings.normalize, frozenset({MODEL_FN, COMPUTED_SIZE})),
    Pass(opened_files.normalize, frozenset({MODEL_FN, COMPUTED_SIZE})),
    Pass(outer_effects.normalize),
    Pass(drawn_arrays.normalize),
    Pass(idle_imports.normalize, frozenset({GONE, GONE_LATE})),
    Pass(idle_receivers.normalize, frozenset({TF1_NAME, GONE, GONE_LATE})),
    Pass(learn_datasets.normalize, frozenset({TF1_NAME, GONE, GONE_LATE})),
    Pass(closures.normalize),
    Pass(built_objects.normalize, frozenset({MODEL_FN, OWN_CLASS})),
    Pass(config_copies.normalize, frozenset({MODEL_FN, CHANGED_SETTING})),
    Pass(text_sizes.normalize, frozenset({TEXT_SIZE})),
    Pass(appended_lists.normalize, frozenset({CHANGED_SETTING})),
    Pass(callables.normalize),
    Pass(widths.normalize),
    Pass(trained_layers.normalize, frozenset({MODEL_FN, COMPUTED_SIZE})),
    Pass(optimizer_classes.normalize),
    Pass(optimizers.normalize),
    Pass(methods.normalize),
    Pass(inlining.normalize, frozenset({MODEL_FN, TABLE})),
    Pass(local_functions.normalize),
    Pass(branches.normalize),
    Pass(registries.normalize, frozenset({MODEL_FN, FUNCTION_OF_TABLE})),
    Pass(total_loss.normalize),
    Pass(turned_losses.normalize),
    Pass(feature_columns.normalize, frozenset({MODEL_FN, INPUT_LAYER})),
    Pass(towers.normalize),
    Pass(digits.normalize, frozenset({MNIST})),
    Pass(public_keras.normalize, frozenset({PRIVATE_KERAS})),
    Pass(keras_names.normalize, frozenset({NAMED})),
    Pass(resized_images.normalize, frozenset({RESIZED})),
    Pass(queued_inputs.normalize, frozenset({CHANGED})),
    Pass(changed_batches.normalize, frozenset({CHANGED})),
    Pass(constant_batches.normalize, frozenset({CHANGED})),
    Pass(added_metrics.normalize, frozenset({ADDED_METRICS})),
    Pass(nested_estimators.normalize, frozenset({INSIDE_STATEMENT})),
    Pass(spec_functions.normalize, frozenset({MADE_ELSEWHERE})),
    Pass(driving_functions.normalize, frozenset({USED_ELSEWHERE})),
    Pass(reused_estimators.normalize, frozenset({OTHER_ESTIMATOR, USED_ELSEWHERE})),
)
