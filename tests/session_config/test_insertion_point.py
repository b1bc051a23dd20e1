"""Options of a session that a method makes stand before what the constructor makes."""

from __future__ import annotations

from tests.support.migration import migrated

PROGRAM = """\
import numpy as np
import tensorflow as tf


class Model(object):
    def __init__(self, rate):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.w = tf.get_variable('w', [3, 1], initializer=tf.zeros_initializer())
        self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, self.w) - 1.0))
        self.train_op = tf.train.GradientDescentOptimizer(rate).minimize(self.loss)

    def train(self, steps, fraction):
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(steps):
                print(sess.run([self.loss, self.train_op], {self.x: np.ones((2, 3))}))


def main():
    model = Model(0.1)
    model.train(5, 0.5)


main()
"""


def test_constants_stand_before_the_object_is_made() -> None:
    after, _ = migrated(PROGRAM, bridge=True, native_sessions=True)
    assert after.index("set_memory_growth") < after.index("model = Model(0.1)")
    assert "train_step" in after


def test_what_is_not_known_there_keeps_the_program() -> None:
    program = PROGRAM.replace("allow_growth = True", "per_process_gpu_memory_fraction = fraction")
    after, told = migrated(program, bridge=True, native_sessions=True)
    assert "tf.disable_v2_behavior()" in after
    assert any("TensorFlow is initialized before it" in one for one in told)
