"""Prints what names give that a Keras program keeps as they are: values and gradients.

Started by the tests in a runtime's own interpreter, of TF1 and of TF2: Python 3.7-clean.
"""

from __future__ import annotations

import json

import numpy as np
import tensorflow as tf

CALLS = (
    lambda t: t * tf.reverse_sequence(t, [2, 1], seq_axis=1),
    lambda t: t * tf.reverse_sequence(t, [2, 1, 4], seq_axis=2, batch_axis=1),
    lambda t: t * tf.reverse_sequence(t, [2, 1], 1, 0, "name"),
    lambda t: tf.where(t > 5),
    lambda t: tf.where(condition=t > 5),
)


def run(function):
    """The values of a function, and its gradients where it has some."""
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    if not tf.__version__.startswith("1."):
        given = tf.constant(given)
        with tf.GradientTape() as tape:
            tape.watch(given)
            value = function(given)
        gradient = tape.gradient(value, given) if value.dtype == tf.float32 else value
        return [value.numpy().tolist(), gradient.numpy().tolist()]
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(given)
        value = function(given)
        gradient = tf.gradients(value, given)[0] if value.dtype == tf.float32 else value
        return [one.tolist() for one in session.run([value, gradient])]


print(json.dumps([run(function) for function in CALLS]))
