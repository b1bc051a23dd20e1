"""A graph that an object keeps: `with self.graph.as_default():`, `tf.Session(graph=self.graph)`."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

MODEL = """\
import tensorflow as tf
rows = [[1.0, 2.0], [3.0, 1.0]]


class Model:
    def __init__(self, size):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.build(size)
            self.saver = tf.train.Saver()
            self.sess = tf.Session(graph=self.graph)
            self.sess.run(tf.global_variables_initializer())

    def build(self, size):
        self.x = tf.placeholder(tf.float32, [None, size])
        w = tf.get_variable('w', [size, 1], initializer=tf.zeros_initializer())
        self.out = tf.matmul(self.x, w)
        self.loss = tf.reduce_mean(tf.square(self.out - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

    def fit(self, data):
        return self.sess.run([self.loss, self.train_op], {self.x: data})[0]


"""
END = "model = Model(2)\nprint(model.fit(rows))\n"
SAVES = MODEL + "    def save(self, path):\n        self.saver.save(self.sess, path)\n\n\n"


def test_the_graph_goes() -> None:
    after = native(MODEL + END)
    assert "graph" not in after
    assert "Saver" not in after  # nothing saves by it
    assert "        return self.train_step(data).numpy()\n" in after


def test_sessions_of_methods() -> None:
    kept = """\
            self.sess = tf.Session(graph=self.graph)
            self.sess.run(tf.global_variables_initializer())
"""
    fit = """\
        with tf.Session(graph=self.graph) as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run([self.loss, self.train_op], {self.x: data})[0])
            self.saver.save(sess, './model')

    def test(self, data):
        with tf.Session(graph=self.graph) as sess:
            self.saver.restore(sess, './model')
            print(sess.run(self.out, {self.x: data}))
"""
    last = "        return self.sess.run([self.loss, self.train_op], {self.x: data})[0]\n"
    after = native(MODEL.replace(kept, "").replace(last, fit) + END + "model.test(rows)\n")
    assert (
        "    def test(self, data):\n        self.saver.restore('./model')\n        print(" in after
    )


def test_a_name_that_nothing_reads_and_a_device() -> None:
    text = MODEL.replace(
        "self.graph.as_default():", "self.graph.as_default() as g, tf.device('/cpu:0'):"
    )
    assert "graph" not in native("import os\n" + text + "tf.reset_default_graph()\n" + END)


def test_each_object_has_its_own() -> None:
    after = native(
        MODEL + "for size in (2, 2):\n    model = Model(size)\n    print(model.fit(rows))\n"
    )
    assert "for size in (2, 2):\n    model = Model(size)\n    print(model.fit(rows))\n" in after


STAYS = {
    "another graph": (MODEL + "other = tf.Graph()\n" + END, "given more than a config"),
    "read elsewhere": (MODEL + END + "print(model.graph.version)\n", "given more than a config"),
    "read in a method": (
        MODEL + "    def size(self):\n        return self.graph.version\n\n\n" + END,
        "given more than a config",
    ),
    "a session of the default graph": (
        MODEL.replace(
            "            self.sess = tf.Session(graph=self.graph)\n"
            "            self.sess.run(tf.global_variables_initializer())\n",
            "        self.sess = tf.Session()\n"
            "        self.sess.run(tf.global_variables_initializer())\n",
        )
        + END,
        "`tf.Graph` is not among the functions",
    ),
    "a part of the default graph": (
        MODEL + "noise = tf.get_variable('noise', [2])\n" + END,
        "given more than a config",
    ),
    "several objects that save": (
        SAVES + "for size in (2, 3):\n    model = Model(size)\n    model.save('./%d' % size)\n",
        "`tf.train.Saver` is about all of them",
    ),
}


@pytest.mark.parametrize(("text", "reason"), STAYS.values(), ids=STAYS)
def test_stays(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any(reason in message for message in said(result)), said(result)
