"""MNIST in batches, as ``tensorflow.examples.tutorials.mnist.input_data`` of TensorFlow 1 reads it.

The same files, arrays, and orders of examples: NumPy's generator is seeded and drawn from as there.
"""

import gzip
import os
import urllib.request
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"


class DataSet:
    """Images and labels, from which batches are taken."""

    def __init__(
        self,
        images: Any,
        labels: Any,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: Any = None,
        one_hot: bool = False,
        fake_data: bool = False,
    ) -> None:
        self.one_hot = one_hot
        graph_seed, op_seed = tf.compat.v1.get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        if reshape and not fake_data:
            images = images.reshape(len(images), images.shape[1] * images.shape[2])
        if tf.as_dtype(dtype) == tf.float32 and not fake_data:
            images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self.images = images
        self.labels = labels
        self.num_examples = 10000 if fake_data else len(images)
        self.epochs_completed = 0
        self._start = 0

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> Any:
        """The next examples; each time that all were seen, they are shuffled anew.

        Fake data is one image, as often as it is asked for.
        """
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start, end = self._start, self._start + batch_size
        if self.epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if end <= self.num_examples:
            self._start = end
            return self.images[start:end], self.labels[start:end]
        self.epochs_completed += 1
        rest = self.images[start:], self.labels[start:]
        if shuffle:
            self._shuffle()
        self._start = end - self.num_examples
        return (
            np.concatenate((rest[0], self.images[: self._start])),
            np.concatenate((rest[1], self.labels[: self._start])),
        )

    def _shuffle(self) -> None:
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self.images, self.labels = self.images[order], self.labels[order]


class Datasets(NamedTuple):
    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: Any = None,
    source_url: str = SOURCE,
) -> Datasets:
    """The images of a folder, into which they are loaded when they are not there."""
    if fake_data:
        return Datasets(
            *(DataSet([], [], dtype, seed=seed, one_hot=one_hot, fake_data=True) for _ in range(3))
        )
    arrays = []
    for part in ("train", "t10k"):
        images = _read(train_dir, f"{part}-images-idx3-ubyte.gz", source_url)
        labels = _read(train_dir, f"{part}-labels-idx1-ubyte.gz", source_url)
        arrays += [images[..., np.newaxis], np.eye(10)[labels] if one_hot else labels]
    images, labels, test_images, test_labels = arrays
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"validation_size should be between 0 and {len(images)}")
    cut = validation_size
    return Datasets(
        DataSet(images[cut:], labels[cut:], dtype, reshape, seed, one_hot),
        DataSet(images[:cut], labels[:cut], dtype, reshape, seed, one_hot),
        DataSet(test_images, test_labels, dtype, reshape, seed, one_hot),
    )


def load_dataset(name: str) -> Datasets:
    """MNIST by its name, in the folder where TensorFlow 1 put it."""
    if name != "mnist":
        raise ValueError(f"Name of dataset is not found: {name}")
    return read_data_sets("MNIST-data")


def _read(folder: str, name: str, source: str) -> Any:
    """An array in the format of MNIST's files: its number of axes, their lengths, its bytes."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        urllib.request.urlretrieve((source or SOURCE) + name, path)
    print("Extracting", path)
    with gzip.open(path) as file:
        axes = file.read(4)[3]
        shape = np.frombuffer(file.read(4 * axes), ">u4").astype(int)
        return np.frombuffer(file.read(), np.uint8).reshape(shape)
