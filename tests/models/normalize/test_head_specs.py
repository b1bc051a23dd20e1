"""A head that says what a model_fn returns: written out, or the Estimator stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, stays

FIXTURES = Path(__file__).parents[3] / "fixtures" / "estimator"
PROGRAM = (FIXTURES / "head_spec" / "before.py").read_text(encoding="utf-8")
HEAD = "tf.contrib.estimator.binary_classification_head()"
TRAIN = (
    "        train_op_fn=lambda loss: optimizer.minimize"
    "(loss, global_step=tf.train.get_global_step()),\n"
)
LABELS = "        labels=labels,\n"
STAYS = "`head.create_estimator_spec` says what model_fn returns"
CANNED = (
    "from tensorflow.python.estimator.canned import head as head_lib\nimport tensorflow as tf\n"
)


def program(*pairs: tuple[str, str]) -> str:
    return changed(PROGRAM, *pairs)


def test_the_head_is_written_out() -> None:
    after, said = migrated(program())
    assert "class Model(tf.keras.Model):" in after, said
    assert "head" not in after.split('"""')[2]
    assert 'self.accuracy_baseline = AccuracyBaseline(name="accuracy_baseline")' in after
    assert 'PrecisionRecallAUC(curve="PR", name="auc_precision_recall")' in after
    assert '"all_classes": tf.as_string(all_class_ids),' in after


def test_arguments_by_their_places() -> None:
    named = "features=features,\n        mode=mode,\n"
    placed = program((named, "features,\n        mode,\n"))
    assert migrated(placed)[0] == migrated(program())[0]


@pytest.mark.parametrize(
    "train",
    [
        "        optimizer=optimizer,\n",
        "        optimizer=optimizer,\n        train_op_fn=None,\n",
        "        optimizer=tf.train.AdagradOptimizer(params['rate']),\n",
    ],
    ids=["optimizer", "a function that is None", "made there"],
)
def test_an_optimizer_trains(train: str) -> None:
    after, said = migrated(program((TRAIN, train)))
    assert "optimizer = tf.keras.optimizers.Adagrad(" in after, said


def test_a_function_of_several_statements_trains() -> None:
    function = """\
    def train_op_fn(value):
        step = tf.train.get_global_step()  # counted by the Estimator
        # Half of it after four steps.
        rate = tf.train.exponential_decay(params["rate"], step, 4, 0.5, staircase=True)
        return tf.train.AdagradOptimizer(rate).minimize(value, global_step=step)

    return head.create"""
    after, said = migrated(
        program(
            ("    return head.create", function),
            (TRAIN, "        train_op_fn=train_op_fn,\n"),
            ('    optimizer = tf.train.AdagradOptimizer(learning_rate=params["rate"])\n', ""),
        )
    )
    assert "ExponentialDecay(" in after and "train_op_fn" not in after, said
    assert "# Half of it after four steps." in after


@pytest.mark.parametrize(
    ("made", "loss"),
    [
        ("_binary_logistic_or_multi_class_head(2, None, None, tf.losses.Reduction.SUM)", "_sum("),
        ("_binary_logistic_head_with_sigmoid_cross_entropy_loss()", "_sum("),
    ],
    ids=["either", "of two classes"],
)
def test_heads_of_canned_estimators_sum_up(made: str, loss: str) -> None:
    once = ("strategy = tf.distribute.MirroredStrategy", "assert tf.distribute.MirroredStrategy")
    after, said = migrated(
        program(
            ("import tensorflow as tf\n", CANNED),
            (HEAD, f"head_lib.{made}"),
            once,
            ("train_distribute=strategy", ""),
        )
    )
    assert f"return tf.reduce{loss}" in after, said


@pytest.mark.parametrize("count", ["params['kinds']", "kinds"])
def test_a_head_of_how_many_classes_stays(count: str) -> None:
    made = f"head_lib._binary_logistic_or_multi_class_head({count}, None, None)"
    text = program(("import tensorflow as tf\n", CANNED), (HEAD, made))
    stays(text, STAYS)


def test_a_number_of_classes_that_changes_stays() -> None:
    kinds = "tf.contrib.estimator.multi_class_head(kinds)\n    kinds = 5"
    body = "    net = tf.layers.dense("
    stays(program((HEAD, kinds), (body, f"    kinds = 3\n{body}")), STAYS)


def test_a_summed_loss_stays_under_a_strategy() -> None:
    summed = HEAD.replace("()", "(loss_reduction=tf.losses.Reduction.SUM)")
    stays(program((HEAD, summed)), "several replicas would have a different loss")


def test_each_threshold_has_metrics() -> None:
    after, said = migrated(program((HEAD, HEAD.replace("()", "(thresholds=[0.25])"))))
    assert 'name="recall/positive_threshold_0.25"' in after, said
    assert "tf.greater_equal(logistic, 0.25)" in after  # the accuracy counts what is equal
    assert "tf.greater(logistic, 0.25)" in after


@pytest.mark.parametrize(
    "arguments",
    [
        "(weight_column='weight')",
        "(label_vocabulary=['no', 'yes'])",
        "(loss_fn=cost)",
        "(name='buyers')",
        "(thresholds=THRESHOLDS)",
        "(loss_reduction=reduction())",
    ],
)
def test_heads_that_are_given_more_stay(arguments: str) -> None:
    name = arguments[1 : arguments.index("=")]
    reason = (
        STAYS
        if name in ("thresholds", "loss_reduction")
        else f"`{name}` of a head is not converted"
    )
    stays(program((HEAD, HEAD.replace("()", arguments))), reason)


