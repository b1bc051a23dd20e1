"""`add_metrics` of a canned Estimator: metrics of its model, or it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "added_metrics"
PROGRAM = (FIXTURE / "before.py").read_text(encoding="utf-8")
ADDED = "    return tf.contrib.estimator.add_metrics(estimator, fare_errors)\n"
SQUEEZED = '    fares = tf.squeeze(predictions["predictions"], axis=-1)\n'
CAST = """\
    labels = tf.cast(labels, tf.float32)
    fares = predictions["predictions"]
"""
STAYS = "cannot be determined"


@pytest.mark.parametrize(
    "pairs",
    [
        [(ADDED, ADDED.replace("contrib.", ""))],
        [(ADDED, ADDED.replace("(estimator, ", "(estimator=estimator, metric_fn="))],
        [(ADDED, ADDED.replace("return", "estimator =") + "    return estimator\n")],
        [(ADDED, '    """Errors."""\n    seen = 1\n' + ADDED)],
        [(SQUEEZED, '    fares = tf.reshape(predictions["predictions"], [-1])\n')],
        [(SQUEEZED, CAST)],
    ],
    ids=["estimator's own", "by name", "assigned", "statements between", "reshaped", "cast"],
)
def test_the_metrics_are_the_models(pairs: list[tuple[str, str]]) -> None:
    after, said = migrated(changed(PROGRAM, *pairs))
    assert 'tf.keras.metrics.RootMeanSquaredError(name="rmse"),' in after, said
    assert 'tf.keras.metrics.MeanAbsoluteError(name="mae"),' in after
    assert "fare_errors" not in after and "add_metrics" not in after


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([(SQUEEZED, "    print(labels)\n" + SQUEEZED)], STAYS),
        ([("(labels, predictions):", "(labels, predictions, features):")], "asks for more than"),
        ([(SQUEEZED, '    fares = predictions["predictions"] * 2.0\n')], STAYS),
        ([(SQUEEZED, '    fares = tf.squeeze(predictions["predictions"])\n')], STAYS),
        ([(SQUEEZED, '    fares = tf.reshape(predictions["predictions"], [1, -1])\n')], STAYS),
        ([('"mae"', '"average_loss"')], STAYS),
        ([("absolute_error(labels, fares)", "absolute_error(labels, fares, labels)")], STAYS),
        ([("mean_absolute_error(labels", "mean_cosine_distance(labels")], "no Keras metric equals"),
        ([("    shutil", "    print(fare_errors)\n    shutil")], "is used for more than"),
        (
            [(ADDED, "    print(estimator)\n" + ADDED)],
            "the Estimator is passed to `tf.contrib.estimator.add_metrics(...)`",
        ),
        (
            [(ADDED, "    model_dir = input()\n" + ADDED)],
            "the Estimator is passed to `tf.contrib.estimator.add_metrics(...)`",
        ),
    ],
)
def test_what_stays(pairs: list[tuple[str, str]], reason: str) -> None:
    stays(changed(PROGRAM, *pairs), reason)


def test_metrics_of_two_classes() -> None:
    """The probability is the logit's sigmoid, the class whether it is above zero."""
    text = """\
    return {
        "hits": tf.metrics.recall(labels, predictions["class_ids"]),
        "curve": tf.metrics.auc(labels, predictions["logistic"]),
    }
"""
    start, end = PROGRAM.index(SQUEEZED), PROGRAM.index("\n\n\ndef build_estimator")
    program = PROGRAM[:start] + text.rstrip() + PROGRAM[end:]
    program = program.replace("CombinedRegressor", "CombinedClassifier")
    program = program.replace('result["rmse"], result["mae"]', 'result["hits"], result["curve"]')
    after, said = migrated(program)
    assert 'Recall(name="hits"),' in after, said
    assert 'tf.keras.metrics.AUC(from_logits=True, name="curve"),' in after
    assert "tf.sigmoid(y_pred), sample_weight)" in after  # of the class of recall
