"""Heads of canned Estimators, and weights of their examples."""

from __future__ import annotations

import pytest

from tests.models.front.canned.canned import dense, program
from tests.support.migration import migrated, stays

NUMBER = "[fc.numeric_column('b')]"
MEAN = "SUM_OVER_BATCH_SIZE"


def headed(head: str, kind: str = "DNNEstimator", more: str = "hidden_units=[4], ") -> str:
    """An Estimator with a head of its own, trained."""
    made = f"est = tf.estimator.{kind}({head}, {more}feature_columns={NUMBER})\n"
    return made + "est.train(input_fn, steps=2)\n"


@pytest.mark.parametrize(
    ("head", "loss"),
    [
        ("tf.estimator.BinaryClassHead()", "BinaryCrossentropy(from_logits=True),"),
        ("tf.contrib.estimator.binary_classification_head()",
         "BinaryCrossentropy(from_logits=True),"),
        ("tf.estimator.MultiClassHead(3)", "SparseCategoricalCrossentropy(from_logits=True),"),
        ("tf.contrib.estimator.multi_class_head(n_classes=3, name=None)",
         "SparseCategoricalCrossentropy(from_logits=True),"),
        ("tf.estimator.RegressionHead(1)", "MeanSquaredError(),"),
        ("tf.contrib.estimator.regression_head(None, 1)", "MeanSquaredError(),"),
        ("tf.estimator.RegressionHead(loss_reduction=tf.losses.Reduction.SUM)",
         'MeanSquaredError(reduction="sum"),'),
    ],
)  # fmt: skip
def test_a_head_takes_the_mean(head: str, loss: str) -> None:
    after, said = migrated(program(headed(head)))
    assert f"loss=tf.keras.losses.{loss}\n" in after
    assert "the sum over a batch" not in after
    assert not any("take the sum of a batch" in text for text in said)
    linear, _ = migrated(program(headed(head, "LinearEstimator", "")))
    assert "class LinearEstimator(" in linear and "Ftrl with 0.2." in linear


def test_a_head_says_how_many_classes_there_are() -> None:
    after, _ = migrated(
        program("N = 3\n# Three.\nhead = tf.estimator.MultiClassHead(N)\n" + headed("head"))
    )
    assert "hidden_units=[4], n_classes=N)" in after and "tf.keras.layers.Dense(n_classes)" in after
    assert "head =" not in after and after.count("# Three.") == 1


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("tf.estimator.MultiLabelHead(3)", "the head `tf.estimator.MultiLabelHead`"),
        ("tf.contrib.estimator.poisson_regression_head()", "poisson_regression_head"),
        ("tf.estimator.BinaryClassHead(thresholds=[0.3])", "`thresholds`"),
        ("tf.estimator.BinaryClassHead(name='x')", "`name` of a BinaryClassHead"),
        ("tf.estimator.RegressionHead(loss_fn=abs)", "`loss_fn`"),
        ("tf.estimator.RegressionHead(2)", "a regression of several numbers"),
        ("make()", "the head `make`"),
    ],
)
def test_heads_that_stay(head: str, reason: str) -> None:
    stays(program(headed(head)), reason)


def test_a_head_that_something_else_needs() -> None:
    head = "head = tf.estimator.BinaryClassHead()\n"
    stays(
        program(head + headed("head") + "print(head.logits_dimension)\n"),
        "`head` is used for more than the Estimator",
    )


