"""Sessions beside an Estimator: an embedding for TensorBoard, and a batch that is read once."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import END
from tests.support.migration import changed, migrated, stays

HEAD = f"""\
import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
{END.format(rate=0.1)}

tf.estimator.Estimator(model_fn).train(input_fn, steps=100)
"""
PROJECTED = (
    HEAD
    + """\
points = tf.Variable(np.ones([5, 2]), name="points")
folder = "projected"
writer = tf.summary.FileWriter(folder)
config = projector.ProjectorConfig()
shown = config.embeddings.add()
shown.tensor_name = points.name
projector.visualize_embeddings(writer, config)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(points.initializer)
    saver.save(sess, "projected/points.ckpt")
"""
)
READ = (
    HEAD.replace("from tensorflow.contrib.tensorboard.plugins import projector\n", "")
    + """\
with tf.Session() as sess:
    # The kinds.
    data = input_fn().map(lambda row, kind: kind)
    batch = data.make_one_shot_iterator().get_next()
    kinds = sess.run(batch)
print(kinds)
"""
)


def test_an_embedding_for_the_projector() -> None:
    found, said = migrated(PROJECTED)
    assert found.endswith(
        'points = tf.Variable(np.ones([5, 2]), name="points")\n'
        'folder = "projected"\n'
        "tf.io.gfile.makedirs(folder)\n"
        "config = projector.ProjectorConfig()\n"
        "shown = config.embeddings.add()\n"
        'shown.tensor_name = "points/.ATTRIBUTES/VARIABLE_VALUE"\n'
        "projector.visualize_embeddings(folder, config)\n"
        "saver = tf.train.Checkpoint(points=points)\n"
        'saver.save("projected/points.ckpt")\n'
    ), said
    assert "from tensorboard.plugins import projector\n" in found
    assert any("it needs the package tensorboard" in one for one in said)


@pytest.mark.parametrize(
    "pair",
    [
        ("saver = tf.train.Saver()", "saver = tf.train.Saver(max_to_keep=1)"),
        ('points.ckpt")', 'points.ckpt", 7)'),
        ("    sess.run(points.initializer)\n", "    sess.run(points.assign_add(points))\n"),
        ("saver = tf.train.Saver()", "other = tf.Variable(1.0)\nsaver = tf.train.Saver()"),
        ("FileWriter(folder)", "FileWriter(folder)\nwriter.add_graph(None)"),
        ("shown.tensor_name", "config.embeddings.add()\nshown.tensor_name"),
        ("points.name\n", "points.op.name\n"),
    ],
    ids=["kept", "step", "assigned", "another", "graph", "two", "operation"],
)
def test_another_embedding_keeps_it(pair: tuple[str, str]) -> None:
    stays(changed(PROJECTED, pair), "is TF1 API, used outside of the Estimator")


def test_a_batch_that_is_read_once() -> None:
    found, said = migrated(READ)
    assert found.endswith(
        "# The kinds.\n"
        "data = input_fn().map(lambda row, kind: kind)\n"
        "kinds = next(data.as_numpy_iterator())\n"
        "print(kinds)\n"
    ), said


@pytest.mark.parametrize(
    "pair",
    [
        ("    kinds = sess.run(batch)", "    sess.run(batch)\n    kinds = sess.run(batch)"),
        ("    kinds = sess.run(batch)", "    kinds = sess.run(batch + 1)"),
        ("    kinds = sess.run(batch)", "    kinds = sess.run([batch])"),
        ("tf.Session()", "tf.Session(config=tf.ConfigProto(log_device_placement=True))"),
        ("print(kinds)", "print(kinds, batch)"),
        ("with tf.Session", "for _ in range(2):\n  with tf.Session"),
    ],
    ids=["twice", "computed", "list", "config", "shown", "loop"],
)
def test_a_batch_that_is_read_otherwise_keeps_it(pair: tuple[str, str]) -> None:
    text = changed(READ, pair)
    if pair[1].startswith("for"):
        head, tail = text.split("  with tf.Session")
        block = "  with tf.Session" + tail
        text = head + block.replace("\n    ", "\n      ")
    stays(text, "used outside of the Estimator")
