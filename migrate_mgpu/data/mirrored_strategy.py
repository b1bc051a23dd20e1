"""Training on several GPUs, as ``tf.contrib.distribute`` of TensorFlow 1 chooses them."""

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow.compat.v1 as tf


def MirroredStrategy(
    devices: Optional[Sequence[str]] = None,
    num_gpus: Optional[int] = None,
    num_gpus_per_worker: Optional[int] = None,
    cross_device_ops: Any = None,
    cross_tower_ops: Any = None,
) -> Any:
    """A strategy on these devices, or on so many GPUs: on all of them, where nothing is said."""
    if num_gpus is not None and num_gpus_per_worker is not None:
        raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
    if num_gpus is None:
        num_gpus = num_gpus_per_worker
    if devices is not None and num_gpus is not None:
        raise ValueError("Must only specify one of `devices` and `num_gpus_per_worker`.")
    if num_gpus is not None:
        devices = [f"/device:GPU:{i}" for i in range(num_gpus)] or ["/device:CPU:0"]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops or cross_tower_ops)
