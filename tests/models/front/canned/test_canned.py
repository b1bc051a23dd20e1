"""Canned Estimators and Keras models that were Estimators: what becomes of them, what stays."""

from __future__ import annotations

import pytest

from tests.models.front.canned.canned import REPLICAS, dense, made_when_run, program
from tests.support.migration import migrated, stays


def test_columns_stand_in_the_order_of_their_names() -> None:
    columns = (
        "[fc.numeric_column('b', shape=2), fc.numeric_column('c'), "
        "fc.indicator_column(fc.categorical_column_with_identity('a', 3)), "
        "fc.bucketized_column(fc.numeric_column('B'), [0.5])]"
    )
    after, _ = migrated(program(dense(columns)))
    places = [after.index(f"features['{key}']") for key in ("B", "a", "b", "c")]
    assert places == sorted(places)
    assert "feature_column." not in after.replace("fc = tf.feature_column", "")


def test_comments_go_where_their_columns_go() -> None:
    after, _ = migrated(
        program(
            "# The first one.\n"
            "a = fc.indicator_column(fc.categorical_column_with_identity('a', 3))  # of three\n"
            "# All of them.\n"
            "columns = [fc.numeric_column('b'), a]\n"
            "# It learns.\n"
            "optimizer = tf.train.AdamOptimizer(0.1)\n" + dense("columns", ", optimizer=optimizer")
        )
    )
    kept = ["# All of them.", "# The first one.", "# of three", "# It learns."]
    assert [after.count(comment) for comment in kept] == [1] * 4
    places = [after.index(comment) for comment in kept]
    assert places == sorted(places)
    assert after.index("# It learns.") < after.index("optimizer=tf.keras.optimizers.Adam(0.1")


def test_two_estimators_share_their_columns_and_their_class() -> None:
    after, _ = migrated(
        program(
            "columns = [fc.numeric_column('b', shape=2), fc.numeric_column('c')]\n"
            "adam = tf.train.AdamOptimizer(0.1)\n"
            "first = tf.estimator.DNNRegressor([4], columns, optimizer=adam)\n"
            "second = tf.estimator.DNNRegressor([8, 4], columns)\n"
            "first.train(input_fn, steps=2)\nsecond.train(input_fn, steps=2)\n"
        )
    )
    assert after.count("class DNNRegressor(") == 1
    assert "first = DNNRegressor(hidden_units=[4])" in after
    assert "second = DNNRegressor(hidden_units=[8, 4])" in after


def test_two_estimators_of_other_columns_have_two_classes() -> None:
    after, _ = migrated(
        program(
            "first = tf.estimator.DNNRegressor([4], [fc.numeric_column('b', shape=2)])\n"
            "second = tf.estimator.DNNRegressor([4], [fc.numeric_column('b', shape=3)])\n"
            "first.train(input_fn, steps=2)\nsecond.train(input_fn, steps=2)\n"
        )
    )
    assert "first = DNNRegressor(" in after and "second = DNNRegressor2(" in after
    assert "class DNNRegressor2(tf.keras.Model):" in after


def test_what_an_evaluation_gives_is_what_is_read() -> None:
    body = dense("[fc.numeric_column('b')]")
    after, _ = migrated(
        program(body + "print('{recall}'.format(**est.evaluate(input_fn, steps=1)))\n")
    )
    assert "class Recall(" in after and "class Precision(" not in after
    after, _ = migrated(program(body + "print(est.evaluate(input_fn, steps=1))\n"))
    for name in ("accuracy_baseline", "auc_precision_recall", "label/mean", "precision"):
        assert f'name="{name}"' in after
    stays(program(body + "print(est.evaluate(input_fn, steps=1)['f1'])\n"), "`f1` is not a result")


