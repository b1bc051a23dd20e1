"""Rotated images, as ``tf.contrib.image.rotate`` of TensorFlow 1 has them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf

_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: Optional[str] = None
) -> tf.Tensor:
    """Images of 2 to 4 dimensions, rotated counterclockwise by angles in radians."""
    with tf.name_scope(name, "rotate"):
        images = tf.convert_to_tensor(images)
        if images.dtype.base_dtype not in _DTYPES:
            raise TypeError(f"Invalid dtype {images.dtype}.")
        rank = images.shape.ndims
        if rank not in (2, 3, 4):
            raise TypeError("Images should have rank between 2 and 4.")
        batch = {2: images[None, :, :, None], 3: images[None]}[rank] if rank < 4 else images
        angles = tf.convert_to_tensor(angles, name="angles", dtype=tf.float32)
        if angles.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        size = tf.shape(batch)[1:3]
        rotated = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=_transforms(tf.reshape(angles, [-1]), tf.cast(size, tf.float32) - 1),
            output_shape=size,
            interpolation=interpolation.upper(),
        )
        rotated.set_shape(batch.shape)
        return {2: rotated[0, :, :, 0], 3: rotated[0]}[rank] if rank < 4 else rotated


def _transforms(angles: tf.Tensor, last: tf.Tensor) -> tf.Tensor:
    """The projections that turn images around their centre; ``last`` is the last row and column."""
    cosine, sine = tf.cos(angles), tf.sin(angles)
    height, width = last[0], last[1]
    x = (width - (cosine * width - sine * height)) / 2.0
    y = (height - (sine * width + cosine * height)) / 2.0
    zero = tf.zeros_like(angles)
    return tf.stack([cosine, -sine, x, sine, cosine, y, zero, zero], axis=1)
