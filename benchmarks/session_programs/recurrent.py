"""A recurrent network over 16 steps, unrolled by hand."""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1])
length, width, units = 16, 32, 64
rng = np.random.RandomState(0)
sequences = rng.rand(256, length, width).astype("float32")
labels = rng.randint(0, 10, 256)

x = tf.placeholder(tf.float32, [None, length, width])
y = tf.placeholder(tf.int64, [None])
first = tf.placeholder(tf.float32, [None, units])
w_in = tf.Variable(tf.random_normal([width, units], stddev=0.1))
w_state = tf.Variable(tf.random_normal([units, units], stddev=0.1))
b_state = tf.Variable(tf.zeros([units]))
w_out = tf.Variable(tf.random_normal([units, 10], stddev=0.1))


def unrolled(inputs, state):
    for one in tf.unstack(inputs, length, axis=1):
        state = tf.tanh(tf.matmul(one, w_in) + tf.matmul(state, w_state) + b_state)
    return state


logits = tf.matmul(unrolled(x, first), w_out)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    zeros = np.zeros([32, units])
    for step in range(steps):
        at = step * 32 % 256
        feed = {x: sequences[at : at + 32], y: labels[at : at + 32], first: zeros}
        _, value = sess.run([train_op, loss], feed_dict=feed)
    print(value)
