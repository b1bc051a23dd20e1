"""What follows from the facts of the model IR: predicates, for whoever has to choose by them."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.module import Module
from migrate_mgpu.analysis.names import is_none
from migrate_mgpu.api.feature_columns import COLUMNS
from migrate_mgpu.api.layers import LAYERS, NORMALIZERS
from migrate_mgpu.api.losses import LOSSES, Reduction
from migrate_mgpu.api.metrics import METRICS, MetricForm
from migrate_mgpu.api.optimizers import OPTIMIZERS, Rows
from migrate_mgpu.api.strategies import STRATEGIES, StrategyRow
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.models.ir import (
    EVALUATE,
    PREDICT,
    BoundExpression,
    Construction,
    Distribution,
    DriverCall,
    Driving,
    FeatureColumn,
    Layer,
    Loss,
    Objective,
    Optimizer,
    Result,
    Strategy,
    StrategyChoice,
    Variation,
)

# What is bracketed within another expression.
_LOOSE = (ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.UnaryOp)

# -- losses -------------------------------------------------------------------


def keras_class(layer: Layer) -> str:
    """Which layer of Keras's does the same."""
    return LAYERS.by_kind[layer.kind].keras


def takes_training(layer: Layer) -> bool:
    """Whether a layer behaves differently while training."""
    return bool(LAYERS.by_kind[layer.kind].training)


def has_weights(layer: Layer) -> bool:
    """Whether a layer has variables that are trained."""
    without = ("Flatten", "Dropout", "MaxPooling", "AveragePooling")
    return not keras_class(layer).startswith(without)


def normalizes(layer: Layer) -> bool:
    """Whether a layer is batch normalization, whose statistics training moves."""
    return keras_class(layer) in NORMALIZERS


def is_scalar(loss: Loss) -> bool:
    """Whether a loss is one number; else it has a value for each example or element."""
    return loss.reduction not in (None, Reduction.NONE)


def is_batch_mean(loss: Loss) -> bool:
    """Whether a loss is the mean of what it is for parts of a batch that are equally large."""
    if loss.reduction is Reduction.MEAN:
        return loss.weights is None  # the parts' weights that are zero are not equally many
    return loss.reduction is Reduction.BATCH


def is_elementwise(loss: Loss) -> bool:
    """Whether labels and outputs have one shape."""
    return LOSSES.by_kind[loss.kind].elementwise


def has_keras_class(loss: Loss) -> bool:
    """Whether a class of Keras's losses takes the mean of the same values."""
    if loss.weights is not None or loss.factor != 1 or not loss.last_axis:
        return False
    if not LOSSES.by_kind[loss.kind].keras:
        return False
    return loss.reduction in (None, Reduction.MEAN, Reduction.BATCH)


def averages_rows(loss: Loss) -> bool:
    """Whether Keras's class averages over the last axis first: not where it is of classes."""
    return is_elementwise(loss)


def compared_labels(loss: Loss) -> ast.expr:
    """The labels that Keras's class is given: the classes themselves where they are seen."""
    return loss.labels if loss.classes is None or loss.setting is not None else loss.classes


def is_number(objective: Objective) -> bool:
    """Whether a loss is one number, not values that training takes the mean of."""
    return not objective.averaged and (objective.loss is None or is_scalar(objective.loss))


def is_mean_of_output(objective: Objective) -> bool:
    """Whether a loss is the mean of what a class of Keras's makes of labels and output."""
    loss = objective.loss
    if loss is None or not objective.compares or not has_keras_class(loss):
        return False
    return objective.averaged or is_scalar(loss)


def fits_compile(objective: Objective) -> bool:
    """Whether `compile` takes the loss as an object: Keras's mean is then the author's."""
    if objective.loss is None or not is_mean_of_output(objective):
        return False
    return objective.by_rows or not averages_rows(objective.loss)


def lacks_rank(module: Module, node: ast.AST) -> bool:
    """Whether an expression has what `tf.squeeze(x)` gives: TensorFlow does not know its rank.

    Keras 3's losses ask for it.
    """
    for part in ast.walk(node):
        made = module.names.assigned(part) if isinstance(part, ast.expr) else None
        if isinstance(made, ast.Call) and name_of(module, made) == "squeeze":
            if len(made.args) == 1 and not made.keywords:
                return True
    return False


# -- optimizers ---------------------------------------------------------------


def is_scheduled(optimizer: Optimizer) -> bool:
    """Whether the learning rate changes while a model trains."""
    return optimizer.learning_rate.variation is Variation.SCHEDULED


def moves_same_rows(optimizer: Optimizer, from_zero: bool = False) -> bool:
    """Whether Keras does with the rows of a table that a batch does not use what TF1 does.

    ``from_zero``: the rows begin at zero.
    """
    if optimizer.arguments.get("l2_shrinkage_regularization_strength") is not None:
        return False  # it moves a row by what it is, also where its gradient is zero
    rows = OPTIMIZERS.by_kind[optimizer.kind].rows
    return rows is Rows.SAME or (from_zero and rows is Rows.SAME_FROM_ZERO)


def adds_up(optimizer: Optimizer) -> bool:
    """Whether the step for a sum of gradients is the sum of the steps for each."""
    return OPTIMIZERS.by_kind[optimizer.kind].linear


# -- metrics ------------------------------------------------------------------


def form_of(result: Result) -> MetricForm | None:
    """The Keras metric that is given the labels and the network's output as they are."""
    if result.labels is None or result.outputs is None:
        return None
    return METRICS.by_kind[result.metric.kind].forms.get((result.labels, result.outputs))


def result_fits_compile(result: Result) -> bool:
    """Whether `compile` takes a metric: it is given nothing but labels and output."""
    if result.metric.weights is not None:
        return False
    if result.values is not None:
        return METRICS.by_kind[result.metric.kind].definition is None
    return form_of(result) is not None


# -- devices and driving --------------------------------------------------------


def row_of(strategy: Strategy) -> StrategyRow:
    return STRATEGIES.by_kind[strategy.kind]


def strategies_of(choices: list[StrategyChoice]) -> list[Strategy]:
    """Every strategy that may be chosen."""
    return [strategy for choice in choices for strategy in choice.strategies]


def shares_batch(distribution: Distribution) -> bool:
    """Whether the replicas get parts of one batch; else each draws batches of its own."""
    return any(row_of(one).shares_batch for one in strategies_of(distribution.training))


def trains(driving: Driving) -> bool:
    """Whether a program trains the model."""
    return any(call.trains for call in driving.calls)


def predicts(driving: Driving) -> bool:
    """Whether anything asks for the model's predictions: a SavedModel gives them as well."""
    return exports(driving) or any(call.kind == PREDICT for call in driving.calls)


def exports(driving: Driving) -> bool:
    """Whether the model becomes a SavedModel."""
    return bool(driving.exports or any(call.exporters for call in driving.calls))


def inputs(driving: Driving) -> list[tuple[Module, ast.expr]]:
    """The input functions of a model."""
    found: list[Construction | DriverCall] = []
    for call in driving.calls:
        found += [one for one in (call, call.train_spec, call.eval_spec) if one is not None]
    return [(one.module, one.arguments["input_fn"]) for one in found if "input_fn" in one.arguments]


def evaluated(driving: Driving) -> list[tuple[Module, ast.expr]]:
    """The input functions that a model is evaluated on until they end."""
    found = []
    for call in driving.calls:
        of: Construction | DriverCall | None = call if call.kind == EVALUATE else call.eval_spec
        if of is not None and "input_fn" in of.arguments and _may_end(of):
            found.append((of.module, of.arguments["input_fn"]))
    return found


def _may_end(evaluation: Construction | DriverCall) -> bool:
    """Whether an evaluation may have no number of steps: none is given, or None may be."""
    steps = evaluation.arguments.get("steps")
    if not isinstance(steps, ast.Name):
        return steps is None or is_none(steps)
    return any(is_none(one.value) for one in evaluation.module.names.bindings_of(steps))


# -- feature columns ----------------------------------------------------------


def needs_brackets(expression: BoundExpression) -> bool:
    """Whether an expression is bracketed within another one."""
    if expression.item is not None:
        return False
    meant = expression.bound.get(expression.node)
    return needs_brackets(meant) if meant is not None else isinstance(expression.node, _LOOSE)


def is_category(column: FeatureColumn) -> bool:
    """Whether only a linear model takes a column as it is."""
    return COLUMNS.by_kind[column.kind].category


def embeds(column: FeatureColumn) -> bool:
    """Whether a column has weights of its own, a row for each of its categories."""
    return column.kind == "embedding"


def updates_rows(column: FeatureColumn, linear: bool) -> bool:
    """Whether TF1 updates only those rows of a column's weights that a batch uses."""
    return embeds(column) or (linear and COLUMNS.by_kind[column.kind].by_rows)
