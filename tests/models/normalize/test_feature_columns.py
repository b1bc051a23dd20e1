"""`tf.feature_column.input_layer` in a model_fn: written out, or its Estimator stays."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END, whole
from tests.support.migration import changed, migrated, stays

PROGRAM = f"""\
import numpy as np
import tensorflow as tf

WORDS = ["a", "b"]


def input_fn():
    data = dict(x=np.ones([8]), y=np.ones([8]), w=np.array(["a"] * 8)), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def model_fn(features, labels, mode, params):
    net = tf.feature_column.input_layer(features, params["columns"])
    logits = tf.layers.dense(net, 3)
{END.format(rate=0.1)}

columns = [tf.feature_column.numeric_column("y"), tf.feature_column.numeric_column("x")]
estimator = tf.estimator.Estimator(model_fn, params={{"columns": columns, "n": 3}})
estimator.train(input_fn, steps=100)
"""
LIST = PROGRAM[PROGRAM.index("columns = [") : PROGRAM.index("\nestimator = ")]
KIND = "tf.feature_column.indicator_column(tf.feature_column.{})"
VOCABULARY = KIND.format('categorical_column_with_vocabulary_list("w", WORDS)')
EMBEDDING = VOCABULARY.replace("indicator_column(", "embedding_column(")[:-1] + ", 2)"


def test_numbers_are_named_by_their_keys() -> None:
    after, said = migrated(whole(PROGRAM))
    assert 'columns = ["y", "x"]\n' in after, said
    assert 'for name in sorted(self.params["columns"])' in after
    assert "feature_column" not in after


def test_a_list_in_the_call_itself() -> None:
    given = LIST.partition("= ")[2]
    program = PROGRAM.replace('params["columns"]', given).replace('"columns": columns, ', "")
    after, said = migrated(whole(program.replace(LIST + "\n", "")))
    assert 'sorted(["y", "x"])' in after, said


def test_other_columns_stand_one_by_one_and_what_made_them_goes() -> None:
    after, said = migrated(whole(PROGRAM.replace(LIST, f"columns = [{VOCABULARY}]")))
    assert 'tf.cast(tf.reshape(features["w"], [-1, 1]) == WORDS, tf.float32),\n' in after, said
    assert '{"n": 3}' in after or "estimator = model_fn()" in after
    assert "columns = [\n" in after and "feature_column" not in after


def test_an_embedding_is_a_layer() -> None:
    after, said = migrated(whole(PROGRAM.replace(LIST, f"columns = [{EMBEDDING}]")))
    assert "self.w_embedding = tf.keras.layers.Dense(2, use_bias=False" in after, said


def test_buckets_of_a_cross_are_counted_in_place() -> None:
    """In a function there is no `self` whose layer could count them."""
    cross = (
        "tf.feature_column.indicator_column(tf.feature_column.crossed_column("
        "[tf.feature_column.bucketized_column(tf.feature_column.numeric_column('x'), [0.5]),"
        " 'y'], 10))"
    )
    after, said = migrated(whole(PROGRAM.replace(LIST, f"columns = [{cross}]")))
    assert "x_buckets" not in after, said
    # `searchsorted` takes one list of numbers; the cross wants them in a column.
    written = "".join(after.split())
    assert "tf.reshape(tf.searchsorted(tf.constant([0.5],tf.float32),tf.reshape(" in written
    assert '[-1]),side="right",),[-1,1],)' in written


def asked(after: str) -> bool:
    """Whether the model asks the columns, as the program makes them."""
    return " = FeatureColumns(" in after and "input_layer" not in after


def test_columns_that_an_imported_module_reads_are_asked() -> None:
    program = PROGRAM.replace("import numpy", "import shown\nimport numpy")
    helper = 'import tensorflow as tf\n\n\ndef count(params):\n    return len(params["columns"])\n'
    after, said = migrated(whole(program), ("shown.py", helper))
    assert asked(after) and helper in after, said


@pytest.mark.parametrize(
    "program",
    [
        PROGRAM.replace("estimator.train", "print(columns)\nestimator.train"),
        PROGRAM.replace(LIST, "columns = make()"),
        PROGRAM.replace(LIST, "columns = [" + EMBEDDING.replace("WORDS", "words()") + "]"),
    ],
    ids=["the list is read", "made out of sight", "a vocabulary out of sight"],
)
def test_columns_that_cannot_be_written_out_are_asked(program: str) -> None:
    assert program != PROGRAM
    after, said = migrated(whole(program))
    assert asked(after), said
    assert after.count("class FeatureColumns(") == after.count("class ColumnValues:") == 1


REPLICAS = (
    '"n": 3}, config=tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())'
)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (
            PROGRAM.replace("    logits", '    print(params["columns"])\n    logits'),
            "belongs to none of network, loss, optimizer and metrics",
        ),
        (
            PROGRAM.replace(LIST, 'columns = [tf.feature_column.sequence_numeric_column("x")]'),
            "the feature column `tf.feature_column.sequence_numeric_column`",
        ),
        (
            PROGRAM.replace('params["columns"])', 'params["columns"], trainable=False)'),
            "`tf.feature_column.input_layer` has no TF2 form",
        ),
        (
            PROGRAM.replace(LIST, f"columns = [{VOCABULARY}]").replace('"n": 3}', REPLICAS),
            "`tf.feature_column.input_layer` has no TF2 form",
        ),
        (
            PROGRAM.replace(LIST, "columns = make()").replace('"n": 3}', REPLICAS),
            "`tf.feature_column.input_layer` has no TF2 form",
        ),
    ],
    ids=["params are read", "another kind", "not trained", "texts for replicas", "replicas"],
)  # fmt: skip
def test_what_is_nearly_that_stays(program: str, reason: str) -> None:
    assert program != PROGRAM
    stays(whole(program), reason)


def test_an_optimizer_that_trains_all_rows_stays() -> None:
    """Where columns may be embeddings: of others it does what TF1's does."""
    momentum = ("AdamOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)")
    program = changed(PROGRAM.replace(LIST, f"columns = [{EMBEDDING}]"), momentum)
    stays(whole(program), "updates only the rows of an embedding that a batch uses")
    after, said = migrated(whole(changed(PROGRAM.replace(LIST, "columns = make()"), momentum)))
    assert asked(after), said


