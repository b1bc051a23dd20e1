"""Wide and deep Estimators, crossed columns, and the optimizers of both parts."""

from __future__ import annotations

import pytest

from tests.models.front.canned.canned import dense, made_when_run, program
from tests.support.migration import migrated, stays


def combined(wide: str, deep: str, more: str = "") -> str:
    """A wide and deep classifier, trained."""
    return (
        "est = tf.estimator.DNNLinearCombinedClassifier(\n"
        f"    linear_feature_columns={wide}, dnn_feature_columns={deep},\n"
        f"    dnn_hidden_units=[4]{more})\nest.train(input_fn, steps=2)\n"
    )


NUMBER, OTHER = "[fc.numeric_column('b', shape=2)]", "[fc.numeric_column('c', shape=2)]"
BUCKETS = "fc.bucketized_column(fc.numeric_column('b'), [0.5])"


def test_each_part_has_its_columns_and_its_default_optimizer() -> None:
    after, _ = migrated(program(combined(NUMBER, OTHER)))
    deep, wide = after.index("class DNN("), after.index("class LinearModel(")
    assert deep < after.index("features['c']") < wide < after.index("features['b']")
    assert "# The canned Estimator's own: Ftrl with 0.005, Adagrad with 0.001," in after
    assert "linear_optimizer=tf.keras.optimizers.Ftrl(0.005)," in after
    assert "dnn_optimizer=tf.keras.optimizers.Adagrad(0.001, epsilon=0.0)," in after
    assert "est = DNNLinearCombinedClassifier(dnn_hidden_units=[4])" in after
    assert "metric.update_state(loss)" in after


def test_settings_go_to_the_part_that_has_them() -> None:
    more = ", dnn_dropout=0.1, dnn_activation_fn=tf.nn.elu, n_classes=3"
    plain = "[fc.numeric_column(k) for k in ('b', 'c')]"
    after, _ = migrated(program(combined(plain, plain, more)))
    assert "self.dnn = DNN(dnn_feature_columns, dnn_hidden_units, n_classes, " in after
    assert "self.linear = LinearModel(linear_feature_columns, n_classes)" in after
    assert "self.dnn(features, training=training) + self.linear(features)" in after
    assert "linear_feature_columns=list(('b', 'c'))" in after
    assert "dnn_dropout=0.1" in after and "n_classes=3" in after


def test_a_folder_has_the_variables_of_both_optimizers() -> None:
    after, _ = migrated(program(combined(NUMBER, OTHER, ", model_dir='trips'")))
    assert "est.optimizer.build(est.trainable_variables)\n" in after
    assert "est.linear_optimizer.build(est.linear.trainable_variables)\n" in after


def test_the_loss_that_is_shown_is_of_all_replicas() -> None:
    strategy = (
        "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
    )
    sgd = ", linear_optimizer='SGD', config=config"
    after, _ = migrated(program(strategy + combined(NUMBER, OTHER, sgd)))
    assert "update_state(loss * self.distribute_strategy.num_replicas_in_sync)" in after
    stays(program(strategy + combined(NUMBER, OTHER, ", config=config")), "Ftrl under a strategy")


@pytest.mark.parametrize(
    ("wide", "deep", "more", "reason"),
    [
        (NUMBER, "None", "", "without dnn_feature_columns"),
        ("None", NUMBER, "", "without linear_feature_columns"),
        (NUMBER, "[fc.categorical_column_with_identity('a', 3)]", "", "without an indicator"),
        (NUMBER, OTHER, ", weight_column=fc.numeric_column('w')", "is not the key of a feature"),
        (NUMBER, OTHER, ", linear_optimizer=None", "`linear_optimizer=None`"),
        (NUMBER, OTHER, ", batch_norm=bool(1)", "`batch_norm`"),
    ],
)
def test_what_stays(wide: str, deep: str, more: str, reason: str) -> None:
    stays(program(combined(wide, deep, more)), reason)


def test_one_optimizer_of_both_parts() -> None:
    both = ", linear_optimizer=made, dnn_optimizer=made"
    adam = "made = tf.train.AdamOptimizer(0.1)\n"
    stays(program(adam + combined(NUMBER, OTHER, both)), "whose steps count twice")
    after, _ = migrated(program(adam.replace("= ", "= lambda: ") + combined(NUMBER, OTHER, both)))
    assert after.count("tf.keras.optimizers.Adam(0.1, epsilon=1e-8)") == 2
    sgd = adam.replace("AdamOptimizer", "GradientDescentOptimizer")
    after, _ = migrated(program(sgd + combined(NUMBER, OTHER, both)))
    assert after.count("tf.keras.optimizers.SGD(0.1)") == 2


