"""A dense network of the size of MNIST's, with Adam."""

import sys

import numpy as np
import tensorflow as tf

steps = int(sys.argv[1])
rng = np.random.RandomState(0)
images = rng.rand(1024, 784).astype("float32")
labels = np.eye(10, dtype="float32")[rng.randint(0, 10, 1024)]

x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.float32, [None, 10])
w1 = tf.Variable(tf.random_normal([784, 256], stddev=0.05))
b1 = tf.Variable(tf.zeros([256]))
w2 = tf.Variable(tf.random_normal([256, 256], stddev=0.05))
b2 = tf.Variable(tf.zeros([256]))
w3 = tf.Variable(tf.random_normal([256, 10], stddev=0.05))
b3 = tf.Variable(tf.zeros([10]))
h1 = tf.nn.relu(tf.matmul(x, w1) + b1)
h2 = tf.nn.relu(tf.matmul(h1, w2) + b2)
logits = tf.matmul(h2, w3) + b3
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(steps):
        at = step * 128 % 1024
        feed = {x: images[at : at + 128], y: labels[at : at + 128]}
        _, value = sess.run([train_op, loss], feed_dict=feed)
    print(value)