def test_a_loss_that_is_a_mean() -> None:
    mean = ", loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE"
    after, said = migrated(program(dense("[fc.numeric_column('b')]", mean)))
    assert "BinaryCrossentropy(from_logits=True)," in after
    assert not any("sum of a batch" in text for text in said)
    after, said = migrated(program(dense("[fc.numeric_column('b')]")))
    assert 'BinaryCrossentropy(from_logits=True, reduction="sum"),' in after
    assert any("sum of a batch" in text for text in said)


@pytest.mark.parametrize(
    ("columns", "more", "reason"),
    [
        ("[fc.numeric_column('b')]", ", batch_norm=bool(1)", "`batch_norm`"),
        ("[fc.numeric_column('b')]", ", activation_fn=None", "`activation_fn=None`"),
        ("[fc.numeric_column('b')]", ", n_classes=int('3')", "how many classes"),
        ("[fc.numeric_column('b')]", ", label_vocabulary=['x', str(1)]", "is not a list literal"),
        ("[fc.numeric_column('b')]", ", optimizer='RMSProp'", "`RMSProp`"),
        ("[fc.numeric_column('b')]", ", optimizer=make()", "which optimizer"),
        ("[fc.categorical_column_with_identity('a', 3)]", "", "without an indicator"),
        ("[fc.numeric_column('b', 2), fc.numeric_column('b', 2)]", "", "one name"),
    ],
)  # fmt: skip
def test_what_stays(columns: str, more: str, reason: str) -> None:
    stays(program(dense(columns, more)), reason)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("[fc.numeric_column(str(1), shape=2)]", "is not a literal"),
        ("[fc.numeric_column('b', shape=2)] * 2", "which feature columns"),
        (
            "[fc.indicator_column(fc.categorical_column_with_vocabulary_list('a', WORDS))]",
            "a vocabulary that is not a list literal",
        ),
        (
            "[fc.indicator_column(fc.categorical_column_with_vocabulary_list("
            "'a', [1, 2], num_oov_buckets=1))]",
            "out of a vocabulary, hashed",
        ),
    ],
)
def test_columns_that_only_their_objects_know(columns: str, reason: str) -> None:
    made_when_run(dense(columns), reason)


@pytest.mark.parametrize(
    "column",
    [
        "hub.text_embedding_column('b', URL)",
        "fc.sequence_numeric_column('b')",
        "fc.embedding_column(KINDS, 2, ckpt_to_load_from='x')",
        "fc.shared_embedding_columns([KINDS], 2, max_norm=1.0)[0]",
    ],
)
def test_columns_whose_objects_are_not_known(column: str) -> None:
    kinds = "import tensorflow_hub as hub\nKINDS = fc.categorical_column_with_identity('a', 3)\n"
    body = kinds + f"found = [fc.numeric_column('b') for _ in X] + [{column}]\n" + dense("found")
    stays(program(body), "which feature columns these are cannot be determined")
    body = body.replace(column, "fc.embedding_column(KINDS, 2)")
    assert "class FeatureColumns(" in migrated(program(body))[0]


def test_files_by_their_parameters_names() -> None:
    body = dense("[fc.numeric_column('b')]") + (
        "tf.gfile.Copy(\n    'a', newpath=tf.gfile.Glob(filename='b*')[0], overwrite=True)\n"
        "tf.gfile.MakeDirs(dirname='x')\ntf.gfile.Exists('x')\n"
    )
    after, said = migrated(program(body))
    assert "tf.io.gfile.copy(\n    'a', dst=tf.io.gfile.glob(pattern='b*')[0], overwrite=True)" in (
        after
    ), said
    assert "tf.io.gfile.makedirs(path='x')\ntf.io.gfile.exists('x')\n" in after


