"""Normal distributions of vectors, as ``tf.contrib.distributions`` of TensorFlow 1 has them."""

import math
from typing import Any

import tensorflow.compat.v1 as tf


class MultivariateNormalDiag:
    """Vectors whose elements are normal by themselves: means, and standard deviations."""

    def __init__(self, loc: Any, scale_diag: Any, name: str = "MultivariateNormalDiag") -> None:
        with tf.name_scope(name):
            self.loc = tf.convert_to_tensor(loc, name="loc")
            self._scale = tf.convert_to_tensor(scale_diag, self.loc.dtype, name="scale_diag")

    def log_prob(self, value: Any, name: str = "log_prob") -> tf.Tensor:
        """The logarithm of the density."""
        with tf.name_scope(name):
            standard = (value - self.loc) / self._scale
            size = tf.cast(tf.shape(standard)[-1], standard.dtype)
            exponents = tf.reduce_sum(standard * standard, axis=-1)
            volume = tf.reduce_sum(tf.log(tf.abs(self._scale)), axis=-1)
            return -0.5 * (exponents + size * math.log(2 * math.pi)) - volume

    def prob(self, value: Any, name: str = "prob") -> tf.Tensor:
        """The density."""
        with tf.name_scope(name):
            return tf.exp(self.log_prob(value))

    def mean(self, name: str = "mean") -> tf.Tensor:
        """The vectors' means."""
        return tf.add(self.loc, tf.zeros_like(self._scale), name=name)

    def stddev(self, name: str = "stddev") -> tf.Tensor:
        """The standard deviations of the vectors' elements."""
        return tf.abs(self._scale, name=name)

    def variance(self, name: str = "variance") -> tf.Tensor:
        """The variances of the vectors' elements."""
        return tf.square(self.stddev(), name=name)

    def entropy(self, name: str = "entropy") -> tf.Tensor:
        """The differential entropy."""
        with tf.name_scope(name):
            each = tf.log(self.stddev()) + 0.5 * math.log(2 * math.pi * math.e)
            return tf.reduce_sum(each + tf.zeros_like(self.loc), axis=-1)
