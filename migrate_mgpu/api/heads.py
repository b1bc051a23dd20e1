"""The heads of canned Estimators: the loss, the results and the number of logits of each.

Measured on 1.15.5: the classes' own heads sum up a batch, ``average_loss`` is the mean over
examples; of two classes there is one logit, and a class is chosen where it is above zero.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from migrate_mgpu.api.metrics import Derived
from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import field, record


class Task(enum.Enum):
    """What the logits say."""

    TWO_CLASSES = enum.auto()  # one logit
    CLASSES = enum.auto()  # one for each
    NUMBER = enum.auto()  # the number itself


@record(frozen=True)
class Measured:
    """A result of an evaluation: the kind of its metric, and what that is given."""

    metric: str
    labels: Derived | None = Derived.ITSELF
    outputs: Derived | None = Derived.ITSELF


@record(frozen=True)
class HeadRow(Row):
    """A head. ``loss`` is the kind of its loss, ``results`` those of an evaluation by key.

    ``shown`` are the keys that matter to a program which looks at none in particular.
    """

    task: Task = Task.NUMBER
    loss: str = ""
    results: Mapping[str, Measured] = field(default_factory=dict)
    shown: tuple[str, ...] = ("accuracy", "average_loss")


def _unknown(name: str) -> Parameter:
    return Parameter(name, "None", only=(None,), reason=f"`{name}` of a {{shown}}")


_WEIGHTS = Parameter("weight_column", "None")
_WORDS = Parameter("label_vocabulary", "None")
_REDUCTION = Parameter("loss_reduction", "SUM_OVER_BATCH_SIZE")
_LAST = (_REDUCTION, _unknown("loss_fn"), _unknown("name"))
_DIMENSION = Parameter("label_dimension", "1")
_LINK = _unknown("inverse_link_fn")
_LABEL_MEAN = Measured("mean", outputs=None)


def _regression(name: str, kind: str, first: Parameter, second: Parameter) -> HeadRow:
    return HeadRow(
        (name,),
        kind,
        (first, second, *_LAST[:2], _LINK, _LAST[2]),
        task=Task.NUMBER,
        loss="squared_error",
        results={
            "average_loss": Measured("mean_squared_error"),
            "label/mean": _LABEL_MEAN,
            "prediction/mean": Measured("mean", None),
        },
        shown=("average_loss",),
    )


HEADS = Table(
    HeadRow(
        ("estimator.BinaryClassHead", "contrib.estimator.binary_classification_head"),
        "two_classes",
        (_WEIGHTS, _unknown("thresholds"), _WORDS, *_LAST),
        task=Task.TWO_CLASSES,
        loss="sigmoid",
        results={
            "accuracy": Measured("accuracy", outputs=Derived.POSITIVE),
            "accuracy_baseline": Measured("accuracy_baseline"),
            "auc": Measured("auc", outputs=Derived.SIGMOID),
            "auc_precision_recall": Measured("auc_precision_recall", outputs=Derived.SIGMOID),
            "average_loss": Measured("sigmoid_cross_entropy"),
            "label/mean": _LABEL_MEAN,
            "precision": Measured("precision", outputs=Derived.POSITIVE),
            "prediction/mean": Measured("mean", None, Derived.SIGMOID),
            "recall": Measured("recall", outputs=Derived.POSITIVE),
        },
    ),
    HeadRow(
        ("estimator.MultiClassHead", "contrib.estimator.multi_class_head"),
        "classes",
        (Parameter("n_classes"), _WEIGHTS, _WORDS, *_LAST),
        task=Task.CLASSES,
        loss="sparse_softmax",
        results={
            "accuracy": Measured("accuracy", outputs=Derived.ARGMAX),
            "average_loss": Measured("sparse_softmax_cross_entropy"),
        },
    ),
    _regression("estimator.RegressionHead", "number", _DIMENSION, _WEIGHTS),
    _regression("contrib.estimator.regression_head", "contrib_number", _WEIGHTS, _DIMENSION),
)