def test_optimizers_of_columns_that_are_made_when_the_program_runs() -> None:
    """Where no column may be an embedding, a dense part has no rows that a batch does not use."""
    momentum = ", optimizer=tf.train.MomentumOptimizer(0.1, 0.9)"
    kind = "KIND = fc.categorical_column_with_identity('a', 3)\n"
    made = "found = [fc.numeric_column(key, shape=2) for key in X]\n"
    body = kind + made + dense("found", momentum)
    after, said = migrated(program(body))
    assert "class FeatureColumns(" in after, said
    embedded = body.replace("\nest", " + [fc.embedding_column(KIND, 2)]\nest", 1)
    stays(program(embedded), "which feature columns these are cannot be determined")


@pytest.mark.parametrize("columns", ["make()", "[fc.numeric_column('b')]"])
def test_a_canned_estimator_is_exported(columns: str) -> None:
    receiver = (
        "def receiver():\n    b = tf.placeholder(tf.float32, [None])\n"
        "    a = tf.placeholder(tf.int64, [None])\n"
        "    return tf.estimator.export.ServingInputReceiver({'b': b, 'a': a}, {'b': b, 'a': a})\n"
    )
    body = f"columns = {columns}\n" + dense("columns") + "est.export_saved_model('x', receiver)\n"
    after, said = migrated(program(receiver + body))
    assert 'archive.add_endpoint("predict", receiver(est))' in after.replace("'", '"'), said
    assert "'all_class_ids': tf.tile(all_ids, [tf.shape(logits)[0], 1])," in after.replace('"', "'")


@pytest.mark.parametrize(
    ("features", "kept"),
    [
        ("given = inputs", "        given = inputs\n"),
        ("given = {k: tf.expand_dims(t, -1) for k, t in inputs.items()}", "in inputs.items()}\n"),
    ],
)
def test_features_that_are_the_inputs(features: str, kept: str) -> None:
    receiver = (
        "def receiver():\n    inputs = {'b': tf.placeholder(tf.float32, [None]),\n"
        f"              'a': tf.placeholder(tf.int64, [None])}}\n    {features}\n"
        "    return tf.estimator.export.ServingInputReceiver(given, inputs)\n"
    )
    run = dense("[fc.numeric_column('b')]") + "est.export_saved_model('x', receiver)\n"
    after, said = migrated(program(receiver + run))
    assert "    def serve(b, a):\n" in after and kept in after, said
    changes = receiver.replace("    return", "    inputs.update(c=tf.constant([1]))\n    return")
    stays(program(changes + run), "`inputs` changes here")


def test_a_canned_estimator_of_one_text_has_the_signatures_of_examples() -> None:
    """TF1 takes it for serialized examples, and writes more signatures."""
    receiver = (
        "def receiver():\n    a = tf.placeholder(tf.string, [None])\n"
        "    return tf.estimator.export.ServingInputReceiver({'a': a}, {'a': a})\n"
    )
    words = "fc.indicator_column(fc.categorical_column_with_hash_bucket('a', 9))"
    body = dense(f"[{words}]") + "est.export_saved_model('x', receiver)\n"
    after, _ = migrated(program(receiver + body))
    for key, serve in (("serving_default", "classify"), ("regression", "regress")):
        assert f".add_endpoint('{key}', {serve})" in after
    assert "tf.TensorSpec([None], tf.string, name='inputs')" in after
    assert "return {'outputs': answer['logistic']}" in after
    reason = "a canned Estimator's signatures of serialized examples"
    stays(program(receiver.replace("[None]", "[2]") + body), reason)


LOOP = """\
COLUMNS = [fc.numeric_column('a'), fc.numeric_column('b')]


def receiver():
    inputs = {}
    for column in COLUMNS:
        inputs[column.name] = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver(inputs, inputs)


"""


