"""Towers of a dense network of the size of MNIST's, on logical CPUs: STEPS TOWERS."""

import sys

import numpy as np
import tensorflow as tf

steps, towers = int(sys.argv[1]), int(sys.argv[2])
BATCH = 64  # of each tower


def average_gradients(tower_grads):
    average = []
    for pairs in zip(*tower_grads):
        gradient = tf.reduce_mean(tf.stack([g for g, _ in pairs]), axis=0)
        average.append((gradient, pairs[0][1]))
    return average


def main():
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.int64, [None])
    images = tf.split(x, towers)
    labels = tf.split(y, towers)
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9)
    tower_grads = []
    for i in range(towers):
        with tf.device(f"/cpu:{i}"), tf.variable_scope("net", reuse=i > 0):
            net = tf.layers.dense(images[i], 512, activation=tf.nn.relu, name="hidden")
            logits = tf.layers.dense(net, 10, name="logits")
            loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
            tower_grads.append(optimizer.compute_gradients(loss))
    train = optimizer.apply_gradients(average_gradients(tower_grads))

    random = np.random.RandomState(1)
    inputs = random.rand(BATCH * towers, 784).astype(np.float32)
    targets = random.randint(0, 10, BATCH * towers)
    config = tf.ConfigProto(device_count={"CPU": towers})
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            value, _ = sess.run([loss, train], {x: inputs, y: targets})
        print(value)


if __name__ == "__main__":
    main()
