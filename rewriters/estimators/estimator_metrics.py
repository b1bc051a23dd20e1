"""``tf.metrics`` of a model_fn become Keras metrics of the labels and the model's output.

## What it does
``tf.metrics.accuracy(labels, tf.argmax(logits, 1))`` becomes
``tf.keras.metrics.SparseCategoricalAccuracy``: a Keras metric is given what the model
returns, and takes the ``argmax`` itself. Where Keras's does not, a small class does it.

## Why
TF2 has no ``tf.metrics`` of this kind; ``compile(metrics=...)`` takes Keras metrics.

## Safety
Equal to 1e-6 over several batches (the docs' table names the measurement). The squared and
absolute errors of a list of numbers are averaged number by number, which Keras's own classes do
not: of a batch they make one number. ``weights`` become a ``sample_weight``, which the model's
own step hands over. The
curve ``PR`` of ``auc`` (TF1 has straight lines between its points, Keras interpolates), and
what Keras has not (``mean_per_class_accuracy``, ``precision_at_k``, ...) keep the program
as it is.

## References
``tf.metrics``, ``tf.keras.metrics``
"""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.bound_call import BoundCall
from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module
from migrate_mgpu.api.cases import NUMBERS, case
from migrate_mgpu.api.tables import name_of
from migrate_mgpu.core.registry import Rule, constant
from migrate_mgpu.models.front.rewriters import MetricRewriter
from migrate_mgpu.models.types import Metric

RULE = Rule(
    code="MGPU405",
    name="estimator-metrics",
    summary="`tf.metrics` become Keras metrics of the model's output",
)

CASES = (
    case(
        "accuracy",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
""",
        """\
def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name='accuracy')])
    return model
""",
        metric="accuracy",
    ),
    case(
        "of one logit",
        """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 1)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    probabilities = tf.nn.sigmoid(logits)
    metrics = {
        'recall': tf.metrics.recall(labels, tf.round(probabilities)),
        'auc': tf.metrics.auc(labels, probabilities),
    }
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
""",
        '''\
class SigmoidRecall(tf.keras.metrics.Recall):
    """Recall of the sigmoid of what the model returns."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, tf.sigmoid(y_pred), sample_weight)


def model_fn():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=[
            SigmoidRecall(name='recall'),
            tf.keras.metrics.AUC(from_logits=True, name='auc'),
        ],
    )
    return model
