"""Percentiles of samples, as ``tf.contrib.distributions.percentile`` of TensorFlow 1 has them."""

from typing import Any, Optional

import numpy as np
import tensorflow.compat.v1 as tf

_BETWEEN = {"lower": tf.ceil, "higher": tf.floor, "nearest": tf.round}


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: Optional[str] = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: Optional[str] = None,
) -> tf.Tensor:
    """The sample below which ``q`` percent of those along ``axis`` (or of all) are: one of them."""
    if (interpolation or "nearest") not in _BETWEEN:
        raise ValueError(f"interpolation must be one of {sorted(_BETWEEN)}, not {interpolation}")
    with tf.name_scope(name or "percentile"):
        x, q = tf.convert_to_tensor(x), tf.cast(q, tf.float64)
        if validate_args:
            asserted = [tf.assert_rank(q, 0), tf.assert_less_equal(q, tf.constant(100.0, q.dtype))]
            with tf.control_dependencies([*asserted, tf.assert_non_negative(q)]):
                q = tf.identity(q)
        rank = x.shape.ndims
        axes = sorted({int(one) % rank for one in np.ravel(axis)}) if axis is not None else []
        kept = [one for one in range(rank) if one not in axes] if axes else []
        samples = x
        if axes:
            samples = tf.transpose(x, kept + axes)
        samples = tf.reshape(samples, tf.concat([tf.shape(samples)[: len(kept)], [-1]], 0))
        count = tf.shape(samples)[-1]
        place = _BETWEEN[interpolation or "nearest"](
            (tf.cast(count, tf.float64) - 1.0) * (1.0 - q / 100.0)
        )
        index = tf.clip_by_value(tf.cast(place, tf.int32), 0, count - 1)
        found = tf.nn.top_k(samples, count).values[..., index]
        found.set_shape([x.shape[one] for one in kept])
        if keep_dims and not axes:
            return tf.reshape(found, tf.ones([tf.rank(x)], tf.int32))
        for one in axes if keep_dims else []:
            found = tf.expand_dims(found, one)
        return found
