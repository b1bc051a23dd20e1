"""A convolutional network for images of 32 * 32."""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1])
rng = np.random.RandomState(0)
images = rng.rand(128, 32, 32, 3).astype("float32")
labels = rng.randint(0, 10, 128)

x = tf.placeholder(tf.float32, [None, 32, 32, 3])
y = tf.placeholder(tf.int64, [None])


def weight(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def conv2d(inputs, w):
    return tf.nn.relu(tf.nn.conv2d(inputs, w, strides=[1, 1, 1, 1], padding="SAME"))


def max_pool(inputs):
    return tf.nn.max_pool(inputs, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


w1 = weight([5, 5, 3, 32])
w2 = weight([5, 5, 32, 64])
w3 = weight([8 * 8 * 64, 128])
w4 = weight([128, 10])
h1 = max_pool(conv2d(x, w1))
h2 = max_pool(conv2d(h1, w2))
h3 = tf.nn.relu(tf.matmul(tf.reshape(h2, [-1, 8 * 8 * 64]), w3))
logits = tf.matmul(h3, w4)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(steps):
        at = step * 32 % 128
        feed = {x: images[at : at + 32], y: labels[at : at + 32]}
        _, value = sess.run([train_op, loss], feed_dict=feed)
    print(value)
