"""Sessions that show what an input function gives, beside the Estimator that it feeds."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import migrated, stays

SHOWN = """\
features, labels = make_input_fn(2)()

with tf.Session() as sess:
    # Two batches.
    print(sess.run(features))

    print(sess.run(labels).shape)
"""
PROGRAM = f"""\
import numpy as np
import tensorflow as tf

ROWS = np.ones([8, 4], np.float32)
KINDS = np.ones([8], np.int64)


def make_input_fn(size):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((ROWS, KINDS)).repeat(100).batch(size)
        row, kind = data.make_one_shot_iterator().get_next()
        return row, kind

    return input_fn


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1)}

{SHOWN}
tf.estimator.Estimator(model_fn).train(make_input_fn(4), steps=100)
"""
NATIVE = """\
batches = make_input_fn(2)().as_numpy_iterator()

# Two batches.
print(next(batches)[0])

print(next(batches)[1].shape)
"""
TENSORS = "and what it gives here is used as tensors"


def shown(body: str) -> str:
    return PROGRAM.replace(SHOWN, body)


def test_each_run_takes_a_batch() -> None:
    assert NATIVE in migrated(PROGRAM)[0]


def test_a_whole_batch() -> None:
    body = "both = make_input_fn(2)()\nwith tf.Session() as sess:\n    print(sess.run(both)[0])\n"
    after = migrated(shown(body))[0]
    assert "both" not in after
    assert "print(next(batches)[0])\n" in after


def test_what_is_asked_for_as_a_list() -> None:
    body = SHOWN.replace("print(sess.run(features))", "rows = sess.run([features, labels])")
    assert "rows = list(next(batches))\n" in migrated(shown(body))[0]
    body = SHOWN.replace("print(sess.run(features))", "row, kind = sess.run([features, labels])")
    assert "row, kind = next(batches)\n" in migrated(shown(body))[0]


LOOKED_UP = "with tf.Session() as sess:\n    print(tf.nn.embedding_lookup(ROWS, [1]).eval())\n"


def test_what_is_computed_of_arrays_needs_no_session() -> None:
    after = migrated(shown(LOOKED_UP))[0]
    assert "\nprint(tf.nn.embedding_lookup(ROWS, [1]).numpy())\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(ROWS,", "(tf.Variable(ROWS),"),
        ("tf.nn.embedding_lookup(ROWS, [1])", "tf.nn.dropout(ROWS, 0.5)"),
        ("print(", "found = ("),
        ("tf.Session()", "tf.Session(config=tf.ConfigProto())"),
        ("    print", "    print(sess.run(tf.zeros([2])))\n    print"),
    ],
)
def test_what_a_session_computes_otherwise_stays(old: str, new: str) -> None:
    assert ".fit(" not in migrated(shown(LOOKED_UP.replace(old, new)))[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Another order, or only one of them in a list.
        ("sess.run(features)", "sess.run([labels, features])"),
        ("sess.run(features)", "sess.run([features])"),
        # Computed with, in the graph.
        ("sess.run(features)", "sess.run(features + 1)"),
        ("sess.run(features)", "features.eval()"),
        ("    # Two", "    sess.run(tf.global_variables_initializer())\n    # Two"),
        # In turns, or as it may end.
        (
            "    print(sess.run(features))",
            "    for _ in range(2):\n        print(sess.run(features))",
        ),
        ("    print(sess.run(features))", "    if KINDS.any():\n        print(sess.run(features))"),
        # The session, or the tensors, elsewhere.
        ("with tf.Session() as sess:", "sess = tf.Session()\nif True:"),
        ("tf.Session()", "tf.Session(config=tf.ConfigProto())"),
        ("\nwith", "\nlabels = labels + 1\nwith"),
    ],
)
def test_what_stays(old: str, new: str) -> None:
    body = SHOWN.replace(old, new, 1)
    assert body != SHOWN
    assert ".fit(" not in migrated(shown(body))[0]


def test_sparse_tensors_stay() -> None:
    sparse = 'MADE = {"kind": tf.VarLenFeature(tf.int64)}\n\n\ndef make_input_fn'
    stays(PROGRAM.replace("def make_input_fn", sparse, 1), TENSORS)
