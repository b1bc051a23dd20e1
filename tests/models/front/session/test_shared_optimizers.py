"""One optimizer that minimizes two losses: a saver has its one state."""

from __future__ import annotations

from tests.support.migration import after, run, said

PROGRAM = """\
import numpy as np
import tensorflow as tf

rows = np.ones([4, 3], np.float32)


class Model:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        w = tf.get_variable("w", [3, 1])
        v = tf.get_variable("v", [3, 1])
        self.a_loss = tf.reduce_mean(tf.square(tf.matmul(self.x, w)))
        self.b_loss = tf.reduce_mean(tf.square(tf.matmul(self.x, v) - 1.0))
        optimizer = tf.train.AdamOptimizer(0.1)
        self.a = optimizer.minimize(self.a_loss, var_list=[w])
        self.b = optimizer.minimize(self.b_loss, var_list=[v])


def main():
    model = Model()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(4):
            print(sess.run([model.a_loss, model.a], {model.x: rows})[0])
            print(sess.run([model.b_loss, model.b], {model.x: rows})[0])
        saver.save(sess, "model/x")


if __name__ == "__main__":
    main()
"""


def test_a_saver_outside_of_the_constructor_saves_all() -> None:
    """Both losses' slots belong to the one state, so nothing is left out."""
    result = run(PROGRAM, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    changed = after(result, PROGRAM)
    for slot in ("w/Adam", "w/Adam_1", "v/Adam", "v/Adam_1", "beta1_power", "beta2_power"):
        assert changed.count(f'"{slot}"') == 1, slot
