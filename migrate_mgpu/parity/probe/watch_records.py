"""``record(name, value)``: what a program itself shows, where no hook can look.

A program says ``from migrate_mgpu import record``; under the probe that works in every
runtime, with this package installed or not (``probe.ImportHook``).

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import sys
from typing import Any

_NUMBERS = "biufc"  # kinds of numpy types


class RecordsWatch:
    def __init__(self, recorder: Any, eager_tools: Any, replica_id: Any) -> None:
        self.recorder = recorder
        self._tools = eager_tools
        self._replica_id = replica_id

    def patch(self, module: Any) -> None:
        module.record = self.record

    def record(self, name: str, value: Any) -> None:
        """Keep a number or an array under a name; each call is one entry.

        Raises:
          TypeError: neither, or a tensor that has no value yet.
        """
        graph = self._graph()
        if graph is not None and graph.building_function and hasattr(value, "read_value"):
            value = self._tools.tf("framework.ops").convert_to_tensor(value)
        if _symbolic(value):
            self._when_run(name, value, graph)
        else:
            self._keep(name, value)

    def _graph(self) -> Any:
        """The graph that is being built, or None; a program may record without TensorFlow."""
        if "tensorflow" not in sys.modules:
            return None
        if self._tools.tf("eager.context").executing_eagerly():
            return None
        return self._tools.tf("framework.ops").get_default_graph()

    def _when_run(self, name: str, tensor: Any, graph: Any) -> None:
        """Within a ``tf.function``: whenever that runs, and for each replica."""
        if graph is None or not graph.building_function:
            raise TypeError(
                f"record({name!r}): a tensor of a graph has no value yet; "
                "record what Session.run returns for it"
            )
        replica = self._replica_id() or 0
        label = f"{name}/replica_{replica}" if self._tools.replicas() > 1 else name
        import numpy

        def keep(value: Any) -> Any:
            self._keep(label, value)
            return numpy.bool_(True)

        with self._tools.tf("framework.ops").device("/device:CPU:0"):
            self._tools.tf("ops.script_ops").numpy_function(keep, [tensor], "bool")

    def _keep(self, name: str, value: Any) -> None:
        import numpy

        parts = getattr(value, "_values", None) or getattr(value, "values", None)
        if isinstance(parts, (list, tuple)):  # of a strategy: one for each replica
            value = [_plain(part) for part in parts]
        try:
            array = numpy.asarray(_plain(value))
        except ValueError as error:  # ragged
            raise TypeError(f"record({name!r}): {error}") from error
        if array.dtype.kind not in _NUMBERS:
            kind = type(value).__name__
            raise TypeError(f"record({name!r}): a {kind} is neither a number nor an array of them")
        self.recorder.record(str(name), array)


def _plain(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value


def _symbolic(value: Any) -> bool:
    return hasattr(value, "graph") and hasattr(value, "op") and not hasattr(value, "numpy")
