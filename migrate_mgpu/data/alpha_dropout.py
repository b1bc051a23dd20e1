"""Dropout for SELUs, as ``tf.contrib.nn.alpha_dropout`` of TensorFlow 1 has it."""

from numbers import Real
from typing import Any, Optional

import tensorflow.compat.v1 as tf

_ALPHA = -1.7580993408473766


def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> tf.Tensor:
    """Drops values, and scales and shifts all so that mean and variance stay (arXiv 1706.02515)."""
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, Real) and not 0 < float(keep_prob) <= 1:
            raise ValueError(f"keep_prob must be in the range (0, 1], got {keep_prob:g}")
        keep_prob = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if tf.get_static_value(keep_prob) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        drawn = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(drawn >= 1 - keep_prob, x.dtype)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _ALPHA**2) ** -0.5
        shift = -scale * _ALPHA * (1 - keep_prob)
        return scale * (x * kept + _ALPHA * (1 - kept)) + shift
