"""Metrics as facts: which Keras metric is given labels and output, and which needs more."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.api.metrics import METRICS, Derived, MetricForm
from migrate_mgpu.core.records import replaced
from migrate_mgpu.models.front.metrics import read_metric
from migrate_mgpu.models.ir import Computation, Metric, Result
from migrate_mgpu.models.properties import form_of, result_fits_compile
from tests.rewriters.table_rows import module_of


def metric(code: str) -> Metric:
    found = read_metric(*module_of(f"x = {code}"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("code", "labels", "outputs", "fits"),
    [
        ("tf.metrics.accuracy(a, b)", Derived.ITSELF, Derived.ARGMAX, True),
        ("tf.metrics.accuracy(a, b)", Derived.ARGMAX, Derived.ARGMAX, True),
        ("tf.metrics.accuracy(a, b)", Derived.ITSELF, Derived.SOFTMAX, False),
        ("tf.metrics.accuracy(a, b)", None, Derived.ARGMAX, False),
        ("tf.metrics.accuracy(a, b, w)", Derived.ITSELF, Derived.ARGMAX, False),
        ("tf.metrics.accuracy(a, b, 1.0)", Derived.ITSELF, Derived.ARGMAX, True),
        ("tf.metrics.precision(a, b)", Derived.ITSELF, Derived.ITSELF, False),
        ("tf.metrics.precision(a, b)", Derived.ITSELF, Derived.CHOSEN, True),
        ("tf.metrics.auc(a, b)", Derived.ITSELF, Derived.SIGMOID, True),
        ("tf.metrics.mean_iou(a, b, 3)", Derived.ITSELF, Derived.ARGMAX, True),
    ],
)
def test_what_compile_takes(
    code: str, labels: Derived | None, outputs: Derived | None, fits: bool
) -> None:
    assert result_fits_compile(Result(metric(code), labels, outputs)) is fits


def test_compile_takes_a_mean_of_values() -> None:
    mean = metric("tf.metrics.mean(a)")
    values = Computation(mean.predictions, None)
    assert result_fits_compile(Result(mean, values=values))
    weighted = metric("tf.metrics.mean(a, w)")
    assert not result_fits_compile(Result(weighted, values=values))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("tf.metrics.accuracy(a, b, metrics_collections=c)", "given `metrics_collections`"),
        ("tf.metrics.recall_at_k(a, b, 2, class_id=1)", "given `class_id`"),
        ("tf.metrics.recall_at_k(a, b, k())", "not a constant of its module"),
        ("tf.metrics.auc(a, b, summation_method='minoring')", "by another formula"),
        ("tf.metrics.auc(a, b, thresholds=[0.1])", "thresholds"),
    ],
)
def test_what_keras_cannot_say_is_refused(code: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        metric(code)
    assert reason in refused.value.diagnostic.reason


def test_wording_of_what_is_written_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of TF2 in the table is another one: the same metrics fit."""
    results = [
        Result(metric(f"tf.metrics.{name}(a, b)"), Derived.ITSELF, outputs)
        for name in ("accuracy", "recall", "auc", "mean_squared_error")
        for outputs in Derived
    ]
    before = [(form_of(one) is not None, result_fits_compile(one)) for one in results]
    assert {fits for _, fits in before} == {True, False}
    rows = {
        kind: replaced(row, target="x", forms=dict.fromkeys(row.forms, MetricForm("x")))
        for kind, row in METRICS.by_kind.items()
    }
    monkeypatch.setattr(METRICS, "by_kind", rows)
    assert [(form_of(one) is not None, result_fits_compile(one)) for one in results] == before
