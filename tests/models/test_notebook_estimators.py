"""Estimators as notebooks have them: one name for several, what shows tensors, early classes."""

from __future__ import annotations

import json

import pytest

from migrate_mgpu.run.migrate import migrate
from tests.models.whole import HEAD, converted
from tests.support.migration import migrated, stays

TWO = """\
def show(est):
    print(est.evaluate(input_fn, steps=3)["loss"])


est = tf.estimator.Estimator(model_fn, "one")
est.train(input_fn, steps=5)
show(est)
est = tf.estimator.Estimator(model_fn, "two")
est.train(input_fn, steps=5)
show(est)
"""


def test_each_of_one_name_gets_its_own() -> None:
    after = converted(TWO)
    assert "est_2 = model_fn()\n" in after and after.endswith("show(est_2)\n")
    assert after.count("show(est)") == 2  # its definition, and the first call


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("est = tf.estimator.Estimator(model_fn, \"two\")\n",
         "if len(X) > 3:\n    est = tf.estimator.Estimator(model_fn, \"two\")\n"),
        ("show(est)\nest", "late = lambda: show(est)\nest"),
        ("show(est)\nest", "show(est)\nprint(globals())\nest"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_told_apart(old: str, new: str) -> None:
    stays(HEAD + TWO.replace(old, new, 1), "Estimator")


def test_statements_about_graphs_go() -> None:
    body = (
        "tf.reset_default_graph()\ntf.summary.FileWriterCache.clear()\n"
        "assert tf.VERSION.split('.')[0] == '1'\n"
        "est = tf.estimator.Estimator(model_fn)\nest.train(input_fn, steps=5)\n"
    )
    after = converted(body)
    assert after.startswith("assert tf.version.VERSION.split('.')[0] == '1'\nest = model_fn()\n")
    alone = body.replace("tf.reset_default_graph()", "if X.any():\n    tf.reset_default_graph()")
    stays(HEAD + alone, "`tf.reset_default_graph` is TF1 API")


BATCHES = """\
def batches(count=None):
    data = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(4).repeat(count)
    features, labels = data.make_one_shot_iterator().get_next()
    return features, labels


features, labels = batches()
print("shape: {}".format(features))
est = tf.estimator.Estimator(model_fn)
est.train(lambda: batches(2))
"""


def test_what_shows_a_batch_shows_its_spec() -> None:
    after = converted(BATCHES)
    assert "features, labels = batches().element_spec\n" in after


def test_what_computes_with_a_batch_stays() -> None:
    reason = "`batches` gives a Dataset in TF2, and what it gives here is used as tensors"
    stays(HEAD + BATCHES.replace('"shape: {}".format(features)', "features + 1"), reason)


def test_a_function_that_makes_an_input_function() -> None:
    body = (
        "data = tf.data.Dataset.from_tensor_slices((X, X[:, :1])).batch(4)\n\n\n"
        "def fed(ds):\n    return lambda: ds.make_one_shot_iterator().get_next()\n\n\n"
        "est = tf.estimator.Estimator(model_fn)\nest.train(fed(data))\n"
    )
    assert converted(body).endswith("est.fit(fed(data)(), verbose=0)\n")


def test_labels_of_unknown_rank_stay() -> None:
    reason = "how many axes these labels have is not known"
    stays(
        HEAD + BATCHES.replace("features, labels\n\n", "features, tf.squeeze(labels)\n\n"), reason
    )


LINES = """\
def parse(line):
    fields = tf.decode_csv(tf.expand_dims(line, -1), [[0.0], [0.0], [0.0]])
    label = fields[2]
    return tf.concat(fields[:2], axis=1), tf.squeeze(label)


def batches(count=None):
    data = tf.data.Dataset.from_tensor_slices(["1,2,3"] * 8).batch(4).map(parse).repeat(count)
    features, labels = data.make_one_shot_iterator().get_next()
    return features, labels


est = tf.estimator.Estimator(model_fn)
est.train(batches, steps=5)
"""


def test_labels_that_are_a_field_of_lines() -> None:
    assert "tf.squeeze(label, axis=-1)\n" in migrated(HEAD + LINES)[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("line, -1", "line, 0"),
        ("tf.expand_dims(line, -1)", "line"),
        ("fields[2]", "fields[2:]"),
        ("label = fields[2]", "label = tf.reshape(fields[2], [-1, 1])"),
    ],
)
def test_labels_that_are_no_field(old: str, new: str) -> None:
    stays(HEAD + LINES.replace(old, new), "how many axes these labels have is not known")


def test_an_input_without_an_end_is_predicted_row_by_row() -> None:
    body = BATCHES + "for row in est.predict(lambda: batches()):\n    print(row)\n    break\n"
    after = converted(body)
    assert "for rows in [est.predict_on_batch(" in after and "est.predict(" not in after
    after = converted(body.replace("predict(lambda: batches()", "predict(lambda: batches(1)"))
    assert "est.predict(batches(1)" in after


def test_whether_it_shuffles_is_said_by_a_parameter() -> None:
    body = (
        "def fed(shuffle):\n    return tf.estimator.inputs.numpy_input_fn(\n"
        "        X, X[:, :1], batch_size=4, shuffle=shuffle, num_epochs=1)\n\n\n"
        "est = tf.estimator.Estimator(model_fn)\nest.train(fed(True))\n"
    )
    assert ".shuffle(1000 if shuffle else 1)" in converted(body)
    called = body.replace("shuffle=shuffle", "shuffle=bool(input())")
    stays(HEAD + called, "whether numpy_input_fn shuffles is decided elsewhere")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_folder_that_is_read_of_its_config(replaced: bool) -> None:
    config = "tf.estimator.RunConfig(model_dir='out')"
    if replaced:
        config = "tf.estimator.RunConfig()\nconfig = config.replace(model_dir='out')"
    body = (
        f"config = {config}\nprint(config.model_dir)\n"
        "est = tf.estimator.Estimator(model_fn, config=config)\nest.train(input_fn, steps=5)\n"
    )
    assert converted(body).startswith("print('out')\n")


