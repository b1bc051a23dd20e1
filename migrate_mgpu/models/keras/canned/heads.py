"""The head of a canned Estimator in Keras: loss, metrics, and the methods that say the rest."""

from __future__ import annotations

from collections.abc import Iterable

from migrate_mgpu.api.heads import HEADS, Task
from migrate_mgpu.api.losses import LOSSES, Reduction
from migrate_mgpu.api.metrics import METRICS, MetricForm, MetricRow
from migrate_mgpu.models.ir import Head
from migrate_mgpu.models.keras.driver.driver_edits import text_of
from migrate_mgpu.source.new_code import Code, call, deeper
from migrate_mgpu.source.style import FileStyle


class HeadWriter:
    """Writes what a head adds to a model; ``takes_classes``: its number of logits is given."""

    def __init__(self, head: Head, style: FileStyle) -> None:
        self.head = head
        self.row = HEADS.by_kind[head.kind]
        self.style = style
        self.tf = style.tensorflow
        self.unit = style.indent
        self.takes_classes = self.row.task is Task.CLASSES
        self.words = text_of(head.module, head.words) if head.words is not None else ""

    def loss(self) -> str:
        """The compiled loss."""
        row = LOSSES.by_kind[self.row.loss]
        given = ["from_logits=True"] if row.logits else []
        if self.head.reduction is Reduction.SUM:
            given.append(f"reduction={self.style.string('sum')}")
        return f"{self.tf}.keras.losses.{row.keras}({', '.join(given)})"

    def results(self, wanted: Iterable[str] | None) -> tuple[str, ...]:
        """The keys of an evaluation's result that a program needs; None stands for all."""
        if wanted is None:
            return tuple(self.row.results)
        return tuple(key for key in self.row.results if key in set(wanted)) or self.row.shown

    def metrics(self, keys: Iterable[str]) -> tuple[list[Code], list[str]]:
        """The compiled metrics, and the classes that they need."""
        made: list[Code] = []
        classes: list[str] = []
        for key in keys:
            measured = self.row.results[key]
            row = METRICS.by_kind[measured.metric]
            form = row.forms[measured.labels, measured.outputs]
            if form.definition is not None:
                classes.append(form.definition.written(self._called(form), self.style))
            made.append(self._metric(row, form, key))
        return made, classes

    def _metric(self, row: MetricRow, form: MetricForm, key: str) -> Code:
        name = f"name={self.style.string(key)}"
        if form.function:
            function = form.function.format(tf=self.tf)
            return call(f"{self.tf}.keras.metrics.MeanMetricWrapper", function, name)
        first = [f"{k}={value.format(quote=self.style.quote)}" for k, value in row.constants]
        last = [f"{k}={value}" for k, value in form.constants]
        return call(self._called(form), *first, name, *last)

    def _called(self, form: MetricForm) -> str:
        if form.definition is None:
            return f"{self.tf}.{form.target}"
        names = self.head.module.names
        return names.fresh(names.module_scope, form.definition.name)

    def lookup(self) -> tuple[str, Code] | None:
        """The layer that knows the classes by their labels, with its attribute."""
        if not self.words:
            return None
        layer = f"{self.tf}.keras.layers.StringLookup"
        return "self.class_ids", call(layer, f"vocabulary={self.words}", "num_oov_indices=0")

    def labelled(self) -> list[str]:
        """The methods that take labels for classes."""
        if not self.words:
            return []
        given = "y_pred, sample_weight"
        loss = ["y = self.class_ids(y)", f"return super().compute_loss(x, y, {given}, **kwargs)"]
        metrics = ["y = self.class_ids(y)", f"return super().compute_metrics(x, y, {given})"]
        return [
            "def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **kwargs):",
            *deeper(loss, self.unit),
            "",
            "def compute_metrics(self, x, y, y_pred, sample_weight=None):",
            *deeper(metrics, self.unit),
        ]

    def weighted_steps(self, trains: bool) -> list[str]:
        """The methods that hand on the examples' weights; ``trains`` if it trains as all do."""
        key = self.head.weights
        if key is None:
            return []
        weights = f"{self.tf}.cast(features[{text_of(self.head.module, key)}], {self.tf}.float32)"
        found = [
            "def with_weights(self, data):",
            f"{self.unit}features, labels = data",
            f"{self.unit}return features, labels, {self.tf}.reshape({weights}, [-1])",
        ]
        for step in ("train_step", "test_step") if trains else ("test_step",):
            body = f"{self.unit}return super().{step}(self.with_weights(data))"
            found += ["", f"def {step}(self, data):", body]
        return found

    def predict_step(self, exported: bool = False) -> list[str]:
        """The method that gives the predictions of 1.15, by their names.

        ``exported``: with all classes there are, which TF1 gave with each example.
        """
        q, tf, unit = self.style.quote, self.tf, self.unit
        body = [f"features, _, _ = {tf}.keras.utils.unpack_x_y_sample_weight(data)"]
        if self.row.task is Task.NUMBER:
            body.append(f"return {{{q}predictions{q}: self(features, training=False)}}")
            return ["def predict_step(self, data):", *deeper(body, unit)]
        body.append("logits = self(features, training=False)")
        both = "logits"
        entries = [f"{q}logits{q}: logits,"]
        if self.row.task is Task.TWO_CLASSES:
            both = "two_class_logits"
            body.append(f"{both} = {tf}.concat([{tf}.zeros_like(logits), logits], axis=-1)")
            entries.append(f"{q}logistic{q}: {tf}.sigmoid(logits),")
        body.append(f"class_ids = {tf}.argmax({both}, axis=-1)[:, {tf}.newaxis]")
        words = f"{tf}.strings.as_string(class_ids)"
        if self.words:
            words = f"{tf}.gather({self.words}, class_ids)"
        entries += [
            f"{q}probabilities{q}: {tf}.nn.softmax({both}),",
            f"{q}class_ids{q}: class_ids,",
            f"{q}classes{q}: {words},",
        ]
        if exported:
            body.append(f"all_ids = {tf}.range({both}.shape[-1])[{tf}.newaxis]")
            every = f"{tf}.strings.as_string(all_ids)"
            if self.words:
                every = f"{tf}.constant([{self.words}])"
            rows = f"[{tf}.shape(logits)[0], 1]"
            entries += [
                f"{q}all_class_ids{q}: {tf}.tile(all_ids, {rows}),",
                f"{q}all_classes{q}: {tf}.tile({every}, {rows}),",
            ]
        body += ["return {", *deeper(entries, unit), "}"]
        return ["def predict_step(self, data):", *deeper(body, unit)]
