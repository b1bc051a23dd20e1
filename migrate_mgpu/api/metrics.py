"""The metrics of ``tf.metrics``, and those of Keras that give the same."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
from migrate_mgpu.core.records import field, record


class Derived(enum.Enum):
    """What a value is of the labels, or of the network's output."""

    ITSELF = enum.auto()
    ARGMAX = enum.auto()
    SOFTMAX = enum.auto()
    SIGMOID = enum.auto()
    CHOSEN = enum.auto()  # whether the sigmoid is above one half


@record(frozen=True)
class MetricForm:
    """A Keras metric that is given the labels and the network's output as they are.

    ``target`` is its class below ``tf.``, or that of ``definition``.
    """

    target: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    definition: Definition | None = None


@record(frozen=True)
class MetricRow(Row):
    """A metric. ``target`` is the Keras class that is given what TF1's was.

    ``forms`` are those that derive it, by what labels and predictions are of the labels and
    the network's output. ``symmetric``: it is all the same which of the two the labels are.
    ``boolean``: TF1 asks of both only whether they are zero. ``by_number`` is the value of one
    of ``labels`` and ``values``, where Keras's class averages over the last axis first.
    ``weights``: why it takes none that differ.
    """

    forms: Mapping[tuple[Derived, Derived], MetricForm] = field(default_factory=dict)
    symmetric: bool = False
    boolean: bool = False
    by_number: str = ""
    weights: str = ""

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """The parameters that say which of its kind a metric is."""
        compared = ("labels", "predictions", "values", "weights", "name")
        return tuple(p for p in self.parameters if p.new_name and p.name not in compared)


_LABELS, _PREDICTIONS = Parameter("labels"), Parameter("predictions")
_WEIGHTS = Parameter("weights", "None", target="sample_weight")
_NAME = Parameter("name", "None")


def _unknown(name: str) -> Parameter:
    return Parameter(name, "None", target="", only=(None,), reason=f"`{{shown}}` is given `{name}`")


_COLLECTIONS = (_unknown("metrics_collections"), _unknown("updates_collections"))
_TWO = (_LABELS, _PREDICTIONS, _WEIGHTS, *_COLLECTIONS, _NAME)

_CLASS = '''\
class {{name}}({{tf}}.keras.metrics.{base}):
    """{base} of {what} of what the model returns."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, {value}, sample_weight)'''
# The class's prefix, what it is of, how that is made of the model's output.
_MADE = {
    Derived.CHOSEN: ("Sigmoid", "the sigmoid", "{tf}.sigmoid(y_pred)"),
    Derived.ARGMAX: ("Argmax", "the argmax", "{tf}.cast({tf}.argmax(y_pred, axis=-1), {tf}.bool)"),
}


def _deriving(base: str, derived: Derived) -> MetricForm:
    """A class that makes what TF1's metric was given of the model's output."""
    prefix, what, value = _MADE[derived]
    text = _CLASS.format(base=base, what=what, value=value)
    return MetricForm(definition=Definition(f"{prefix}{base}", text))


def _regression(name: str, keras: str, by_number: str = "") -> MetricRow:
    target = f"keras.metrics.{keras}"
    return MetricRow(
        (f"metrics.{name}",),
        name,
        _TWO,
        target,
        forms={(Derived.ITSELF, Derived.ITSELF): MetricForm(target)},
        symmetric=True,
        by_number=by_number,
    )


def _confusion(name: str, keras: str) -> MetricRow:
    return MetricRow(
        (f"metrics.{name}",),
        name,
        _TWO,
        f"keras.metrics.{keras}",
        forms={(Derived.ITSELF, derived): _deriving(keras, derived) for derived in _MADE},
        boolean=True,
    )


_TOP = MetricForm("keras.metrics.SparseTopKCategoricalAccuracy")
_IOU = "keras.metrics.MeanIoU"
_OF_OUTPUT = ("sparse_y_pred", "False")

