"""A graph with a name is the one that there is; operators of matrices are functions."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

TEXT = """\
import tensorflow as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.Variable(tf.ones([3, 3]))
    lower = tf.linalg.LinearOperatorLowerTriangular(w).to_dense()
    loss = tf.reduce_mean(tf.matmul(x, lower))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
writer = tf.summary.FileWriter("log", graph=graph)
with tf.Session(graph=graph) as sess:
    with graph.as_default():
        sess.run(tf.global_variables_initializer())
    graph.finalize()
    print(sess.run([loss, train], {x: [[1.0, 2.0, 3.0]]})[0])
"""


def test_the_writer_is_given_the_program_s_graph() -> None:
    after = native(TEXT)
    assert "tf.Graph" not in after and "tf.linalg.band_part(w, -1, 0)" in after


def test_its_devices_are_tensorflow_s() -> None:
    placed = TEXT.replace("as_default():\n    x", 'as_default(), graph.device("/cpu:0"):\n    x')
    assert 'with tf.device("/cpu:0"):' in native(placed)


STAYS = {
    "two graphs": TEXT.replace("graph = ", "other = tf.Graph()\ngraph = "),
    "a graph that is handed on": TEXT.replace("writer", "print(graph)\nwriter"),
    "a device outside of its block": TEXT.replace(
        "with graph.as_default():\n    x", 'with graph.device("/cpu:0"), graph.as_default():\n    x'
    ),
    "an operator that is more": TEXT.replace("(w).to_dense()", "(w).matmul(w)"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(text: str) -> None:
    result = run(text, native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
