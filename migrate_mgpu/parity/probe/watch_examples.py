"""How many examples a step of an eager program, or of its functions, has.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Any

tools: Any = None  # eager_tools, which has no name to be imported by


class Examples:
    def __init__(self, eager_tools: Any) -> None:
        global tools
        tools = eager_tools
        self.handed = -1  # examples that the program itself handed to the step
        self.lengths: set[int] = set()  # of all that it handed to it
        self._local = threading.local()
        self._of_first: list[Any] = []  # the tensors that the first replica was handed

    def note(self, values: Any) -> bool:
        """The examples of the first batch among the values of a step."""
        found = list(_lengths(values))
        if found:
            self.handed, self.lengths = found[0], set(found)
        return bool(found)

    def forget(self) -> None:
        """What was handed to something else than a step."""
        self.handed, self.lengths = -1, set()

    def count(self, inputs: Any) -> None:
        """Those of a model's input, or of what a replica is handed; the first that are seen."""
        known = getattr(self._local, "examples", None)
        if known is not None and tools.seen_within(known):
            return
        for tensor in _batches(inputs):
            shape = tools.tf("ops.array_ops").shape(tensor, out_type="int64")
            self._local.examples = shape[0]
            return

    def _hand(self, inputs: Any, replica: int) -> None:
        """What a replica is handed: the same batch as the first one is counted there alone."""
        found = _batches(inputs)
        again = bool(replica and found)
        for tensor in found:
            again = again and any(tensor is one for one in self._of_first)
        if not replica:
            self._of_first = found
        if again:
            self._local.examples = tools.tf("framework.constant_op").constant(0, "int64")
        else:
            self.count(inputs)

    def take(self) -> Any:
        """The tensor of what was counted for this step; of -1 where nothing was."""
        examples = getattr(self._local, "examples", None)
        self._local.examples = None
        if examples is None or not tools.visible(examples):
            examples = tools.tf("framework.constant_op").constant(-1, "int64")
        return examples

    def patch_replicas(self, module: Any) -> None:
        """A replica's step that has no model: the first tensor it is handed is the batch."""
        cls = module._MirroredReplicaThread
        original = cls.__init__

        @functools.wraps(original)
        def __init__(thread: Any, *args: Any, **options: Any) -> None:
            original(thread, *args, **options)
            step = thread.main_fn

            def main_fn(*values: Any, **more: Any) -> Any:
                if tools.in_tf2():
                    self._hand([values, more], thread.replica_id)
                return step(*values, **more)

            thread.main_fn = main_fn

        cls.__init__ = __init__


def _batches(inputs: Any) -> list[Any]:
    """The tensors among some values that have rows."""
    return [
        tensor
        for tensor in tools.tf("util.nest").flatten(inputs)
        if (hasattr(tensor, "graph") or hasattr(tensor, "numpy")) and tensor.shape.ndims
    ]


def _lengths(values: Any) -> Iterator[int]:
    """How many rows each array or tensor among some values has."""
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from _lengths(value)
        return
    try:
        yield int(values.shape[0])
    except (AttributeError, TypeError, ValueError, IndexError):
        return
