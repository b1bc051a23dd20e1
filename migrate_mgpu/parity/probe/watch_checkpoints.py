"""What the program itself saves: the names and shapes in the files of its savers, in their order.

Of the last file the values are kept as well of what belongs to another variable in it, as an
optimizer's slots and moving averages do, and of single numbers: they are what no other rung sees.

TF1 saves by ``Saver.save``, a migrated program by ``tf.raw_ops.SaveV2``, which writes the same
files. What TensorFlow's own hooks and Estimators save is left out, and Keras's files are others.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

_MOST = 1000  # files that are told of


class CheckpointsWatch:
    def __init__(self, recorder: Any, is_programs: Any) -> None:
        """``is_programs`` tells of a frame whether it is of the program, not of a package."""
        self.recorder = recorder
        self.is_programs = is_programs

    def patch_saver(self, module: Any) -> None:
        """``tensorflow.python.training.saver``"""
        owner = getattr(module, "Saver", None)
        original = getattr(owner, "save", None)
        if owner is None or original is None:
            return

        @functools.wraps(original)
        def save(saver: Any, *args: Any, **options: Any) -> Any:
            path = original(saver, *args, **options)
            if path and self.is_programs(sys._getframe(1)):
                self._keep(*_read(path))
            return path

        owner.save = save

    def patch_raw_ops(self, module: Any) -> None:
        """``tf.raw_ops``"""
        original = getattr(module, "SaveV2", None)
        if original is None:
            return

        @functools.wraps(original)
        def SaveV2(*args: Any, **options: Any) -> Any:
            found = original(*args, **options)
            if self.is_programs(sys._getframe(1)) and "tensor_names" in options:
                pairs = zip(options["tensor_names"], options.get("tensors", ()))
                tensors = {str(name): tensor for name, tensor in pairs}
                shapes = {name: [int(n) for n in one.shape] for name, one in tensors.items()}
                self._keep(shapes, lambda name: tensors[name].numpy())
            return found

        module.SaveV2 = SaveV2

    def _keep(self, shapes: dict[str, list[int]] | None, value: Callable[[str], Any]) -> None:
        """Notes a file; of those that have the same in them, that is kept once.

        Args:
          value: gives the value that the file has by a name.
        """
        recorder = self.recorder
        if shapes is None or len(recorder.saved) >= _MOST:
            return
        values = {}
        for name, shape in shapes.items():
            if not shape or name.rpartition("/")[0] in shapes:
                try:
                    values[name] = value(name)
                except Exception:  # TensorFlow's own, or the value of a graph
                    continue
        with recorder.lock:
            if shapes not in recorder.saved_shapes:
                recorder.saved_shapes.append(shapes)
            recorder.saved.append(recorder.saved_shapes.index(shapes))
            recorder.saved_values = values


def _read(path: str) -> tuple[dict[str, list[int]] | None, Callable[[str], Any]]:
    """What a file has, and what gives a value; None of one of TF1's first format, or that cannot
    be read here."""
    try:
        reader = sys.modules["tensorflow"].train.load_checkpoint(path)
        shapes = {name: list(shape) for name, shape in reader.get_variable_to_shape_map().items()}
        return shapes, reader.get_tensor
    except Exception:  # TensorFlow's own, of which each version has others
        return None, lambda name: None