@pytest.mark.parametrize(
    ("optimizer", "converted"),
    [
        ("tf.train.AdamOptimizer(0.1)", True),
        ("tf.train.AdagradOptimizer(0.1)", True),
        ("tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.1)", True),
        ("tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)", False),
        ("tf.train.MomentumOptimizer(0.1, 0.9)", False),
        ("tf.train.RMSPropOptimizer(0.1)", False),
        ("tf.train.AdadeltaOptimizer(0.1)", False),
    ],
)
def test_optimizers_of_which_tf1_updates_the_rows_of_a_batch(
    optimizer: str, converted: bool
) -> None:
    """A linear model's buckets and categories are rows of a table; an indicator is not."""
    linear = "est = tf.estimator.LinearClassifier([{}], optimizer={})\nest.train(input_fn)\n"
    body = linear.format(BUCKETS, optimizer)
    if converted:
        assert "class LinearClassifier(" in migrated(program(body))[0]
    elif "shrinkage" not in optimizer:
        stays(program(body), "only the rows of a category")
        category = "fc.categorical_column_with_identity('a', 3)"
        stays(program(linear.format(category, optimizer)), "only the rows of a category")
        numbers = linear.format("fc.numeric_column('b', shape=2)", optimizer)
        assert "class LinearClassifier(" in migrated(program(numbers))[0]
        shown = dense(f"[fc.indicator_column({category})]", f", optimizer={optimizer}")
        assert "class DNNClassifier(" in migrated(program(shown))[0]
    else:
        assert "class LinearClassifier(" not in migrated(program(body))[0]


# -- crosses -----------------------------------------------------------------------


def crossed(arguments: str) -> str:
    columns = f"[fc.crossed_column({arguments})]"
    return f"est = tf.estimator.LinearClassifier({columns})\nest.train(input_fn)\n"


def test_buckets_stand_before_keys_in_a_cross() -> None:
    after, _ = migrated(program("KEY = 'a'\n" + crossed(f"['z', {BUCKETS}, KEY], 20, hash_key=7")))
    cross = after[after.index("a_x_b_bucketized_x_z = tf.sparse.cross_hashed(") :]
    places = [cross.index(part) for part in ("self.b_buckets(", "features['z']", "features[KEY]")]
    assert places == sorted(places)
    assert "20, hash_key=7" in " ".join(cross.split()) and ".values, 20)" in cross


def test_columns_of_the_same_buckets_share_their_layer() -> None:
    body = (
        f"b = {BUCKETS}\nest = tf.estimator.LinearClassifier(\n"
        "    [b, fc.crossed_column([b, 'a'], 20)])\nest.train(input_fn)\n"
    )
    after, _ = migrated(program(body))
    assert after.count("tf.keras.layers.Discretization(") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("KEYS + ['a'], 20", "what this crossed_column crosses"),
        ("['a'], 20", "what this crossed_column crosses"),
        (
            "['a', fc.categorical_column_with_identity('b', 3)], 20",
            "of what is not a bucketized_column",
        ),
        ("['a', fc.crossed_column(['b', 'c'], 9)], 20", "of what is not a bucketized_column"),
        ("['a', 'b'], 1000000", "of 1000000 buckets"),
        ("['a', 'b'], int(1e6)", "of 1000000 buckets"),
    ],
)
def test_crosses_that_columns_make_themselves(arguments: str, reason: str) -> None:
    made_when_run("KEYS = ['z']\n" + crossed(arguments), reason)


def test_a_cross_by_keys_stays_under_a_strategy() -> None:
    body = (
        "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
        "est = tf.estimator.DNNClassifier([4], [fc.indicator_column(\n"
        "    fc.crossed_column({}, 20))], config=config)\nest.train(input_fn, steps=2)\n"
    )
    stays(program(body.format("['a', 'b']")), "is a text, or may be one")
    other = "fc.bucketized_column(fc.numeric_column('c'), [0.5])"
    after, _ = migrated(program(body.format(f"[{BUCKETS}, {other}]")))
    assert "tf.sparse.cross_hashed(" in after


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("'8,4'.split(',')", "int(units)"),
        ("sizes", "int(units)"),
        ("[int(size) for size in sizes]", "units"),
        ("list(map(int, sizes))", "units"),
        ("[8, 4]", "units"),
    ],
)
def test_sizes_that_are_texts(given: str, count: str) -> None:
    """TF1's layers make numbers of them, Keras 3 raises."""
    body = combined(NUMBER, OTHER).replace("dnn_hidden_units=[4]", f"dnn_hidden_units={given}")
    after, _ = migrated(program("sizes = '8,4'.split(',')\n" + body))
    assert f"Dense({count}, activation=tf.nn.relu) for units in hidden_units" in after
