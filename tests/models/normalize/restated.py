"""Programs whose model_fn has another form, and what the tool makes of them."""

from __future__ import annotations

HEAD = """\
import functools
import numpy as np
import tensorflow as tf


def input_fn():
    data = np.ones([8, 4], np.float32), np.ones([8], np.int64)
    return tf.data.Dataset.from_tensor_slices(data).repeat(100).batch(8)


"""
TAIL = """
estimator.train(input_fn, steps=100)
print(estimator.evaluate(input_fn, steps=1)["accuracy"])
"""
LOSS = "tf.losses.sparse_softmax_cross_entropy(labels, logits)"
STEP = "tf.train.AdamOptimizer({rate}).minimize(loss, tf.train.get_global_step())"
METRICS = '{{"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}}'
END = (
    f"    loss = {LOSS}\n    train_op = {STEP}\n    return tf.estimator.EstimatorSpec("
    f"\n        mode, loss=loss, train_op=train_op, eval_metric_ops={METRICS}\n    )\n"
)


def whole(text: str) -> str:
    """The program whose middle is a text; a text that is a program itself, as it is."""
    return text if "import tensorflow" in text else HEAD + text + TAIL


def indented(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def closure(inner: str = "", outer: str = "hidden, rate=0.1", given: str = "16") -> str:
    body = "    net = tf.layers.dense(features, hidden)\n    logits = tf.layers.dense(net, 3)\n"
    function = "def model_fn(features, labels, mode):\n" + inner + body + END.format(rate="rate")
    return (
        f"def make_model_fn({outer}):\n{indented(function)}\n    return model_fn\n\n\n"
        f"estimator = tf.estimator.Estimator(make_model_fn({given}))\n"
    )
