"""Rotated and projected images, as ``tf.contrib.image`` of TensorFlow 1 has them."""

from typing import Any, Optional

import tensorflow.compat.v1 as tf

_DTYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def transform(
    images: Any,
    transforms: Any,
    interpolation: str = "NEAREST",
    output_shape: Any = None,
    name: Optional[str] = None,
) -> tf.Tensor:
    """Images of 2 to 4 dimensions, each projected by 8 numbers, zeros outside of them."""
    with tf.name_scope(name, "transform"):
        images = tf.convert_to_tensor(images, name="images")
        transforms = tf.convert_to_tensor(transforms, name="transforms", dtype=tf.float32)
        rank, batch = _batch(images)
        if output_shape is None:
            output_shape = batch.shape[1:3] if batch.shape[1:3].is_fully_defined() else None
        size = tf.shape(batch)[1:3] if output_shape is None else output_shape
        size = tf.convert_to_tensor(size, tf.int32, name="output_shape")
        if not size.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: height and width")
        if transforms.shape.ndims not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        made = tf.raw_ops.ImageProjectiveTransformV2(
            images=batch,
            transforms=transforms if transforms.shape.ndims == 2 else transforms[None],
            output_shape=size,
            interpolation=interpolation.upper(),
        )
        return {2: made[0, :, :, 0], 3: made[0]}[rank] if rank < 4 else made


def rotate(
    images: Any, angles: Any, interpolation: str = "NEAREST", name: Optional[str] = None
) -> tf.Tensor:
    """Images of 2 to 4 dimensions, rotated counterclockwise by angles in radians."""
    with tf.name_scope(name, "rotate"):
        rank, batch = _batch(tf.convert_to_tensor(images))
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


def _batch(images: tf.Tensor) -> tuple[int, tf.Tensor]:
    """How many dimensions images have, and a batch of them."""
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank not in (2, 3, 4):
        raise TypeError("Images should have rank between 2 and 4.")
    return rank, {2: images[None, :, :, None], 3: images[None]}[rank] if rank < 4 else images
