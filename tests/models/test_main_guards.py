"""Modules of a program's network that show it when they are run by themselves."""

from __future__ import annotations

from tests.support.migration import run, said

NETWORK = """import tensorflow as tf


def inference(x, width):
    w = tf.get_variable("w", [4, width], initializer=tf.zeros_initializer())
    return tf.matmul(x, w)


if __name__ == "__main__":
    print(%s)
"""
MAIN = """import tensorflow as tf
import network

x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(network.inference(x, 2) - 1.0))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([train_op, loss], {x: [[1.0, 2.0, 3.0, 4.0]]})[1])
"""


def test_a_network_that_its_module_shows_stays() -> None:
    network = NETWORK % "inference(tf.placeholder(tf.float32, [None, 4]), 2)"
    files = {"main.py": MAIN, "network.py": network}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"]
    shown = [one for one in said(result) if "is called where its module is run alone" in one]
    assert len(shown) == 1, said(result)
    assert "`inference`, a network," in shown[0]


def test_a_module_that_shows_something_else_changes() -> None:
    files = {"main.py": MAIN, "network.py": NETWORK % '"a network"'}
    result = run(*files.items(), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
