"""What a canned Estimator's head says: its loss, its results and its predictions, in Keras.

Measured on 1.15.5: the loss is the sum over a batch, ``average_loss`` the mean over examples;
of two classes there is one logit, and a class is chosen where it is above zero.
"""

from __future__ import annotations

from collections.abc import Iterable

from migrate_mgpu.core.records import record
from migrate_mgpu.source.style import FileStyle

BINARY, CLASSES, REGRESSION = "binary", "classes", "regression"

_LOSSES = {
    BINARY: "BinaryCrossentropy",
    CLASSES: "SparseCategoricalCrossentropy",
    REGRESSION: "MeanSquaredError",
}
# What a program that looks at no result in particular is shown.
_SHOWN = {
    BINARY: ("accuracy", "average_loss"),
    CLASSES: ("accuracy", "average_loss"),
    REGRESSION: ("average_loss",),
}
_RESULTS = {
    BINARY: (
        "accuracy", "accuracy_baseline", "auc", "auc_precision_recall", "average_loss",
        "label/mean", "precision", "prediction/mean", "recall",
    ),
    CLASSES: ("accuracy", "average_loss"),
    REGRESSION: ("average_loss", "label/mean", "prediction/mean"),
}  # fmt: skip
_OF_PROBABILITIES = '''\
class {name}({tf}.keras.metrics.{name}):
    """{name} of what a logit above zero chooses."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, {tf}.sigmoid(y_pred), sample_weight)'''
_BASELINE = '''\
class {name}({tf}.keras.metrics.Mean):
    """How often the class is right that most examples have."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true, sample_weight)

    def result(self):
        labels = super().result()
        return {tf}.maximum(labels, 1 - labels)'''

