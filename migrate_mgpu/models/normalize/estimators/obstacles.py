"""What kind of obstacle keeps an Estimator: the keys that passes answer."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Diagnostic
from migrate_mgpu.analysis.module import tensorflow_name
from migrate_mgpu.api.mnist import mnist_load
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.api.variables import VARIABLES
from migrate_mgpu.models.front.estimators.parts import CUSTOM, MADE_ELSEWHERE, EstimatorFlow
from migrate_mgpu.models.normalize.estimators.experiments import EXPERIMENT, experiment_of
from migrate_mgpu.models.normalize.estimators.normalization_pairs import pairs
from migrate_mgpu.models.normalize.estimators.redefined_names import redefined
from migrate_mgpu.models.normalize.estimators.resized_images import RESIZES
from migrate_mgpu.models.normalize.estimators.spec_functions import makes_specs
from migrate_mgpu.models.normalize.estimators.tpu_arms import arms
from migrate_mgpu.models.normalize.functions.public_keras import is_private
from migrate_mgpu.models.normalize.layers.layer_stacks import STACK

MODEL_FN = "in-model-fn"  # which function it is, or something in it or what makes its variables
FUNCTION_OF_TABLE = "in-function-of-a-table"
MNIST = "mnist-loader"
PRIVATE_KERAS = "private-keras-import"
TPU_ARMS = "arms-for-tpus"
TPU_ESTIMATOR = "tpu-estimator"
NORMALIZATION_PAIR = "pair-of-normalizations"
REDEFINED = "redefined-name"
CHANGED_SETTING = "changed-setting"
COMPUTED_SIZE = "computed-size"  # of a layer, by what only a step knows
TABLE = "table-of-words"
RESIZED = "resized-images"
STACKED = "stacked-layers"  # in any function that the network has
INPUT_LAYER = "columns-of-an-input-layer"  # the same


def obstacles(flow: EstimatorFlow, why: Diagnostic) -> frozenset[str]:
    """The keys of what is in an Estimator's way: the diagnostic's own, and those of its place."""
    found = {why.key}
    if _in_model(flow, why):
        found.add(MODEL_FN)
    if _in_function_of_table(why):
        found.add(FUNCTION_OF_TABLE)
    if _is_table(why):
        found.add(TABLE)
    if name_of(why.module, why.node) == RESIZES:
        found.add(RESIZED)
    if name_of(why.module, why.node) == STACK:
        found.add(STACKED)
    if name_of(why.module, why.node) == "feature_column.input_layer":
        found.add(INPUT_LAYER)
    if mnist_load(why.module, why.node) is not None:
        found.add(MNIST)
    if flow.function is not None and any(True for _ in pairs(flow.function.module)):
        found.add(NORMALIZATION_PAIR)
    if redefined(flow):
        found.add(REDEFINED)
    if experiment_of(flow) is not None:
        found.add(EXPERIMENT)
    if arms(flow):
        found.add(TPU_ARMS)
    if flow.kind == CUSTOM and flow.class_name == "TPUEstimator":
        found.add(TPU_ESTIMATOR)
    if makes_specs(flow):
        found.add(MADE_ELSEWHERE)
    if is_private(flow):
        found.add(PRIVATE_KERAS)
    return frozenset(found)


def _in_model(flow: EstimatorFlow, why: Diagnostic) -> bool:
    if flow.kind != CUSTOM or "model_fn" not in flow.arguments:
        return False
    if flow.function is None:
        return True
    module, node = flow.function.module, flow.function.node
    around = (why.node, *why.module.names.ancestors(why.node))
    return why.module is module and (node in around or any(_makes_variable(why, n) for n in around))


def _makes_variable(why: Diagnostic, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(why.module, node) in VARIABLES.by_name


def _is_table(why: Diagnostic) -> bool:
    """Whether it is what makes a table, of `tf.contrib.lookup`."""
    return tensorflow_name(why.module, why.node).startswith("contrib.lookup.")


def _in_function_of_table(why: Diagnostic) -> bool:
    """Whether it stands in a function that a dictionary has."""
    names = why.module.names
    for one in names.ancestors(why.node):
        if isinstance(one, ast.FunctionDef):
            mentions = names.by_id.get(one.name, ())
            if any(isinstance(names.parents[mention], ast.Dict) for mention in mentions):
                return True
    return False