METRICS = Table(
    MetricRow(
        ("metrics.accuracy",),
        "accuracy",
        _TWO,
        "keras.metrics.Accuracy",
        forms={
            (Derived.ITSELF, Derived.ARGMAX): MetricForm("keras.metrics.SparseCategoricalAccuracy"),
            (Derived.ARGMAX, Derived.ARGMAX): MetricForm("keras.metrics.CategoricalAccuracy"),
            (Derived.ITSELF, Derived.ITSELF): MetricForm("keras.metrics.Accuracy"),
            (Derived.ITSELF, Derived.CHOSEN): _deriving("BinaryAccuracy", Derived.CHOSEN),
        },
        symmetric=True,
    ),
    MetricRow(
        ("metrics.mean",),
        "mean",
        (Parameter("values"), _WEIGHTS, *_COLLECTIONS, _NAME),
        "keras.metrics.Mean",
    ),
    _regression(
        "mean_squared_error",
        "MeanSquaredError",
        "{tf}.square({tf}.cast(labels, values.dtype) - values)",
    ),
    _regression("root_mean_squared_error", "RootMeanSquaredError"),
    _regression(
        "mean_absolute_error",
        "MeanAbsoluteError",
        "{tf}.abs({tf}.cast(labels, values.dtype) - values)",
    ),
    _confusion("precision", "Precision"),
    _confusion("recall", "Recall"),
    _confusion("true_positives", "TruePositives"),
    _confusion("true_negatives", "TrueNegatives"),
    _confusion("false_positives", "FalsePositives"),
    _confusion("false_negatives", "FalseNegatives"),
    MetricRow(
        ("metrics.auc",),
        "auc",
        (
            _LABELS,
            _PREDICTIONS,
            _WEIGHTS,
            Parameter("num_thresholds", "200"),
            *_COLLECTIONS,
            Parameter(
                "curve",
                "'ROC'",
                target="",
                only=("ROC",),
                reason="TF1's area under the curve of precision and recall is another than Keras's",
            ),
            _NAME,
            Parameter(
                "summation_method",
                "'trapezoidal'",
                target="",
                only=("trapezoidal", "careful_interpolation"),
                reason="Keras sums the area under the curve otherwise",
            ),
            Parameter(
                "thresholds",
                "None",
                target="",
                only=(None,),
                reason="the thresholds of the curve are given",
            ),
        ),
        "keras.metrics.AUC",
        forms={
            (Derived.ITSELF, Derived.ITSELF): MetricForm("keras.metrics.AUC"),
            (Derived.ITSELF, Derived.SIGMOID): MetricForm(
                "keras.metrics.AUC", (("from_logits", "True"),)
            ),
        },
    ),
    MetricRow(
        ("metrics.mean_iou",),
        "mean_iou",
        (
            _LABELS,
            _PREDICTIONS,
            Parameter("num_classes"),
            _WEIGHTS,
            *_COLLECTIONS,
            _NAME,
        ),
        _IOU,
        forms={
            (Derived.ITSELF, Derived.ARGMAX): MetricForm(_IOU, (_OF_OUTPUT,)),
            (Derived.ARGMAX, Derived.ARGMAX): MetricForm(
                _IOU, (_OF_OUTPUT, ("sparse_y_true", "False"))
            ),
        },
        weights="Keras 3's MeanIoU makes whole numbers of its weights",
    ),
    MetricRow(
        ("metrics.recall_at_k",),
        "recall_at_k",
        (
            _LABELS,
            _PREDICTIONS,
            Parameter("k"),
            _unknown("class_id"),
            _WEIGHTS,
            *_COLLECTIONS,
            _NAME,
        ),
        _TOP.target,
        forms={
            (Derived.ITSELF, Derived.ITSELF): _TOP,
            (Derived.ITSELF, Derived.SOFTMAX): _TOP,
        },
    ),
)