# Keras 3's own metric takes no labels of shape [n] for logits of shape [n, 1].
_AVERAGE = '''\
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
# The classes of a binary head's metrics, by their key.
CLASS_METRICS = {
    "accuracy_baseline": ("AccuracyBaseline", _BASELINE),
    "auc_precision_recall": ("PrecisionRecallAUC", _PRECISION_RECALL),
    "average_loss": ("AverageLoss", _AVERAGE),
    "precision": ("Precision", _OF_PROBABILITIES),
    "recall": ("Recall", _OF_PROBABILITIES),
}


@record(frozen=True)
class Head:
    """A kind of head; ``sums`` says whether its loss is the sum over a batch.

    ``weights`` is the expression of the examples' weights, if they have any, ``words`` the
    list of the classes where labels are texts.
    """

    kind: str
    sums: bool = True
    weights: str = ""
    words: str = ""

    def loss(self, style: FileStyle) -> str:
        """The compiled loss."""
        given = [] if self.kind == REGRESSION else ["from_logits=True"]
        if self.sums:
            given.append(f"reduction={style.string('sum')}")
        return f"{style.tensorflow}.keras.losses.{_LOSSES[self.kind]}({', '.join(given)})"

    def results(self, wanted: Iterable[str] | None) -> tuple[str, ...]:
        """The keys of an evaluation's result that a program needs; None stands for all."""
        if wanted is None:
            return _RESULTS[self.kind]
        read = [key for key in _RESULTS[self.kind] if key in set(wanted)]
        return tuple(read) or _SHOWN[self.kind]

    def metrics(
        self, keys: Iterable[str], style: FileStyle, fresh: dict[str, str]
    ) -> tuple[list[str], list[str]]:
        """The compiled metrics, and the classes that they need (names by ``fresh``)."""
        texts: list[str] = []
        classes: list[str] = []
        tf = style.tensorflow
        metrics = f"{tf}.keras.metrics"
        for key in keys:
            name = f"name={style.string(key)}"
            if self.kind == BINARY and key in CLASS_METRICS:
                short, template = CLASS_METRICS[key]
                classes.append(template.format(name=fresh[short], tf=tf))
                curve = f"curve={style.string('PR')}, "
                given = f"{curve}{name}, from_logits=True" if "auc" in key else name
                texts.append(f"{fresh[short]}({given})")
            elif key == "average_loss":
                logits = "" if self.kind == REGRESSION else ", from_logits=True"
                texts.append(f"{metrics}.{_LOSSES[self.kind]}({name}{logits})")
            elif key == "accuracy" and self.kind == CLASSES:
                texts.append(f"{metrics}.SparseCategoricalAccuracy({name})")
            elif key == "accuracy":
                texts.append(f"{metrics}.BinaryAccuracy({name}, threshold=0.0)")
            elif key == "auc":
                texts.append(f"{metrics}.AUC({name}, from_logits=True)")
            elif key == "label/mean":
                texts.append(f"{metrics}.MeanMetricWrapper(lambda labels, _: labels, {name})")
            else:
                value = f"{tf}.sigmoid(logits)" if self.kind == BINARY else "predictions"
                taken = "logits" if self.kind == BINARY else "predictions"
                function = f"lambda _, {taken}: {value}"
                texts.append(f"{metrics}.MeanMetricWrapper({function}, {name})")
        return texts, classes

    def lookup(self, style: FileStyle) -> list[str]:
        """The layer that knows the classes by their labels."""
        if not self.words:
            return []
        layer = f"{style.tensorflow}.keras.layers.StringLookup"
        made = f"{layer}(vocabulary={self.words}, num_oov_indices=0)"
        return [f"self.class_ids = {made}"]

    def labelled(self) -> list[str]:
        """The methods that take labels for classes."""
        if not self.words:
            return []
        return [
            "def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **kwargs):",
            "    y = self.class_ids(y)",
            "    return super().compute_loss(x, y, y_pred, sample_weight, **kwargs)",
            "",
            "def compute_metrics(self, x, y, y_pred, sample_weight=None):",
            "    y = self.class_ids(y)",
            "    return super().compute_metrics(x, y, y_pred, sample_weight)",
        ]

    def weighted_steps(self, trains: bool) -> list[str]:
        """The methods that hand on the examples' weights; ``trains`` if it trains as all do."""
        if not self.weights:
            return []
        lines = [
            "def with_weights(self, data):",
            "    features, labels = data",
            f"    return features, labels, {self.weights}",
        ]
        for step in ("train_step", "test_step") if trains else ("test_step",):
            lines += [
                "", f"def {step}(self, data):",
                f"    return super().{step}(self.with_weights(data))",
            ]  # fmt: skip
        return lines

    def predict_step(self, style: FileStyle, unit: str) -> list[str]:
        """The method that gives the predictions of 1.15, by their names."""
        lines = [
            "def predict_step(self, data):",
            f"{unit}features, _, _ = {style.tensorflow}.keras.utils.unpack_x_y_sample_weight(data)",
        ]
        q, tf = style.quote, style.tensorflow
        if self.kind == REGRESSION:
            return [*lines, f"{unit}return {{{q}predictions{q}: self(features, training=False)}}"]
        lines.append(f"{unit}logits = self(features, training=False)")
        both = "logits"
        entries = [f"{q}logits{q}: logits,"]
        if self.kind == BINARY:
            both = "two_class_logits"
            zeros = f"{tf}.zeros_like(logits)"
            lines.append(f"{unit}{both} = {tf}.concat([{zeros}, logits], axis=-1)")
            entries.append(f"{q}logistic{q}: {tf}.sigmoid(logits),")
        lines.append(f"{unit}class_ids = {tf}.argmax({both}, axis=-1)[:, {tf}.newaxis]")
        entries += [
            f"{q}probabilities{q}: {tf}.nn.softmax({both}),",
            f"{q}class_ids{q}: class_ids,",
            f"{q}classes{q}: {self._classes(tf)},",
        ]
        return [*lines, f"{unit}return {{", *(f"{unit * 2}{e}" for e in entries), f"{unit}}}"]

    def _classes(self, tf: str) -> str:
        if not self.words:
            return f"{tf}.strings.as_string(class_ids)"
        return f"{tf}.gather({self.words}, class_ids)"