def test_a_folder_that_is_read_before_it_is_given() -> None:
    body = (
        "config = tf.estimator.RunConfig()\nprint(config.model_dir)\n"
        "config = config.replace(model_dir='out')\n"
        "est = tf.estimator.Estimator(model_fn, config=config)\nest.train(input_fn, steps=5)\n"
    )
    assert converted(body).startswith("print(None)\n")


TABLES = """\
WORDS = ["a", "b"]


def words_fn():
    data = tf.data.Dataset.from_tensor_slices((X, WORDS * 4))
    table = {}
    return data.map(lambda x, word: (x, tf.cast(table.lookup(word), tf.float32)[None])).batch(4)


est = tf.estimator.Estimator(model_fn)
est.train(words_fn)
"""


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ("index_table_from_tensor(tf.constant(WORDS))",
         "StaticHashTable(tf.lookup.KeyValueTensorInitializer(WORDS, range(len(WORDS)), "
         "tf.string, tf.int64), -1)"),
        ("index_table_from_file('w.txt', num_oov_buckets=2)",
         "StaticVocabularyTable(tf.lookup.TextFileInitializer('w.txt', tf.string, "
         "tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)"),
        ("index_table_from_tensor(WORDS, num_oov_buckets=SIZE['other'])",  # there may be none
         "(tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(WORDS, "
         "range(len(WORDS)), tf.string, tf.int64), SIZE['other']) if SIZE['other'] "
         "else tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(WORDS, "
         "range(len(WORDS)), tf.string, tf.int64), -1))"),
    ],
)  # fmt: skip
def test_tables_of_words(table: str, written: str) -> None:
    after = converted(TABLES.format("tf.contrib.lookup." + table))
    assert "".join(written.split()) in "".join(after.replace(",\n    )", ")").split())


@pytest.mark.parametrize(
    "table", ["index_table_from_tensor(tf.constant(list(WORDS)))", "HashTable(None, 0)",
              "index_table_from_file('w.txt', num_oov_buckets=drawn())",
              "index_table_from_file('w.txt', num_oov_buckets=-1)",
              "index_table_from_file('w.txt', hasher_spec=None or X)"],
)  # fmt: skip
def test_tables_that_stay(table: str) -> None:
    stays(HEAD + TABLES.format("tf.contrib.lookup." + table), "is TF1 API")


def test_classes_of_columns_are_those_of_today() -> None:
    """Since 1.13 no column is an instance of the old ones: 1.15 does not find any, either."""
    body = (
        "from tensorflow.python.feature_column import feature_column as fc\n\n"
        "columns = [tf.feature_column.numeric_column('a')]\n"
        "columns = [one for one in columns if isinstance(one, fc._NumericColumn)]\n"
        "est = tf.estimator.Estimator(model_fn)\nest.train(input_fn, steps=5)\n"
    )
    after, said = migrated(HEAD + body)
    assert (
        "import feature_column_v2 as fc\n" in after and "isinstance(one, fc.NumericColumn)" in after
    )
    assert any("in an early TensorFlow only" in one for one in said)


IN_MODEL = """\
from tensorflow.python.feature_column import feature_column as fc

COLUMNS = [tf.feature_column.numeric_column("a")]


def of_columns(features, labels, mode):
    columns = [one for one in COLUMNS if isinstance(one, fc._NumericColumn)]
    outputs = tf.layers.dense(tf.feature_column.input_layer(features, columns), 1)
    loss = tf.losses.mean_squared_error(labels, outputs)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def columns_input_fn():
    return tf.data.Dataset.from_tensor_slices(({"a": X[:, 0]}, X[:, :1])).repeat().batch(4)


est = tf.estimator.Estimator(of_columns)
est.train(columns_input_fn, steps=5)
"""


def test_classes_of_columns_in_a_model_fn() -> None:
    head = HEAD.partition("def model_fn")[0]
    after, said = migrated(head + IN_MODEL)
    assert "isinstance(one, fc.NumericColumn)" in after and "feature_column_v2 as fc" in after, said
    other = IN_MODEL.replace("\n\nest =", "\n\nprint(fc.InputLayer)\nest =")
    stays(head + other, "`fc._NumericColumn` is TensorFlow's own inside")


@pytest.mark.parametrize(
    ("evaluated", "told"),
    [
        ("est.evaluate(input_fn, steps=3)", True),
        ("est.evaluate(input_fn, steps=3)\nprint(len(X))", False),
        ("for _ in range(2):\n    est.evaluate(input_fn, steps=3)", False),
    ],
)
def test_what_a_cell_shows_is_told_of(evaluated: str, told: bool) -> None:
    made = f"{HEAD}est = tf.estimator.Estimator(model_fn)\nest.train(input_fn, steps=5)"
    cells = [
        {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}
        for source in (made, evaluated, "print(3)")
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    result = migrate([("book.ipynb", json.dumps(book).encode())], bridge=False, write=False)
    messages = [one.message for one in result.findings]
    assert not any("stays" in one for one in messages)
    assert any("the mean over examples now" in one for one in messages) is told
