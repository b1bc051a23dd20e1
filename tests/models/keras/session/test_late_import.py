"""A helper class stands below the import of TensorFlow, whose names its body may read at once."""

from __future__ import annotations

from tests.support.migration import migrated, run, said

PROGRAM = """\
import numpy as np
{data}
{between}
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.zeros([3, 1]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {{x: np.ones([2, 3])}})
    saver.save(sess, "model")
"""
DATA = """\
from tensorflow.examples.tutorials.mnist import input_data
mnist = input_data.read_data_sets("data")"""


def test_below_what_reads_mnist_above_the_import() -> None:
    text = PROGRAM.format(data=DATA, between="")
    after = migrated(text, bridge=True, native_sessions=True)[0]
    assert "dtype = tf.float32" in after  # which is read where the class is made
    assert after.index("mnist = ") < after.index("import tensorflow as tf") < after.index("class ")


def test_where_no_place_is_below_it_the_program_stays() -> None:
    """A function above the import may use it, and be called: nothing moves below that."""
    text = PROGRAM.format(data="import tensorflow", between="\n\ndef f():\n    return 1\n\n")
    result = run(text, bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("TensorFlow is imported below what uses it" in one for one in said(result))
