"""Canned Estimators of tf.contrib.learn's, which become those of tf.estimator's."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, stays

ARRAYS = """\
import numpy as np
import tensorflow as tf
from tensorflow.contrib import learn

x = np.ones([10, 4], np.float32)
y = np.ones([10], np.int64)
columns = learn.infer_real_valued_columns_from_input(x)
estimator = learn.DNNClassifier([8], columns, n_classes=3)
estimator.fit(x, y, steps=9)
"""
NAMED = """\
import numpy as np
import tensorflow as tf

sizes = {"long": np.ones([10], np.float32), "wide": np.ones([10], np.float32)}
columns = [tf.contrib.layers.real_valued_column(name) for name in ()]
columns = [
    tf.contrib.layers.real_valued_column("wide"), tf.contrib.layers.real_valued_column("long", 1)
]
estimator = tf.contrib.learn.LinearRegressor(columns)
fed = tf.contrib.learn.io.numpy_input_fn(sizes, np.ones([10]), 5, num_epochs=None)
estimator.fit(input_fn=fed, steps=9)
""".replace("columns = [tf.contrib.layers.real_valued_column(name) for name in ()]\n", "")
ACCURACY = 'print(estimator.evaluate(x=x, y=y)["accuracy"])\n'
# The name of an array as a feature, which had none.
UNNAMED = changed(
    ARRAYS,
    (
        "learn.infer_real_valued_columns_from_input(x)",
        '[tf.contrib.layers.real_valued_column("", dimension=4)]',
    ),
)


@pytest.mark.parametrize("before", [ARRAYS, UNNAMED])
def test_the_loss_is_the_mean_over_a_batch(before: str) -> None:
    found, said = migrated(before + ACCURACY)
    assert 'from_tensor_slices(({"x": x}, y))' in found, said
    assert "loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)" in found
    assert "tf.keras.optimizers.Adagrad(0.05, epsilon=0.0)" in found
    assert "estimator.evaluate(eval_input(), return_dict=True, verbose=0)[" in found
    assert "contrib" not in found


def test_columns_with_names() -> None:
    found, said = migrated(NAMED)
    assert found.index('features["long"]') < found.index('features["wide"]'), said
    assert "loss=tf.keras.losses.MeanSquaredError()" in found
    assert ".shuffle(1000).repeat().batch(5)" in found  # it shuffles unless it is told not to
    assert "contrib" not in found


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (
            "for kind in estimator.predict(x):\n    print(kind)\n",
            "for kind in (row['class_ids'][0]",
        ),
        ("print(list(estimator.predict(x)))\n", "print([row['class_ids'][0] for row in "),
        (
            "print(estimator.predict(x, as_iterable=False))\n",
            "print(np.array([row['class_ids'][0] for row in ",
        ),
    ],
)
def test_predictions_are_classes(asked: str, shown: str) -> None:
    found, said = migrated(ARRAYS + asked)
    assert shown in found.replace('"', "'"), said


@pytest.mark.parametrize("more", ["", ", l2_regularization_strength=0"])
def test_proximal_adagrad_without_regularization_is_adagrad(more: str) -> None:
    made = f"tf.train.ProximalAdagradOptimizer(0.1{more})"
    before = changed(ARRAYS, ("n_classes=3", f"n_classes=3, optimizer={made}"))
    found, said = migrated(before + ACCURACY)
    assert "optimizer=tf.keras.optimizers.Adagrad(0.1, epsilon=0.0)" in found, said
    wide = changed(before, (more or "(0.1", more.replace("=0", "=0.5") or "(0.1, 0.1, 0.01"))
    stays(wide + ACCURACY, "no Keras optimizer equals tf.train.ProximalAdagradOptimizer")


def test_all_results_of_a_regressor_are_its_loss_and_the_step() -> None:
    found, said = migrated(NAMED + "print(estimator.evaluate(input_fn=fed, steps=2))\n")
    assert 'if name in ("loss", "global_step")}' in found.replace("'", '"'), said
    assert "global_step=int(estimator.optimizer.iterations.numpy())" in found


def test_what_a_function_names_stays_there() -> None:
    """The class of the model stands in the module, which does not know the array."""
    *head, tail = ARRAYS.partition("x = ")[:1], "x = " + ARRAYS.partition("x = ")[2]
    body = "".join(f"    {line}\n" for line in tail.splitlines())
    before = f"{head[0][0]}def main():\n{body}\n\nmain()\n"
    found, said = migrated(before)
    model = found.partition("def main")[0]
    assert "x.shape" not in model.partition("class ")[2] or found == before, said


@pytest.mark.parametrize(
    "before",
    [
        ARRAYS + "print(estimator.evaluate(x=x, y=y))\n",  # the results have other names
        ARRAYS + "print(estimator.evaluate(x=x, y=y)['auc'])\n",
        ARRAYS + "print(estimator.predict(x))\n",  # a generator
        ARRAYS + "print(estimator.get_variable_names())\n",
        changed(ARRAYS, ("n_classes=3", "n_classes=3, gradient_clip_norm=1.0")),
        changed(ARRAYS, ("n_classes=3", "n_classes=3, enable_centered_bias=True")),
        changed(ARRAYS, ("n_classes=3", "n_classes=3, optimizer='SGD'")),
        changed(ARRAYS, ("estimator.fit(x, y", "estimator.fit(input_fn=lambda: (x, y)")),
        changed(ARRAYS, ("_input(x)\n", "_input(x)\nprint(columns)\n")),
        changed(UNNAMED, ("dimension=4", "dimension=None")),
        changed(UNNAMED, ("dimension=4", "normalizer=tf.abs")),
        changed(NAMED, ('"wide"),', '"wide", default_value=0.0),')),
        changed(
            NAMED,
            ("LinearRegressor(columns)", "DNNRegressor([4], columns)"),
            ('"long"', '"wide 2"'),
        ),
    ],
)
def test_what_only_contrib_learn_does_stays(before: str) -> None:
    stays(before, "is not converted")


CORE = """\
import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers


