"""Scalar summaries and histograms that the program itself writes: tags, steps and values, in order.

TF1 is given them by ``FileWriter.add_summary``, TF2 by ``tf.summary.experimental.write_raw_pb``.
What TensorFlow's own hooks and callbacks write is left out: the other side may have others.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

PREFIX = "summary "  # of the names of what is recorded
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class SummariesWatch:
    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder

    def patch_writer(self, module: Any) -> None:
        """``tensorflow.python.summary.writer.writer``"""
        owner = getattr(module, "SummaryToEventTransformer", None)
        original = getattr(owner, "add_summary", None)
        if owner is None or original is None:
            return

        @functools.wraps(original)
        def add_summary(writer: Any, summary: Any, global_step: Any = None) -> Any:
            if is_programs(sys._getframe(1)):
                self._keep(summary, global_step)
            return original(writer, summary, global_step)

        owner.add_summary = add_summary

    def patch_summary_ops(self, module: Any) -> None:
        """``tensorflow.python.ops.summary_ops_v2``"""
        original = getattr(module, "write_raw_pb", None)
        if original is None:
            return

        @functools.wraps(original)
        def write_raw_pb(tensor: Any, step: Any = None, name: Any = None) -> Any:
            if is_programs(sys._getframe(1)):
                self._keep(tensor, step)
            return original(tensor, step, name)

        module.write_raw_pb = write_raw_pb
        # Where TensorFlow is imported already, its public module has the function by itself.
        for name in [one for one in sys.modules if one.endswith("summary.experimental")]:
            public = sys.modules[name]
            if getattr(public, "write_raw_pb", None) is original:
                public.write_raw_pb = write_raw_pb  # type: ignore[attr-defined]

    def _keep(self, summary: Any, step: Any) -> None:
        """Keep scalars, and of histograms the smallest value, the largest, and the root of the mean
        square; what has no value yet, or is no summary, is left out."""
        import numpy

        summary = summary.numpy() if hasattr(summary, "numpy") else summary
        if isinstance(summary, (bytes, numpy.bytes_)):
            parsed = _protos().Summary()
            parsed.ParseFromString(bytes(summary))
            summary = parsed
        step = step.numpy() if hasattr(step, "numpy") else step
        for value in getattr(summary, "value", ()):
            if value.HasField("simple_value"):
                numbers = [value.simple_value]
            elif value.HasField("histo") and value.histo.num > 0:
                found = value.histo
                numbers = [found.min, found.max, (found.sum_squares / found.num) ** 0.5]
            else:
                continue
            numbers = [-1.0 if step is None else float(step), *numbers]
            self.recorder.record(PREFIX + value.tag, numpy.array(numbers, "float32"))


def _protos() -> Any:
    """TensorFlow's module with the ``Summary`` proto, which it has imported by itself."""
    names = (f"{one}.core.framework.summary_pb2" for one in ("tensorflow", "tensorflow_core"))
    return next(sys.modules[name] for name in names if name in sys.modules)


def is_programs(frame: Any) -> bool:
    """Whether a call stands in the program, and not in a package."""
    file = frame.f_code.co_filename
    return not any(one in file for one in _PACKAGES)