MADE = """\
def make_columns(sizes):
    columns = [tf.feature_column.numeric_column("x")]
    for name in sizes:
        kind = tf.feature_column.categorical_column_with_vocabulary_list(name, WORDS)
        columns.append(tf.feature_column.embedding_column(kind, sizes[name]))
    return columns


columns = make_columns({"w": int("2")})
"""
PARTS = PROGRAM.replace(LIST, MADE).replace(
    """\
    net = tf.feature_column.input_layer(features, params["columns"])
    logits = tf.layers.dense(net, 3)
""",
    """\
    with tf.variable_scope("left"):
        left = part(features, params)
    with tf.variable_scope("right"):
        right = part(features, params)
    logits = left - right
""",
)
PARTS = PARTS.replace(
    "def model_fn(",
    """\
def part(features, params):
    net = tf.feature_column.input_layer(features, params["columns"])
    return tf.layers.dense(net, 3)


def model_fn(""",
)


def test_each_call_of_a_function_has_tables_of_its_own() -> None:
    after, said = migrated(PARTS)
    assert "self.left = Part(params)\n        self.right = Part(params)\n" in after, said
    assert 'self.dense_features = FeatureColumns(params["columns"])\n' in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('tf.variable_scope("right")', 'tf.variable_scope("left", reuse=True)'),
        ("tf.feature_column.embedding_column(kind, sizes[name])", "kind_of(kind, sizes[name])"),
    ],
)
def test_tables_that_calls_may_share_stay(old: str, new: str) -> None:
    shared = "tf.feature_column.shared_embedding_columns([kind, kind], size)[0]"
    kind_of = f"def kind_of(kind, size):\n    return {shared}\n\n\ndef make_columns"
    text = PARTS.replace("def make_columns", kind_of) if "kind_of" in new else PARTS
    stays(changed(text, (old, new)), "`tf.feature_column.input_layer` has no TF2 form")
