"""The trees and files that are measured when the user gives none."""

from __future__ import annotations

from pathlib import Path

# Ordinary code without TensorFlow; {i} makes the files differ.
_CLEAN = '''"""Module {i}: invoices."""

import json
import os
from dataclasses import dataclass


@dataclass
class Invoice{i}:
    """One line of customer {i}."""

    number: int
    amount: float
    paid: bool = False

    def total(self, rate):
        if self.paid:
            return 0.0
        return round(self.amount * (1 + rate / 100), 2)


def load_{i}(folder, name="invoices.json"):
    """Reads the open invoices of a folder."""
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as stream:
        entries = json.load(stream)
    return [Invoice{i}(**entry) for entry in entries if not entry.get("paid")]


def overdue_{i}(invoices, limit):
    found = []
    for invoice in sorted(invoices, key=lambda each: each.number):
        if invoice.amount > limit:
            found.append(invoice)
    return found
'''

_TF1 = '''"""Trains model {i}."""
import numpy as np
import tensorflow as tf

import common

BATCH = 32


def model(images, labels):
    net = tf.layers.dense(images, 64 + {i}, activation=tf.nn.relu)
    net = tf.layers.dropout(net, 0.5)
    logits = tf.layers.dense(net, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return logits, loss


def main():
    images = tf.placeholder(tf.float32, [None, 784])
    labels = tf.placeholder(tf.int64, [None])
    _, loss = model(images, labels)
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=4)
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            x, y = common.batch(BATCH, step)
            value, _ = sess.run([loss, train], feed_dict={{images: x, labels: y}})
            if step % 10 == 0:
                print("step %d: %.4f" % (step, np.mean(value)))


if __name__ == "__main__":
    main()
'''

_COMMON = '''"""Batches for all models."""
import numpy as np


def batch(size, step):
    random = np.random.RandomState(step)
    return random.rand(size, 784), random.randint(0, 10, size)
'''


def clean_tree(folder: Path, files: int, hits: bool = True) -> None:
    """A repository of clean files, 50 to a package; one in a hundred has a TF1 session.

    Without ``hits`` none has.
    """
    for i in range(files):
        package = folder / f"package{i // 50:03}"
        package.mkdir(parents=True, exist_ok=True)
        text = _TF1 if hits and i % 100 == 99 else _CLEAN
        (package / f"module{i:05}.py").write_text(text.format(i=i))
        (package / "common.py").write_text(_COMMON)


def tf1_tree(folder: Path, files: int) -> None:
    """Programs with a config and a session each, and the module that all of them import."""
    (folder / "common.py").write_text(_COMMON)
    for i in range(files - 1):
        (folder / f"train{i:05}.py").write_text(_TF1.format(i=i))


def long_file(path: Path, lines: int) -> None:
    """One scope that rebinds one name in almost every line, then a config: TF1's usual way."""
    head = "import tensorflow as tf\n\nfrom layers import layer\n\nnet = tf.zeros([1, 8])\n"
    tail = (
        "config = tf.ConfigProto(allow_soft_placement=True)\n"
        "config.gpu_options.allow_growth = True\n"
        "with tf.Session(config=config) as sess:\n"
        "    print(sess.run(net))\n"
    )
    body = "net = layer(net)\n" * (lines - head.count("\n") - tail.count("\n"))
    path.write_text(head + body + tail)
