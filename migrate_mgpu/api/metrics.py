"""The metrics of ``tf.metrics``, and those of Keras that give the same."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Optional

from migrate_mgpu.api.schema import Definition, Parameter, Row, Table
from migrate_mgpu.core.records import field, record


class Derived(enum.Enum):
    """What a value is of the labels, or of the network's output."""

    ITSELF = enum.auto()
    ARGMAX = enum.auto()
    SOFTMAX = enum.auto()
    SIGMOID = enum.auto()
    CHOSEN = enum.auto()  # whether the sigmoid is above one half
    POSITIVE = enum.auto()  # whether it is above zero


@record(frozen=True)
class MetricForm:
    """A Keras metric that is given the labels and the network's output as they are.

    ``target`` is its class below ``tf.``, or that of ``definition``; else it is the mean of
    what ``function`` makes of both.
    """

    target: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    definition: Definition | None = None
    function: str = ""


_Forms = Mapping[tuple[Optional[Derived], Optional[Derived]], MetricForm]


@record(frozen=True)
class MetricRow(Row):
    """A metric. ``target`` is the Keras class that is given what TF1's was.

    One without ``names`` is a canned Estimator's own. ``forms`` are those that derive it, by what
    labels and predictions are of the labels and the network's output (None: it is given none).
    ``symmetric``: it is all the same which of the two the labels are. ``boolean``: TF1 asks of
    both only whether they are zero. ``by_number`` is the value of one of ``labels`` and
    ``values``, where Keras's class averages over the last axis first.
    ``weights``: why it takes none that differ. ``definition`` is the class that is given what
    TF1's was, where Keras has none.
    """

    forms: _Forms = field(default_factory=dict)
    symmetric: bool = False
    boolean: bool = False
    by_number: str = ""
    weights: str = ""
    definition: Definition | None = None
    package: str = ""

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


def _of_positive(base: str) -> MetricForm:
    """A class that makes of a logit what a canned Estimator's metric is given."""
    text = f'''\
class {{name}}({{tf}}.keras.metrics.{base}):
    """{base} of what a logit above zero chooses."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, {{tf}}.sigmoid(y_pred), sample_weight)'''
    return MetricForm(definition=Definition(base, text))


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
    forms: _Forms = {(Derived.ITSELF, one): _deriving(keras, one) for one in _MADE}
    return MetricRow(
        (f"metrics.{name}",),
        name,
        _TWO,
        f"keras.metrics.{keras}",
        forms={**forms, (Derived.ITSELF, Derived.POSITIVE): _of_positive(keras)},
        boolean=True,
    )


def _own(kind: str, form: MetricForm, definition: Definition | None = None) -> MetricRow:
    forms: _Forms = {(Derived.ITSELF, Derived.ITSELF): form}
    return MetricRow((), kind, forms=forms, definition=definition)


def _area(curve: str, methods: tuple[str, ...], reason: str) -> tuple[Parameter, ...]:
    """The parameters of `tf.metrics.auc`, for one curve and the ways to sum up that Keras has."""
    return (
        _LABELS,
        _PREDICTIONS,
        _WEIGHTS,
        Parameter("num_thresholds", "200"),
        *_COLLECTIONS,
        Parameter("curve", "'ROC'", target="", only=(curve,), reason=reason),
        _NAME,
        Parameter(
            "summation_method",
            "'trapezoidal'",
            target="",
            only=methods,
            reason="Keras computes the area under the curve by another formula",
        ),
        Parameter(
            "thresholds",
            "None",
            target="",
            only=(None,),
            reason="the thresholds of the curve are given",
        ),
    )


_BASELINE = '''\
class {name}({tf}.keras.metrics.Mean):
    """How often the class is right that most examples have."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, sample_weight)

    def result(self):
        labels = super().result()
        return {tf}.maximum(labels, 1 - labels)'''
_BASELINE_OF_VALUES = '''\
class {name}({tf}.keras.metrics.Mean):
    """How often the class is right that most examples have."""

    def result(self):
        labels = super().result()
        return {tf}.maximum(labels, 1 - labels)'''
# Keras 3's own metric takes no labels of shape [n] for logits of shape [n, 1].
_AVERAGE_LOSS = '''\
class {name}({tf}.keras.metrics.Mean):
    """The mean over examples of what the loss sums up."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels = {tf}.cast({tf}.reshape(y_true, {tf}.shape(y_pred)), y_pred.dtype)
        losses = {tf}.nn.sigmoid_cross_entropy_with_logits(labels, y_pred)
        return super().update_state(losses, sample_weight)'''
_PRECISION_RECALL = '''\
class {name}({tf}.keras.metrics.AUC):
    """The area under the precision-recall curve, with straight lines between its points."""

    def interpolate_pr_auc(self):
        hits = self.true_positives + 1e-6
        recall = hits / (hits + self.false_negatives)
        precision = hits / (hits + self.false_positives)
        return {tf}.reduce_sum((recall[:-1] - recall[1:]) * (precision[:-1] + precision[1:]) / 2)'''
_CURVES = Definition("PrecisionRecallAUC", _PRECISION_RECALL)
_TOP = MetricForm("keras.metrics.SparseTopKCategoricalAccuracy")
_IOU = "keras.metrics.MeanIoU"
_OF_OUTPUT = ("sparse_y_pred", "False")

