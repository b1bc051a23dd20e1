"""Programs whose checkpoints another program reads with their graph."""

from __future__ import annotations

import pytest

from tests.support.migration import run, said

TRAIN = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.get_variable("w", [2, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: np.ones([2, 2])})
    saver.save(sess, "run/model", global_step=1)
"""
PREDICT = """\
import tensorflow as tf

checkpoint = tf.train.latest_checkpoint("run")
with tf.Session() as sess:
    saver = tf.train.import_meta_graph(checkpoint + ".meta")
    saver.restore(sess, checkpoint)
    print(sess.run("w:0"))
"""
NAMED = PREDICT.replace('checkpoint + ".meta"', '"run/{}-1.meta"')


def state(*files: tuple[str, str]) -> tuple[str, str]:
    """What becomes of the first file, and why it stays."""
    result = run(*files, native_sessions=True, bridge=True)
    found = {one.entry.name: one.state for one in result.programs}
    return found[files[0][0].rpartition("/")[2]], "\n".join(said(result))


@pytest.mark.parametrize("predict", [PREDICT, NAMED.format("model")])
def test_a_program_beside_that_reads_the_graph_keeps_it(predict: str) -> None:
    # A native program saves variables alone: `model-1.meta` would be missing.
    kind, why = state(("train.py", TRAIN), ("predict.py", predict))
    assert kind == "bridge"
    assert "predict.py reads the graph that TF1 saves" in why


@pytest.mark.parametrize(
    ("train", "predict"),
    [
        (("train.py", TRAIN), ("predict.py", NAMED.format("other"))),
        (("one/train.py", TRAIN), ("two/predict.py", PREDICT)),
        (
            ("train.py", TRAIN.replace("step=1", "step=1, write_meta_graph=False")),
            ("predict.py", PREDICT),
        ),
        (("train.py", TRAIN.replace("saver.save", "saver.restore").replace(', global_step=1', "")),
         ("predict.py", PREDICT)),
    ],
    ids=["another-file", "another-folder", "no-graph-written", "nothing-saved"],
)  # fmt: skip
def test_one_that_reads_another_graph_does_not(
    train: tuple[str, str], predict: tuple[str, str]
) -> None:
    kind, why = state(train, predict)
    assert kind == "native", why
