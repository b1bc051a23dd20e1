"""Tables of words that a network has: made once, with its layers."""

from __future__ import annotations

import pytest

from tests.support.migration import migrated, stays

PROGRAM = """\
import numpy as np
import tensorflow as tf

WORDS = ["a", "b"]


def input_fn():
    texts = np.array(["a", "b", "c", "a"])
    return tf.data.Dataset.from_tensor_slices(({"x": texts}, np.arange(4) % 2)).repeat().batch(4)


def numbers(texts):
    table = tf.contrib.lookup.index_table_from_tensor(WORDS, num_oov_buckets=1)
    return table.lookup(texts)


def model_fn(features, labels, mode):
    words = numbers(features["x"])
    net = tf.contrib.layers.embed_sequence(words, vocab_size=3, embed_dim=2)
    logits = tf.layers.dense(net, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=5)
"""


def test_it_is_an_attribute() -> None:
    after, said = migrated(PROGRAM)
    assert "        self.table = tf.lookup.StaticVocabularyTable(\n" in after, said
    assert "        words = self.table.lookup(texts)\n" in after
    assert "def numbers" not in after


def test_equal_rows_of_a_step_are_added_up() -> None:
    """Keras 3's Adam squares the gradient of each mention of a row."""
    after, said = migrated(PROGRAM)
    assert "None if g is None else tf.convert_to_tensor(g)" in after, said
    momentum = PROGRAM.replace("AdamOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)")
    stays(momentum, "updates only the rows of an embedding that a batch uses")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("WORDS, num", "[one for one in WORDS], num"),
        ("num_oov_buckets=1", "hasher_spec=None or WORDS"),
        # It is made in a step then.
        ("texts):\n", "texts):\n    def made():\n        return 1\n\n"),
        ("labels, logits", "numbers(labels), logits"),
    ],
)
def test_tables_that_stay(old: str, new: str) -> None:
    assert old in PROGRAM
    stays(PROGRAM.replace(old, new), "index_table_from_tensor")


def test_tables_of_several_replicas_stay() -> None:
    config = "tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())"
    several = PROGRAM.replace("Estimator(model_fn)", f"Estimator(model_fn, config={config})")
    stays(several, "Keras 3 cannot build a model from texts where several replicas train it")
