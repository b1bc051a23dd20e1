"""An Estimator that recognises digits with a dense network, as large as tutorials make it."""

import argparse

import numpy as np
import tensorflow as tf


def input_fn(batch_size):
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 10, size=2048).astype(np.int32)
    images = rng.normal(size=(2048, 784)).astype(np.float32) + labels[:, None]
    return tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(batch_size)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 256, activation=tf.nn.relu)
    net = tf.layers.dense(net, 256, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    optimizer = tf.train.AdamOptimizer(1e-4)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", default=128, type=int)
    parser.add_argument("--train_steps", default=50, type=int)
    args = parser.parse_args()
    classifier = tf.estimator.Estimator(model_fn=model_fn)
    classifier.train(lambda: input_fn(args.batch_size), steps=args.train_steps)


if __name__ == "__main__":
    main()
