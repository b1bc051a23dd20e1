"""Datasets without a last batch that is smaller, as ``tf.contrib.data`` makes them."""

from typing import Any, Callable

Transformation = Callable[[Any], Any]  # for `Dataset.apply`


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of the same size; elements that are left over are dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """The same, of elements that are padded to one shape."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )
