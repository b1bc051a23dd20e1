"""The losses of ``tf.losses`` and ``tf.nn``, and what gives the same in TF2."""

from __future__ import annotations

import enum

from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
from migrate_mgpu.core.records import record


class Reduction(enum.Enum):
    """What a loss makes of its elements' values, each times its weight."""

    MEAN = enum.auto()  # their sum over the number of weights that are not zero
    AVERAGE = enum.auto()  # their sum over that of the weights
    BATCH = enum.auto()  # their sum over the number of elements
    SUM = enum.auto()
    NONE = enum.auto()  # they stay as they are


@record(frozen=True)
class Form:
    """A function of TF2, below ``tf.``, and its parameters for labels and outputs.

    ``by_position``: both may be given so. ``within`` is a function around it.
    """

    function: str
    labels: str
    outputs: str
    by_position: bool = True
    within: str = ""


@record(frozen=True)
class LossRow(Row):
    """A loss. ``target`` gives a value for each example: the mean over the last axis.

    ``labels`` and ``outputs`` are TF1's parameters for what is compared (``other_labels``: an
    older name), ``setting`` is the one besides them that says which loss it is, if there is one.
    ``reduces``: TF1 makes one number of the elements' values; else its author does.
    ``elementwise``: labels and outputs have one shape; else there is one value for each example.
    ``keras`` is the class of ``keras.losses`` with the same mean, which averages over the last
    axis first where it is elementwise; ``of_classes`` the one whose labels are integers where
    this one's are one-hot. ``smoothed`` stands for ``target`` where the labels are smoothed,
    ``elements`` gives a value for each element, ``by_number`` is that as an expression of
    ``labels`` and ``outputs``. ``definition`` is a function where TF2 has none.
    """

    labels: str = "labels"
    outputs: str = "logits"
    other_labels: str = ""
    setting: str = ""
    reduces: bool = True
    elementwise: bool = True
    keras: str = ""
    of_classes: str = ""
    logits: bool = False
    smoothed: Form | None = None
    elements: Form | None = None
    by_number: str = ""
    definition: Definition | None = None


_REST = (
    Parameter("scope", "None", target=""),
    Parameter("loss_collection", "tf.GraphKeys.LOSSES", target=""),
    Parameter("reduction", "tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS", target=""),
)
_WEIGHTS = Parameter("weights", "1.0", target="")
_SMOOTHING = Parameter("label_smoothing", "0")
_PREDICTIONS = (
    Parameter("labels", target="y_true"),
    Parameter("predictions", target="y_pred"),
    _WEIGHTS,
)
_SENTINEL = Parameter("_sentinel", "None", target="")
_LABELS, _LOGITS = Parameter("labels"), Parameter("logits")
_AXIS = Parameter("axis", "None", only=(None,))
_DIM = Parameter("dim", "-1", target="axis")
_NAME = Parameter("name", "None")

_KERAS = ("y_true", "y_pred")
_NN = ("labels", "logits")
_BINARY = Form("nn.sigmoid_cross_entropy_with_logits", "labels", "logits", by_position=False)
_CATEGORICAL = Form("keras.losses.categorical_crossentropy", "y_true", "y_pred")
_BINARY_BY_NUMBER = "{tf}.nn.sigmoid_cross_entropy_with_logits({labels}, {outputs})"
_SPARSE_CLASS = "SparseCategoricalCrossentropy"

_LOG_LOSS = Definition(
    "log_loss",
    '''\
def {name}(labels, predictions, epsilon=1e-7):
    """The cross-entropy of probabilities, for each of them."""
    labels = {tf}.cast(labels, predictions.dtype)
    right = labels * {tf}.math.log(predictions + epsilon)
    return -right - (1.0 - labels) * {tf}.math.log(1.0 - predictions + epsilon)''',
)