def test_weights_count_in_steps_and_in_every_metric() -> None:
    weights = "tf.reshape(tf.cast(features['w'], tf.float32), [-1])"
    for body in (
        dense(NUMBER, ", weight_column='w'"),
        headed("tf.estimator.RegressionHead(weight_column='w')"),
    ):
        after, _ = migrated(program(body))
        assert f"        return features, labels, {weights}\n" in after
        assert "super().train_step(self.with_weights(data))" in after
        assert "super().test_step(self.with_weights(data))" in after
        assert "    weighted_metrics=[\n" in after and " metrics=[" not in after
    named, _ = migrated(program("KEY = 'w'\n" + dense(NUMBER, ", weight_column=KEY")))
    assert "features[KEY]" in named
    combined = (
        "est = tf.estimator.DNNLinearCombinedRegressor(\n"
        f"    linear_feature_columns={NUMBER}, dnn_feature_columns={NUMBER},\n"
        "    dnn_hidden_units=[4], weight_column='w')\nest.train(input_fn, steps=2)\n"
    )
    after, _ = migrated(program(combined))
    assert "features, labels, weights = self.with_weights(data)" in after
    assert "super().train_step(" not in after and "super().test_step(" in after


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (", weight_column=fc.numeric_column('w')", "is not the key of a feature"),
        (", weight_column='w', loss_reduction=tf.losses.Reduction.MEAN", "divided by its weights"),
        (
            ", weight_column='w', loss_reduction=tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS",
            "divided by its weights",
        ),
    ],
)
def test_weights_that_stay(more: str, reason: str) -> None:
    stays(program(dense(NUMBER, more)), reason)
    mean = more.replace("MEAN", MEAN).replace("SUM_BY_NONZERO_WEIGHTS", MEAN)
    if "loss_reduction" in more:
        assert "weighted_metrics=[" in migrated(program(dense(NUMBER, mean)))[0]


def test_labels_that_are_words() -> None:
    more = ", n_classes=3, label_vocabulary=WORDS"
    words = "WORDS = ['x', 'y', 'z']\n"
    rows = "lambda: tf.data.Dataset.from_tensors({'b': [1.0]})"
    predicted = f"for p in est.predict({rows}):\n    print(p['classes'])\n"
    after, _ = migrated(program(words + dense(NUMBER, more) + predicted))
    lookup = "tf.keras.layers.StringLookup(vocabulary=WORDS, num_oov_indices=0)"
    assert f"self.class_ids = {lookup}\n" in after
    assert after.count("y = self.class_ids(y)\n") == 2
    assert "'classes': tf.gather(WORDS, class_ids)," in after.replace('"', "'")
    two, _ = migrated(program(dense(NUMBER, ", label_vocabulary=['no', 'yes']")))
    assert "vocabulary=['no', 'yes']," in two and "BinaryCrossentropy(" in two


@pytest.mark.parametrize(
    ("above", "more", "reason"),
    [
        ("WORDS = ['x']\nWORDS.append('y')\n", "label_vocabulary=WORDS", "not a list literal"),
        ("", "label_vocabulary=[1, 2]", "not a list literal"),
        ("", "label_vocabulary=list('ab')", "not a list literal"),
        (
            "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n",
            "label_vocabulary=['x', 'y'], config=config", "labels that are texts",
        ),
    ],
)  # fmt: skip
def test_labels_that_stay(above: str, more: str, reason: str) -> None:
    stays(program(above + dense(NUMBER, f", {more}")), reason)


def test_as_many_classes_as_a_list_has() -> None:
    more = ", n_classes=len(WORDS), label_vocabulary=WORDS"
    three, _ = migrated(program("WORDS = ['x', 'y', 'z']\n" + dense(NUMBER, more)))
    assert "n_classes=len(WORDS))" in three and "SparseCategoricalCrossentropy(" in three
    two, _ = migrated(program("WORDS = ['x', 'y']\n" + dense(NUMBER, more)))
    assert "BinaryCrossentropy(" in two and "n_classes" not in two
    grown = "WORDS = ['x', 'y']\nWORDS.append('z')\n"
    stays(program(grown + dense(NUMBER, ", n_classes=len(WORDS)")), "how many classes")


@pytest.mark.parametrize(
    "settings",
    ['"""Settings."""\nKINDS = 5\n', "import os\n\nKINDS = 5\nHOME = os.path.dirname(__file__)\n"],
)
def test_classes_are_counted_in_a_file_of_constants(settings: str) -> None:
    counted = "from config import KINDS\n" + dense(NUMBER, ", n_classes=KINDS")
    after, said = migrated(program(counted), ("config.py", settings))
    assert "n_classes=KINDS)" in after and "SparseCategoricalCrossentropy(" in after, said


@pytest.mark.parametrize(
    "settings",
    [
        "KINDS = 5\nKINDS = 6\n",  # which one it has depends on when it is read
        "KINDS = int('5')\n",
        "def kinds():\n    return 5\n\n\nKINDS = kinds()\n",
    ],
)
def test_classes_that_no_file_of_constants_counts_stay(settings: str) -> None:
    counted = "from config import KINDS\n" + dense(NUMBER, ", n_classes=KINDS")
    stays(program(counted), "how many classes", ("config.py", settings))
