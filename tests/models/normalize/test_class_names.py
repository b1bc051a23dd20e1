"""A class whose one object takes its name, and a saver that is made again by its own."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Net:
    def __init__(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        self.w = tf.Variable(tf.ones([size, 1]), name='w')
        self.out = tf.matmul(self.x, self.w)
        self.loss = tf.reduce_mean(tf.square(self.out))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


rows = np.ones([4, 2])
Net = Net(2)
tf.summary.scalar('Loss', Net.loss)
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter('./logs')


def fit(data):
    return sess.run([Net.loss, Net.train], {Net.x: data})[0]


saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        print(fit(rows))
        writer.add_summary(sess.run(merged, {Net.x: rows}), step)
    saver.save(sess, './model')

saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, './model')
    print(sess.run(Net.out, {Net.x: rows}))
"""


def test_the_class_gets_another_name() -> None:
    after = native(PROGRAM)
    assert "class NetModel:\n" in after and "\nNet = NetModel(2)\n" in after
    assert "    return Net.train_step(data).numpy()\n" in after


def test_summaries_below_the_object_are_its_own() -> None:
    after = native(PROGRAM)
    assert "tf.raw_ops.ScalarSummary(tags='Loss', values=loss)" in after
    assert "Net.compute_merged(rows)" in after


def test_the_saver_is_made_once() -> None:
    after = native(PROGRAM)
    assert after.count("Saver(Net.checkpoint_variables)") == 1
    assert after.endswith("saver.restore('./model')\nprint(Net.compute_out(rows).numpy())\n")


SCRIPT = """\
import numpy as np
import tensorflow as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable(tf.ones([2, 1]), name='w')
    out = tf.matmul(x, w)

with graph.as_default():
    saver = tf.train.Saver()
with tf.Session(graph=graph) as sess:
    sess.run(tf.global_variables_initializer())
    saver.save(sess, './model')

with graph.as_default():
    saver = tf.train.Saver()
with tf.Session(graph=graph) as sess:
    saver.restore(sess, './model')
    print(sess.run(out, {x: np.ones([4, 2])}))
"""


def test_a_saver_that_is_made_again_in_its_graph() -> None:
    """All that stood in its block: an empty one kept the program."""
    after = native(SCRIPT)
    assert after.count("Saver(") == after.count("class Saver") + 1, after
    assert "as_default" not in after and "saver.restore('./model')\n" in after


RESTORED = "saver = tf.train.Saver()\nwith tf.Session() as sess:\n    saver.restore"
SCALAR = "tf.summary.scalar('Loss', Net.loss)"
TWICE = "`__init__`, which builds the graph, may run more than once"
UNKNOWN = "the session is used for more than `run`"  # of a saver that may be one of two
MERGED = "what `merged` fetches cannot be determined"
STAYS = {
    "two objects": ("rows =", "other = Net(3)\nrows =", TWICE),
    "a function that makes one": ("rows =", "def make():\n    return Net(3)\n\n\nrows =", TWICE),
    "a name that is given again": ("rows = np", "Net = print\nrows = np", TWICE),
    "a saver that saves again": (
        "    print(sess.run(Net.out",
        "    saver.save(sess, './model2')\n    print(sess.run(Net.out",
        UNKNOWN,
    ),
    "a saver of what was made since": (RESTORED, "other = tf.Variable(1.0)\n" + RESTORED, UNKNOWN),
    "a saver that a function uses": (
        "def fit(data):\n",
        "def restored():\n    saver.restore(sess, './model')\n\n\ndef fit(data):\n",
        UNKNOWN,
    ),
    "summaries of another tensor": (SCALAR, SCALAR.replace("Net.loss", "rows.mean()"), MERGED),
    "summaries under a condition": (SCALAR, f"if len(rows) > 3:\n    {SCALAR}", MERGED),
}


@pytest.mark.parametrize(("old", "new", "reason"), STAYS.values(), ids=STAYS)
def test_other_forms_stay(old: str, new: str, reason: str) -> None:
    result = run(changed(PROGRAM, (old, new)), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(f"stays, on the bridge: {reason}" in one for one in said(result)), said(result)