@pytest.mark.parametrize(
    "pairs",
    [
        [(LABELS, LABELS + "        regularization_losses=[l],\n")],
        [(LABELS, "        **dict(labels=labels),\n")],
        [(TRAIN, TRAIN.replace("lambda loss:", "lambda loss, rate=1:"))],
        [(TRAIN, TRAIN + "        optimizer=optimizer,\n")],
        [(TRAIN, "")],
        [(TRAIN, "        train_op_fn=trained,\n")],
        [("        mode=mode,\n", "        mode=tf.estimator.ModeKeys.TRAIN,\n")],
    ],
    ids=[
        "regularized", "unpacked", "a second parameter", "both", "neither", "another function",
        "another mode",
    ],
)  # fmt: skip
def test_specs_that_are_not_known_stay(pairs: list[tuple[str, str]]) -> None:
    stays(program(*pairs), STAYS)


def test_a_head_whose_model_is_exported() -> None:
    served = """\
    buyers.export_savedmodel("out", served)


def served():
    visits = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"visits": visits}, {"visits": visits})


if __name__"""
    after, said = migrated(program(("\n\nif __name__", served)))
    # What is given numbers is no serialized example: TF1 left the other signatures out.
    assert 'archive.add_endpoint("predict", served(buyers))' in after, said
    assert after.count("add_endpoint") == 1


def test_a_spec_that_an_inner_function_returns_stays() -> None:
    body = PROGRAM[PROGRAM.index("    return head.create") : PROGRAM.index("def batches")].rstrip()
    inner = "\n".join("    " + line for line in body.split("\n"))
    stays(
        program((body, f"    def spec():\n{inner}\n\n    return spec()")),
        "model_fn returns a value that cannot be analyzed",
    )


def test_a_head_of_two_kinds_stays() -> None:
    either = f"{HEAD} if mode else tf.contrib.estimator.regression_head()"
    stays(program((HEAD, either)), STAYS)


METRIC = """\
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1)
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    chance = tf.sigmoid(logits)
    mean = tf.metrics.mean(labels)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"found": METRIC}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def data():
    x = np.random.RandomState(0).rand(32, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).batch(8)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(data)
print(estimator.evaluate(data)["found"])
"""


@pytest.mark.parametrize(
    "metric",
    [
        "(tf.maximum(mean[0], 1 - mean[0]), mean[1])",
        "(tf.maximum(mean[0], 1.0 - mean[0]), mean[1])",
    ],
)
def test_a_baseline_is_a_metric(metric: str) -> None:
    after, said = migrated(METRIC.replace("METRIC", metric))
    assert 'AccuracyBaseline(name="found")' in after, said


@pytest.mark.parametrize(
    "metric",
    [
        "(tf.maximum(mean[0], 2 - mean[0]), mean[1])",
        "(tf.minimum(mean[0], 1 - mean[0]), mean[1])",
        "(tf.maximum(mean[0], 1 - mean[1]), mean[1])",
        "(tf.maximum(mean[0], 1 - mean[0]), mean[0])",
        "(mean[0], mean[1])",
    ],
)
def test_other_pairs_are_no_metric(metric: str) -> None:
    stays(METRIC.replace("METRIC", metric), "the metric 'found' is not one of tf.metrics")


def test_a_baseline_is_of_a_mean_alone() -> None:
    text = METRIC.replace("METRIC", "(tf.maximum(mean[0], 1 - mean[0]), mean[1])")
    stays(
        changed(text, ("tf.metrics.mean(labels)", "tf.metrics.auc(labels, chance)")), "which mean"
    )


def test_the_area_under_precision_and_recall() -> None:
    metric = "tf.metrics.auc(labels, chance, curve='PR', num_thresholds=50)"
    after, said = migrated(METRIC.replace("METRIC", metric))
    assert "PrecisionRecallAUC(" in after and "num_thresholds=50" in after, said
    assert 'curve="PR"' in after and "from_logits=True" in after


def test_another_way_to_sum_up_that_area_stays() -> None:
    metric = "tf.metrics.auc(labels, chance, curve='PR', summation_method='careful_interpolation')"
    stays(METRIC.replace("METRIC", metric), "by another formula")


WIDTH = (FIXTURES / "head_width" / "before.py").read_text(encoding="utf-8")
MADE = "    head = head_lib._binary"


@pytest.mark.parametrize(
    "pair",
    [
        ("    net = features", "    print(labels)\n    net = features"),
        ("n_classes=2", "n_classes=2, name=None"),
    ],
)
def test_a_head_that_only_says_how_many_logits_there_are(pair: tuple[str, str]) -> None:
    after, said = migrated(changed(WIDTH, pair))
    assert "head" not in after.partition("class ")[2] and "Dense(units=1)" in after, said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (MADE, "    print(head_lib)\n    if labels is None:\n        head = None\n" + MADE),
        ("    opened_logits", "    print(head)\n    opened_logits"),
        ("n_classes=2", "n_classes=params['classes']"),
    ],
)
def test_a_head_that_is_asked_for_more_stays(old: str, new: str) -> None:
    stays(changed(WIDTH, (old, new)), "is TensorFlow's own inside")
