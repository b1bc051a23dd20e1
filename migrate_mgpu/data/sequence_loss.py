"""The loss of sequences, as ``tf.contrib.seq2seq`` of TensorFlow 1 has it."""

from typing import Any, Callable, Optional

import tensorflow.compat.v1 as tf

Loss = Callable[..., tf.Tensor]


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Optional[Loss] = None,
    name: Optional[str] = None,
) -> tf.Tensor:
    """The weighted cross entropy of ``[batch, time]`` targets.

    An axis is averaged by the weights, summed and divided by the number of weights that are not
    zero, or left.
    """
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps exclude each other")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch exclude each other")
    averages = average_across_timesteps or average_across_batch
    if averages and (sum_over_timesteps or sum_over_batch):
        raise ValueError("one axis is averaged and the other is summed")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        logits, weights = tf.convert_to_tensor(logits), tf.convert_to_tensor(weights)
        loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        losses = loss(labels=tf.reshape(targets, [-1]), logits=flat)
        losses = tf.reshape(losses * tf.reshape(weights, [-1]), tf.shape(logits)[:2])
        axes = [0] * (average_across_batch or sum_over_batch)
        axes += [1] * (average_across_timesteps or sum_over_timesteps)
        if not axes:
            return losses
        if averages:
            size = tf.reduce_sum(weights, axis=axes)
        else:
            size = tf.cast(tf.count_nonzero(weights, axis=axes), losses.dtype)
        return tf.math.divide_no_nan(tf.reduce_sum(losses, axis=axes), size)