def test_inputs_of_a_list_of_columns() -> None:
    run = dense("COLUMNS") + "est.export_saved_model('x', receiver)\n"
    after, said = migrated(program(LOOP + run))
    assert "inputs[column.name] = tf.TensorSpec([None], tf.float32, name=column.name)" in after, (
        said
    )
    one = "{column.name: tf.placeholder(tf.float32, [None]) for column in COLUMNS}"
    loop = LOOP[LOOP.index("inputs = {}") : LOOP.index("    return")]
    after, said = migrated(program(LOOP.replace(loop, f"inputs = {one}\n") + run))
    assert "column.name: tf.TensorSpec([None], tf.float32, name=column.name)" in after, said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", fc.numeric_column('b')]", "]"),  # one input, for which TF1 has signatures of examples
        ("fc.numeric_column('b')", "fc.numeric_column('a', shape=1)"),
        ("COLUMNS = [", "COLUMNS = [] if len(X) > 9 else ["),
        ("in COLUMNS:", "in COLUMNS[:1]:"),
        ("def receiver", "COLUMNS.pop()\n\n\ndef receiver"),
        ("inputs[column.name]", "inputs[column.name[:0]]"),
    ],
)
def test_inputs_of_which_there_may_be_one(old: str, new: str) -> None:
    run = dense("[fc.numeric_column('a')]") + "est.export_saved_model('x', receiver)\n"
    assert LOOP.count(old) == 1
    reason = "a canned Estimator's signatures of serialized examples"
    stays(program(LOOP.replace(old, new) + run), reason)


def test_an_embedding_under_an_optimizer_that_skips_rows() -> None:
    embedded = "[fc.embedding_column(fc.categorical_column_with_identity('a', 3), 2)]"
    after, _ = migrated(program(dense(embedded)))
    assert "self.a_embedding = tf.keras.layers.Dense(" in after
    stays(program(dense(embedded, ", optimizer='Ftrl'")), "rows of an embedding")


def test_texts_and_ftrl_stay_under_a_strategy() -> None:
    strategy = (
        "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
    )
    words = "[fc.indicator_column(fc.categorical_column_with_vocabulary_list('a', ['x', 'y']))]"
    stays(program(strategy + dense(words, ", config=config")), "is a text")
    stays(
        program(
            strategy
            + "est = tf.estimator.LinearRegressor([fc.numeric_column('b')], config=config)\n"
            "est.train(input_fn, steps=2)\n"
        ),
        "Ftrl under a strategy",
    )


def test_an_estimator_of_tf2_is_another_one() -> None:
    body = dense("[fc.numeric_column('b')]")
    stays(program("tf.compat.v1.set_random_seed(1)\n" + body), "is TF2's own")
    named = body.replace("tf.estimator", "tf.compat.v1.estimator")
    after, _ = migrated(program("tf.compat.v1.set_random_seed(1)\n" + named))
    assert "est = DNNClassifier(" in after


def test_columns_that_something_else_needs() -> None:
    body = "a = fc.numeric_column('b', shape=2)\n" + dense("[a]") + "print(a.name)\n"
    made_when_run(body, "`a` is used for more than the Estimator")


# -- Keras models ------------------------------------------------------------------

MODEL = """\
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(1,))])
model.compile('adam', 'mse')
"""
STRATEGY = "strategy = tf.distribute.MirroredStrategy()\n"
ESTIMATOR = """\
config = tf.estimator.RunConfig(train_distribute=strategy)
est = tf.keras.estimator.model_to_estimator(model, config=config)
est.train(input_fn, steps=2)
"""


def test_a_model_stays_where_its_strategy_is_known() -> None:
    after, _ = migrated(program(STRATEGY + "# The model.\n" + MODEL + ESTIMATOR))
    assert (
        "strategy = tf.distribute.MirroredStrategy()\n"
        "with strategy.scope():\n"
        "    # The model.\n"
        "    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(1,))])\n"
        "    model.compile('adam', 'mse')\n"
        "model.fit(" in after
    )