def feed():
    data = tf.data.Dataset.from_tensor_slices(({"x": np.ones([8, 3])}, np.ones([8], np.int64)))
    return data.repeat().batch(4)


columns = [layers.real_valued_column("x", dimension=3)]
estimator = tf.estimator.DNNClassifier([4], columns, n_classes=3)
estimator.train(feed, steps=9)
"""


def test_columns_of_contrib_layers_in_an_estimator_of_tensorflows() -> None:
    found, said = migrated(CORE)
    assert "contrib" not in found and 'features["x"]' in found, said
    assert 'reduction="sum"' in found  # its own loss


@pytest.mark.parametrize("old", ['"x", dimension=3', "layers.real_valued_column"])
def test_other_columns_of_contrib_layers_stay(old: str) -> None:
    new = '"x", normalizer=tf.abs' if old.startswith('"') else "layers.sparse_column_with_keys"
    stays(changed(CORE, (old, new)), "does not exist in TF2")


MADE = "learn.DNNClassifier([8], columns, n_classes=3)"
WRAPPED = (
    changed(UNNAMED, (MADE, f"learn.SKCompat({MADE})"))
    + """\
found = estimator.predict(x)
found = found["classes"]
print(found.mean())
"""
)


def test_a_wrapped_classifier_predicts_all_rows_at_once() -> None:
    found, said = migrated(WRAPPED)
    assert 'found = {"classes": np.array([row["class_ids"][0] for row in ' in found, said
    assert "SKCompat" not in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('found["classes"]', 'found["probabilities"]'),
        ('found = found["classes"]\nprint(found.mean())', "print(found)"),
    ],
)
def test_other_predictions_of_a_wrapped_classifier_stay(old: str, new: str) -> None:
    stays(WRAPPED.replace(old, new), "`tf.contrib.learn.DNNClassifier` is not converted")


def test_many_columns_learn_more_slowly() -> None:
    few, many = (
        "".join(f'    tf.contrib.layers.real_valued_column("n{number:02}"),\n' for number in rows)
        for rows in (range(25), range(26))
    )
    start, end = NAMED.index("    tf.contrib"), NAMED.index("\n]\n") + 1
    found, said = migrated(NAMED[:start] + many + NAMED[end:])
    assert f"tf.keras.optimizers.Ftrl({26**-0.5!r})" in found, said
    assert "tf.keras.optimizers.Ftrl(0.2)" in migrated(NAMED[:start] + few + NAMED[end:])[0]
