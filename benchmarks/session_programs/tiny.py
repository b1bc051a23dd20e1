"""A line through points: a step that computes next to nothing."""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1])
rng = np.random.RandomState(0)
data = rng.rand(8, 3).astype("float32")
wanted = data.sum(axis=1, keepdims=True)

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.random_normal([3, 1]), name="w")
b = tf.Variable(tf.zeros([1]), name="b")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while steps > 0:
        steps -= 1
        _, value = sess.run([train_op, loss], feed_dict={x: data, y: wanted})
    print(value)
