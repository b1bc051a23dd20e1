"""A file of weights that Keras wrote (HDF5), read as a checkpoint is.

Runs in the interpreter under test: Python 3.7, the standard library, numpy and h5py.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

_WEIGHTS = "model_weights"  # in the file of a whole model


class Reader:
    """The weights by their names, as TensorFlow's reader has a checkpoint's tensors.

    A layer that is a model, as in what ``multi_gpu_model`` returns, has the weights of its own
    layers under their names: they are found as if the file were that model's.

    Attributes:
      twice: names that several weights have, of which nobody knows which is meant.

    Raises:
      OSError: it is no such file.
    """

    def __init__(self, path: str) -> None:
        h5py = importlib.import_module("h5py")
        self._file = h5py.File(path, "r")
        root = self._file.get(_WEIGHTS, self._file)
        self._found: dict[str, Any] = {}
        self.twice: list[str] = []
        for layer in _texts(root, "layer_names"):
            for name in _texts(root[layer], "weight_names"):
                plain = name.split(":")[0]
                if plain in self._found:
                    self.twice.append(plain)
                self._found[plain] = root[layer][name]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return {name: list(one.shape) for name, one in self._found.items()}

    def get_tensor(self, name: str) -> Any:
        return self._found[name][()]


def _texts(group: Any, name: str) -> list[str]:
    """An attribute that is a list of names; Keras keeps a long one in parts, with numbers."""
    if name in group.attrs:
        found = list(group.attrs[name])
    else:
        parts = [key for key in group.attrs if key.startswith(name) and key[len(name) :].isdigit()]
        parts.sort(key=lambda key: int(key[len(name) :]))
        found = [one for key in parts for one in group.attrs[key]]
    return [one.decode() if isinstance(one, bytes) else str(one) for one in found]


def named_alike(one: Any, other: Any) -> bool:
    """Whether two paths are of files of one name."""
    return os.path.basename(str(one)) == os.path.basename(str(other))
