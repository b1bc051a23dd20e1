"""Embedding columns of one table: `fixtures/estimator/shared_columns` runs them."""

from __future__ import annotations

import pytest

from tests.support.migration import changed, migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf
from tensorflow import feature_column as fc


def create_columns():
    names = open("names.txt").read().split()
    words = [fc.categorical_column_with_hash_bucket(name, 9) for name in names]
    return fc.shared_embedding_columns(words, 2)


def input_fn():
    data = {"a": np.array([["x"]] * 8)}, np.ones([8, 1], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).batch(4)


adagrad = tf.train.AdagradOptimizer(0.1)
estimator = tf.estimator.DNNClassifier([4], create_columns(), optimizer=adagrad)
estimator.train(input_fn, steps=2)
"""
CALL = "fc.shared_embedding_columns(words, 2)"


def test_a_function_of_the_program_makes_them() -> None:
    found, said = migrated(PROGRAM)
    assert "    return shared_embedding_columns(words, 2)\n" in found, said
    assert "        column.table = table\n" in found
    assert 'table = getattr(column, "table", column.name)' in found
    plain, _ = migrated(changed(PROGRAM, (CALL, "[fc.embedding_column(w, 2) for w in words]")))
    assert "column.table" not in plain  # and is as it was
    assert "sorted(columns, key=lambda column: column.name)" in plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("words, 2)", "words, 2, max_norm=1.0)"),
        ("words, 2)", "words, 2, trainable=False)"),
        ("words, 2)", "words, 2, ckpt_to_load_from=names[0], tensor_name_in_ckpt='x')"),
        (CALL, "(lambda f: f(words, 2))(fc.shared_embedding_columns)"),
        (
            "tf.estimator.DNNClassifier([4], create_columns(), optimizer=adagrad)",
            "tf.estimator.LinearClassifier(create_columns(), optimizer=adagrad)",
        ),
        ("adagrad = tf.train.AdagradOptimizer(0.1)", "adagrad = tf.train.FtrlOptimizer(0.1)"),
    ],
)
def test_others_stay(old: str, new: str) -> None:
    stays(changed(PROGRAM, (old, new)), "the Estimator stays")