LOSSES = Table(
    LossRow(
        ("losses.sparse_softmax_cross_entropy",),
        "sparse_softmax",
        (_LABELS, _LOGITS, _WEIGHTS, *_REST),
        "nn.sparse_softmax_cross_entropy_with_logits",
        _NN,
        elementwise=False,
        keras=_SPARSE_CLASS,
        logits=True,
    ),
    LossRow(
        ("losses.softmax_cross_entropy",),
        "softmax",
        (Parameter("onehot_labels", target="labels"), _LOGITS, _WEIGHTS, _SMOOTHING, *_REST),
        "nn.softmax_cross_entropy_with_logits",
        _NN,
        labels="onehot_labels",
        setting="label_smoothing",
        elementwise=False,
        keras="CategoricalCrossentropy",
        of_classes=_SPARSE_CLASS,
        logits=True,
        smoothed=_CATEGORICAL,
    ),
    LossRow(
        ("losses.sigmoid_cross_entropy",),
        "sigmoid",
        (
            Parameter("multi_class_labels", target="y_true"),
            Parameter("logits", target="y_pred"),
            _WEIGHTS,
            _SMOOTHING,
            *_REST,
        ),
        "keras.losses.binary_crossentropy",
        _KERAS,
        (("from_logits", "True"),),
        labels="multi_class_labels",
        setting="label_smoothing",
        keras="BinaryCrossentropy",
        logits=True,
        elements=_BINARY,
        by_number=_BINARY_BY_NUMBER,
    ),
    LossRow(
        ("losses.mean_squared_error",),
        "squared_error",
        (*_PREDICTIONS, *_REST),
        "keras.losses.MSE",
        _KERAS,
        outputs="predictions",
        keras="MeanSquaredError",
        elements=Form("math.squared_difference", "x", "y"),
        by_number="{tf}.math.squared_difference({outputs}, {labels})",
    ),
    LossRow(
        ("losses.absolute_difference",),
        "absolute_error",
        (*_PREDICTIONS, *_REST),
        "keras.losses.MAE",
        _KERAS,
        outputs="predictions",
        keras="MeanAbsoluteError",
        elements=Form("subtract", "x", "y", within="abs"),
        by_number="{tf}.abs({outputs} - {labels})",
    ),
    LossRow(
        ("losses.huber_loss",),
        "huber",
        (*_PREDICTIONS, Parameter("delta", "1.0"), *_REST),
        "keras.losses.huber",
        _KERAS,
        outputs="predictions",
        setting="delta",
        keras="Huber",
    ),
    LossRow(
        ("losses.hinge_loss",),
        "hinge",
        (
            Parameter("labels", target="y_true"),
            Parameter("logits", target="y_pred"),
            _WEIGHTS,
            *_REST,
        ),
        "keras.losses.hinge",
        _KERAS,
        keras="Hinge",
    ),
    LossRow(
        ("losses.log_loss",),
        "log_loss",
        (_LABELS, Parameter("predictions"), _WEIGHTS, Parameter("epsilon", "1e-07"), *_REST),
        outputs="predictions",
        definition=_LOG_LOSS,
    ),
    LossRow(
        ("nn.sparse_softmax_cross_entropy_with_logits",),
        "sparse_softmax_by_example",
        (_SENTINEL, _LABELS, _LOGITS, _NAME),
        "nn.sparse_softmax_cross_entropy_with_logits",
        _NN,
        reduces=False,
        elementwise=False,
        keras=_SPARSE_CLASS,
        logits=True,
    ),
    LossRow(
        ("nn.softmax_cross_entropy_with_logits",),
        "softmax_by_example",
        (_SENTINEL, _LABELS, _LOGITS, _DIM, _NAME, _AXIS),
        "nn.softmax_cross_entropy_with_logits",
        _NN,
        reduces=False,
        elementwise=False,
        keras="CategoricalCrossentropy",
        of_classes=_SPARSE_CLASS,
        logits=True,
    ),
    LossRow(
        ("nn.softmax_cross_entropy_with_logits_v2",),
        "softmax_by_example_v2",
        (_LABELS, _LOGITS, _AXIS, _NAME, _DIM),
        "nn.softmax_cross_entropy_with_logits",
        _NN,
        reduces=False,
        elementwise=False,
        keras="CategoricalCrossentropy",
        of_classes=_SPARSE_CLASS,
        logits=True,
    ),
    LossRow(
        ("nn.sigmoid_cross_entropy_with_logits",),
        "sigmoid_by_element",
        (_SENTINEL, _LABELS, _LOGITS, _NAME),
        "nn.sigmoid_cross_entropy_with_logits",
        _NN,
        reduces=False,
        keras="BinaryCrossentropy",
        logits=True,
        by_number=_BINARY_BY_NUMBER,
    ),
    LossRow(
        ("nn.weighted_cross_entropy_with_logits",),
        "weighted_sigmoid_by_element",
        (
            _LABELS,
            _LOGITS,
            Parameter("pos_weight"),
            _NAME,
            Parameter("targets", "None", target="labels"),
        ),
        "nn.weighted_cross_entropy_with_logits",
        _NN,
        other_labels="targets",
        reduces=False,
    ),
)

# Losses of ``tf.losses`` that nothing in Keras equals.
WITHOUT_EQUAL = {"cosine_distance", "mean_pairwise_squared_error", "compute_weighted_loss"}

# By the last part of TF1's name; as a text the same may begin with `weighted_`.
REDUCTIONS = {
    "SUM_BY_NONZERO_WEIGHTS": Reduction.MEAN,
    "SUM_OVER_NONZERO_WEIGHTS": Reduction.MEAN,
    "MEAN": Reduction.AVERAGE,
    "SUM_OVER_BATCH_SIZE": Reduction.BATCH,
    "SUM": Reduction.SUM,
    "NONE": Reduction.NONE,
}

_HEAD = '''\
def {{name}}(losses, weights):
    """{doc}"""
    weights = {{tf}}.cast(weights, losses.dtype)
    if weights.shape.rank > losses.shape.rank:
        weights = {{tf}}.squeeze(weights, axis=-1)
'''


def _weighting(name: str, doc: str, last: str) -> Definition:
    return Definition(name, _HEAD.format(doc=doc) + last)


# Values of elements times their weights, reduced: `tf.losses` divides by what no Keras loss
# divides by. TF1 divides by the elements whose weight is not zero, after it gave every element
# its weight.
WEIGHTED = {
    Reduction.MEAN: _weighting(
        "weighted_mean",
        "Weighted losses over the number of those whose weight is not zero.",
        "    weights *= {tf}.ones_like(losses)\n"
        "    count = {tf}.math.count_nonzero(weights, dtype=losses.dtype)\n"
        "    return {tf}.math.divide_no_nan({tf}.reduce_sum(losses * weights), count)",
    ),
    Reduction.AVERAGE: _weighting(
        "weighted_average",
        "Weighted losses over the sum of their weights.",
        "    weights *= {tf}.ones_like(losses)\n"
        "    total = {tf}.reduce_sum(weights)\n"
        "    return {tf}.math.divide_no_nan({tf}.reduce_sum(losses * weights), total)",
    ),
    Reduction.BATCH: _weighting(
        "mean_of_weighted",
        "Weighted losses over the number of all of them.",
        "    return {tf}.reduce_mean(losses * weights)",
    ),
    Reduction.SUM: _weighting(
        "weighted_sum",
        "The sum of weighted losses.",
        "    return {tf}.reduce_sum(losses * weights)",
    ),
    Reduction.NONE: _weighting(
        "weighted",
        "Losses times their weights.",
        "    return losses * weights",
    ),
}