_CLASS_SCORE = '''\
class {name}({tf}.keras.metrics.Metric):
    """Precision, recall or F-score of some classes, of a confusion matrix over all batches."""

    def __init__(
        self, score, num_classes, pos_indices=None, average={quote}micro{quote}, beta=1, name=None
    ):
        super().__init__(name=name)
        self.score = score
        self.num_classes = num_classes
        self.classes = list(range(num_classes)) if pos_indices is None else pos_indices
        self.average = average
        self.beta = beta
        self.counts = self.add_weight(
            name={quote}counts{quote},
            shape=[num_classes, num_classes],
            initializer={quote}zeros{quote},
            dtype={quote}float64{quote},
        )

    def reset_state(self):
        self.counts.assign({tf}.zeros_like(self.counts))

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels, predictions = {tf}.reshape(y_true, [-1]), {tf}.reshape(y_pred, [-1])
        weights = None
        if sample_weight is not None:
            weights = {tf}.reshape({tf}.cast(sample_weight, self.counts.dtype), [-1])
        self.counts.assign_add({tf}.math.confusion_matrix(
            labels, predictions, self.num_classes, weights, self.counts.dtype
        ))

    def result(self):
        counts = {tf}.convert_to_tensor(self.counts)
        right = {tf}.gather({tf}.linalg.diag_part(counts), self.classes)
        found = {tf}.gather({tf}.reduce_sum(counts, 0), self.classes)
        there = {tf}.gather({tf}.reduce_sum(counts, 1), self.classes)
        if self.average == {quote}micro{quote}:
            right, found, there = ({tf}.reduce_sum(one) for one in (right, found, there))
        precision = {tf}.math.divide_no_nan(right, found)
        recall = {tf}.math.divide_no_nan(right, there)
        square = self.beta**2
        both = (1.0 + square) * precision * recall
        value = {tf}.math.divide_no_nan(both, square * precision + recall)
        if self.score != {quote}f{quote}:
            value = precision if self.score == {quote}precision{quote} else recall
        if self.average == {quote}macro{quote}:
            return {tf}.reduce_mean(value)
        if self.average == {quote}weighted{quote}:
            return {tf}.math.divide_no_nan({tf}.reduce_sum(value * there), {tf}.reduce_sum(there))
        return value'''
_TF_METRICS = "tf_metrics"
# What the functions of a package do, by `functions_digest`: a program's own copy must do the same.
COPIES: Mapping[str, frozenset[str]] = {
    _TF_METRICS: frozenset(
        {
            "7cb19eeddaf1bcbdf154d735578f8b1c3e867a1353f458c279a34a5e03f237bc",
        }
    )
}


def _of_classes(name: str, score: str = "", beta: bool = False) -> MetricRow:
    """A metric of the package `tf_metrics`, of one confusion matrix."""
    average = Parameter(
        "average",
        "'micro'",
        only=("micro", "macro", "weighted"),
        reason="`average` of `{shown}` is not a text",
    )
    classes = (Parameter("num_classes"), Parameter("pos_indices", "None"))
    last = (average, *([Parameter("beta", "1")] if beta else []))
    return MetricRow(
        (f"{_TF_METRICS}.{name}",),
        f"classes_{name}",
        (_LABELS, _PREDICTIONS, *classes, _WEIGHTS, *last),
        constants=(("score", f"{{quote}}{score or name}{{quote}}"),),
        definition=Definition("ClassScore", _CLASS_SCORE),
        package=_TF_METRICS,
    )


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
            (Derived.ITSELF, Derived.POSITIVE): MetricForm(
                "keras.metrics.BinaryAccuracy", (("threshold", "0.0"),)
            ),
        },
        symmetric=True,
    ),
    MetricRow(
        ("metrics.mean",),
        "mean",
        (Parameter("values"), _WEIGHTS, *_COLLECTIONS, _NAME),
        "keras.metrics.Mean",
        forms={
            (Derived.ITSELF, None): MetricForm(function="lambda labels, _: labels"),
            (None, Derived.ITSELF): MetricForm(function="lambda _, predictions: predictions"),
            (None, Derived.SIGMOID): MetricForm(function="lambda _, logits: {tf}.sigmoid(logits)"),
        },
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
        _area("ROC", ("trapezoidal", "careful_interpolation"), "which curve this is of"),
        "keras.metrics.AUC",
        forms={
            (Derived.ITSELF, Derived.ITSELF): MetricForm("keras.metrics.AUC"),
            (Derived.ITSELF, Derived.SIGMOID): MetricForm(
                "keras.metrics.AUC", (("from_logits", "True"),)
            ),
        },
    ),
    MetricRow(
        (),
        "auc_precision_recall",
        _area("PR", ("trapezoidal",), "which curve this is of"),
        constants=(("curve", "{quote}PR{quote}"),),
        forms={
            (Derived.ITSELF, Derived.ITSELF): MetricForm(definition=_CURVES),
            (Derived.ITSELF, Derived.SIGMOID): MetricForm(
                constants=(("from_logits", "True"),), definition=_CURVES
            ),
        },
        definition=_CURVES,
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
    _of_classes("precision"),
    _of_classes("recall"),
    _of_classes("f1", "f"),
    _of_classes("fbeta", "f", beta=True),
    _own(
        "accuracy_baseline",
        MetricForm(definition=Definition("AccuracyBaseline", _BASELINE)),
        Definition("AccuracyBaseline", _BASELINE_OF_VALUES),
    ),
    _own(
        "sigmoid_cross_entropy",
        MetricForm(definition=Definition("AverageLoss", _AVERAGE_LOSS)),
    ),
    _own(
        "sparse_softmax_cross_entropy",
        MetricForm("keras.metrics.SparseCategoricalCrossentropy", (("from_logits", "True"),)),
    ),
)
