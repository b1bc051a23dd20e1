"""What the program itself saves: the names and shapes in the files of its savers, in their order.

TF1 saves by ``Saver.save``, a migrated program by ``tf.raw_ops.SaveV2``, which writes the same
files. What TensorFlow's own hooks and Estimators save is left out, and Keras's files are others.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

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
                self._keep(_shapes(path))
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
                self._keep({str(name): [int(n) for n in tensor.shape] for name, tensor in pairs})
            return found

        module.SaveV2 = SaveV2

    def _keep(self, shapes: dict[str, list[int]] | None) -> None:
        """Notes a file; of those that have the same in them, that is kept once."""
        recorder = self.recorder
        if shapes is None or len(recorder.saved) >= _MOST:
            return
        with recorder.lock:
            if shapes not in recorder.saved_shapes:
                recorder.saved_shapes.append(shapes)
            recorder.saved.append(recorder.saved_shapes.index(shapes))


def _shapes(path: str) -> dict[str, list[int]] | None:
    """What a file has; None of one of TF1's first format, or that cannot be read here."""
    try:
        reader = sys.modules["tensorflow"].train.load_checkpoint(path)
        return {name: list(shape) for name, shape in reader.get_variable_to_shape_map().items()}
    except Exception:  # TensorFlow's own, of which each version has others
        return None