''',
        data=NUMBERS,
        metric="recall",
    ),
)

_REST = ("metrics_collections", "updates_collections", "name")
_TWO = ("labels", "predictions", "weights", *_REST)
_PARAMETERS = {
    "mean": ("values", "weights", *_REST),
    "auc": (
        "labels", "predictions", "weights", "num_thresholds", *_REST[:2], "curve", "name",
        "summation_method", "thresholds",
    ),
    "mean_iou": ("labels", "predictions", "num_classes", "weights", *_REST),
    "recall_at_k": ("labels", "predictions", "k", "class_id", "weights", *_REST),
    **dict.fromkeys(
        ("accuracy", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
         "precision", "recall", "true_positives", "true_negatives", "false_positives",
         "false_negatives"), _TWO),
}  # fmt: skip
_REGRESSION = {
    "mean_squared_error": "MeanSquaredError",
    "root_mean_squared_error": "RootMeanSquaredError",
    "mean_absolute_error": "MeanAbsoluteError",
}
_CONFUSION = {
    "precision": "Precision",
    "recall": "Recall",
    "true_positives": "TruePositives",
    "true_negatives": "TrueNegatives",
    "false_positives": "FalsePositives",
    "false_negatives": "FalseNegatives",
}
# Of each number: Keras's own classes average over the last axis first.
_BY_NUMBER = {
    "mean_squared_error": "{tf}.square({tf}.cast(labels, values.dtype) - values)",
    "mean_absolute_error": "{tf}.abs({tf}.cast(labels, values.dtype) - values)",
}
# What a metric's class makes of the model's output, by what TF1's was given.
_DERIVED = {
    "round_sigmoid": ("Sigmoid", "the sigmoid", "{tf}.sigmoid(y_pred)"),
    "argmax": ("Argmax", "the argmax", "{tf}.cast({tf}.argmax(y_pred, axis=-1), {tf}.bool)"),
}
_CLASS = '''\
class {name}({tf}.keras.metrics.{base}):
    """{base} of {what} of what the model returns."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, {value}, sample_weight)'''


def metric(module: Module, node: ast.AST, tf: str) -> Metric | None:
    """The Keras metrics that are equal to a call of ``tf.metrics``; None where it is none.

    Raises:
        Refused: no Keras metric is.
    """
    head, _, short = name_of(module, node).rpartition(".")
    if head != "metrics" or not isinstance(node, ast.Call):
        return None
    if short not in _PARAMETERS:
        raise Refused(module, node, f"no Keras metric equals tf.metrics.{short}")
    edit = BoundCall(module, node, _PARAMETERS[short])
    for name in ("metrics_collections", "updates_collections", "class_id"):
        value = edit.given(name)
        if value is not None:
            raise Refused(module, value, f"`{edit.shown}` is given `{name}`")
    weights = edit.given("weights")
    if weights is not None and constant(weights) is not None:
        if constant(weights) not in (1, 1.0):
            text = "every example of a metric has the same weight"
            raise Refused(module, weights, text, "leave `weights` out")
        weights = None
    if weights is not None and short == "mean_iou":
        text = "Keras 3's MeanIoU makes whole numbers of its weights"
        raise Refused(module, weights, text, "leave `weights` out")
    labels = edit.get("labels")
    predictions = edit.get("predictions") or edit.get("values")
    if predictions is None or (labels is None and short != "mean"):
        raise Refused(module, node, f"what `{edit.shown}` compares is not told")
    forms = _Forms(edit, tf)
    forms.find(short)
    return Metric(
        node,
        labels,
        predictions,
        forms.keras,
        forms.classes,
        forms.plain(short),
        short in _CONFUSION,
        weights,
    )


class _Forms:
    """The Keras forms of one call."""

    def __init__(self, edit: BoundCall, tf: str) -> None:
        self.edit = edit
        self.tf = tf
        self.keras: dict[tuple[str, str], str] = {}
        self.classes: dict[tuple[str, str], str] = {}

    def find(self, short: str) -> None:
        """All forms of a metric of this name."""
        if short == "accuracy":
            self._plain("sparse", "argmax", "SparseCategoricalAccuracy")
            self._plain("onehot", "argmax", "CategoricalAccuracy")
            self._plain("sparse", "identity", "Accuracy")
            self._derived("BinaryAccuracy", "round_sigmoid")
        elif short in _REGRESSION:
            self._plain("sparse", "identity", _REGRESSION[short])
        elif short in _CONFUSION:
            for relation in _DERIVED:
                self._derived(_CONFUSION[short], relation)
        elif short == "auc":
            self._auc()
        elif short == "mean_iou":
            count = self._literal("num_classes")
            arguments = f"num_classes={count}, sparse_y_pred=False"
            self._plain("sparse", "argmax", "MeanIoU", arguments)
            self._plain("onehot", "argmax", "MeanIoU", f"{arguments}, sparse_y_true=False")
        elif short == "recall_at_k":
            for relation in ("identity", "softmax"):
                name = "SparseTopKCategoricalAccuracy"
                self._plain("sparse", relation, name, f"k={self._literal('k')}")

    def plain(self, short: str) -> str:
        """The Keras metric of what TF1's was given, with nothing derived from it."""
        if short in _BY_NUMBER:
            value = _BY_NUMBER[short].format(tf=self.tf)
            value = f"lambda labels, values: {value}"
            return f"{self.tf}.keras.metrics.MeanMetricWrapper({value}, name={{name}})"
        keras = {"accuracy": "Accuracy", "mean": "Mean", **_REGRESSION, **_CONFUSION}.get(short)
        if keras is not None:
            return f"{self.tf}.keras.metrics.{keras}(name={{name}})"
        if short == "mean_iou":
            count = self._literal("num_classes")
            return f"{self.tf}.keras.metrics.MeanIoU(num_classes={count}, name={{name}})"
        return self.keras.get(("sparse", "identity"), "")

    def _literal(self, name: str) -> str:
        """The text of an argument that has the same value everywhere in its module."""
        value = self.edit.get(name)
        module = self.edit.module
        if isinstance(value, ast.Name) and value in module.names.scope_of_name:
            home = module.names.defining_scope(value.id, module.names.scope_of_name[value])
            if home is not None and home.is_module:
                return module.source.code(value)
        if value is None or constant(value) is None:
            text = f"`{name}` of `{self.edit.shown}` is not a constant of its module"
            raise Refused(module, value or self.edit.call, text, "make it one")
        return module.source.code(value)

    def _plain(self, labels: str, relation: str, keras: str, arguments: str = "") -> None:
        more = f"{arguments}, " if arguments else ""
        self.keras[labels, relation] = f"{self.tf}.keras.metrics.{keras}({more}name={{name}})"

    def _derived(self, base: str, relation: str) -> None:
        """A class that derives what TF1's metric was given from the model's output."""
        prefix, what, value = _DERIVED[relation]
        module = self.edit.module
        name = module.names.fresh(module.names.module_scope, f"{prefix}{base}")
        text = _CLASS.format(
            name=name, tf=self.tf, base=base, what=what, value=value.format(tf=self.tf)
        )
        self.keras["sparse", relation] = f"{name}(name={{name}})"
        self.classes["sparse", relation] = text.replace("    ", module.source.indent_unit)

    def _auc(self) -> None:
        edit = self.edit
        curve = edit.get("curve")
        if curve is not None and constant(curve) != "ROC":
            text = "TF1's area under the curve of precision and recall is another than Keras's"
            raise Refused(edit.module, curve, text)
        method = edit.get("summation_method")
        if method is not None and constant(method) not in ("trapezoidal", "careful_interpolation"):
            raise Refused(edit.module, method, "Keras sums the area under the curve otherwise")
        if edit.given("thresholds") is not None:
            raise Refused(edit.module, edit.call, "the thresholds of the curve are given")
        count = edit.get("num_thresholds")
        arguments = "" if count is None else f"num_thresholds={self._literal('num_thresholds')}"
        self._plain("sparse", "identity", "AUC", arguments)
        more = f"{arguments}, " if arguments else ""
        self._plain("sparse", "sigmoid", "AUC", f"{more}from_logits=True")


REWRITER = MetricRewriter(RULE, CASES, metric)
