"""What a recurrent network gave last, as ``tf.contrib.learn`` of TensorFlow 1 selects it."""

from typing import Any

import tensorflow.compat.v1 as tf


def select_last_activations(activations: Any, sequence_lengths: Any) -> tf.Tensor:
    """The row of each sequence at its length; at the end where there are no lengths."""
    with tf.name_scope("select_last_activations"):
        shape = tf.shape(activations)
        batch_size, padded_length, columns = shape[0], shape[1], shape[2]
        lengths = padded_length if sequence_lengths is None else sequence_lengths
        rows = tf.reshape(activations, [-1, columns])
        found = tf.gather(rows, tf.range(batch_size) * padded_length + lengths - 1)
        found.set_shape([activations.shape[0], activations.shape[2]])
        return found