def test_a_model_moves_below_its_strategy() -> None:
    after, said = migrated(program(MODEL + "steps = 2\n" + STRATEGY + ESTIMATOR))
    assert after.index("steps = 2") < after.index("with strategy.scope():")
    assert after.index("with strategy.scope():") < after.index("model = tf.keras.Sequential(")
    assert any("labels of shape [n]" in text for text in said)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (MODEL + "units = len(model.name)\n" + STRATEGY + ESTIMATOR, "what else is done"),
        (
            "n = 2\n" + MODEL.replace("Dense(2", "Dense(n") + "n = 3\n" + STRATEGY + ESTIMATOR,
            "`n` stands between",
        ),
        (
            "class Box:\n    pass\n\n\nbox = Box()\n" + MODEL + "box.model = model\n" + STRATEGY
            + ESTIMATOR.replace("(model,", "(box.model,"), "which Keras model",
        ),
        (
            MODEL.replace("'adam'", "tf.train.AdamOptimizer(0.1)") + STRATEGY + ESTIMATOR,
            "divides the loss twice",
        ),
        ("tf.random.set_seed(1)\n" + MODEL + STRATEGY + ESTIMATOR, "is TF2's own"),
        (MODEL.replace("'mse'", "'hinge'") + STRATEGY + ESTIMATOR, "the loss `hinge`"),
        (
            MODEL.replace("'mse')", "'mse', metrics=[tf.keras.metrics.AUC()])") + STRATEGY
            + ESTIMATOR, "the metric `tf.keras.metrics.AUC()`",
        ),
        (MODEL.replace("'adam'", "tf.keras.optimizers.Nadam()") + STRATEGY + ESTIMATOR, "Nadam"),
        (
            MODEL.replace("(1,))", "(1,), kernel_regularizer='l2')") + STRATEGY + ESTIMATOR,
            "`kernel_regularizer`",
        ),
        (MODEL.replace("(1,))", "(1,), activation='hard_sigmoid')") + STRATEGY + ESTIMATOR,
         "activations"),
        (
            MODEL + STRATEGY + ESTIMATOR + "for p in est.predict(input_fn):\n    print(p)\n",
            "predictions of this Estimator",
        ),
        (
            "model = tf.keras.models.load_model('m.h5')\n" + STRATEGY + ESTIMATOR,
            "`tf.keras.models.load_model`",
        ),
    ],
)  # fmt: skip
def test_keras_models_that_stay(body: str, reason: str) -> None:
    stays(program(body), reason)


def test_a_model_of_an_object() -> None:
    body = (
        "class Trainer:\n"
        "    def __init__(self, strategy):\n"
        "        self.model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(1,))])\n"
        "        self.model.compile('adam', 'mse')\n"
        "        config = tf.estimator.RunConfig(train_distribute=strategy)\n"
        "        self.est = tf.keras.estimator.model_to_estimator(self.model, config=config)\n"
        "        self.est.train(input_fn, steps=2)\n\n\n"
        "Trainer(tf.distribute.MirroredStrategy())\n"
    )
    stays(program(body), "is not known")
    after, _ = migrated(program(body.replace("train_distribute=strategy", "")))
    assert "        self.est = self.model\n        self.est.fit(input_fn(), " in after


def test_a_class_has_the_files_own_indentation() -> None:
    """Of an optimizer and of a metric, whose classes come from tables."""
    code = dense("[fc.numeric_column('b')]", ", optimizer=tf.train.RMSPropOptimizer(0.1)")
    text, _ = migrated(program(code).replace("    ", "  "))
    assert "\n  @property\n  def epsilon(self):\n    return " in text
    assert "\n  def update_state(" in text and "    def" not in text


def test_normalized_layers() -> None:
    text, _ = migrated(program(dense("[fc.numeric_column('b')]", ", batch_norm=True")))
    assert "BatchNormalization(momentum=0.999) for _ in hidden_units" in text
    assert "net = normal(net, training=training)" in text
    # Measured on 1.15.5: with several replicas the moving averages are others.
    columns = "[fc.numeric_column('b')]"
    stays(
        program(REPLICAS + dense(columns, ", batch_norm=True, config=config")), "under a strategy"
    )
