"""Make two runs comparable: seeds, the order of data, dropout, compilation.

Each pin says in the trace that it acted. Runs in the interpreter under test: Python
3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import random
import sys
from typing import Any

SEED = 20240229


class Pins:
    def __init__(self, recorder: Any, dropout: str) -> None:
        self.recorder = recorder
        self.dropout = dropout
        self._shuffles: set[str] = set()
        self.declared: Any = None  # is told of each dropout
        recorder.pin("dropout", "not used")

    # Seeds --------------------------------------------------------------------------------------

    def seed_python(self) -> None:
        import numpy

        random.seed(SEED)
        numpy.random.seed(SEED)
        self.recorder.pin("seed", SEED)

    def seed_keras(self, module: Any) -> None:
        """Keras draws the seeds of its layers from a generator of its own.

        Else it draws them from Python's, and what a program draws there (a batch out of a replay
        buffer) would be another thing than in TF1, whose layers draw nothing.
        """
        for name in ("random", "python_random"):
            if getattr(module, name, None) is random:
                setattr(module, name, random.Random(SEED))

    def patch_graphs(self, module: Any) -> None:
        """A graph begins with a seed, as if its program had set one."""
        original = module.Graph.__init__

        @functools.wraps(original)
        def __init__(graph: Any, *args: Any, **options: Any) -> None:
            original(graph, *args, **options)
            if graph._seed is None:
                graph._seed = SEED

        module.Graph.__init__ = __init__
        # An Estimator whose RunConfig has no seed sets None, which would take this one away.
        seed = module.Graph.seed

        def keep_a_seed(graph: Any, value: Any) -> None:
            seed.fset(graph, SEED if value is None else value)

        module.Graph.seed = property(seed.fget, keep_a_seed, doc=seed.__doc__)
        # Where TensorFlow was imported before the program, there may be one already.
        stack = getattr(module, "_default_graph_stack", None)
        existing = getattr(stack, "_global_default_graph", None)
        if existing is not None and existing._seed is None:
            existing._seed = SEED

    def seed_eager(self, module: Any) -> None:
        context = module.context()
        if context._seed is None:
            context._set_global_seed(SEED)

    # The order of data --------------------------------------------------------------------------

    def _shuffled(self, where: str) -> None:
        self._shuffles.add(where)
        names = ", ".join(sorted(self._shuffles))
        self.recorder.pin("shuffle", f"in the data's own order: {names}")

    def patch_datasets(self, module: Any) -> None:
        for name in ("DatasetV2", "DatasetV1"):
            cls = getattr(module, name, None)
            if cls is not None and "shuffle" in cls.__dict__:
                self._replace(cls, "shuffle", "Dataset.shuffle", lambda this, *a, **k: this)

    def patch_shuffle_and_repeat(self, module: Any) -> None:
        def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
            return lambda dataset: dataset.repeat(count)

        self._replace(module, "shuffle_and_repeat", "shuffle_and_repeat", shuffle_and_repeat)

    def patch_queues(self, module: Any) -> None:
        def shuffle_batch(
            tensors: Any,
            batch_size: Any,
            capacity: Any,
            min_after_dequeue: Any,
            keep_input: Any,
            num_threads: int = 1,
            seed: Any = None,
            enqueue_many: bool = False,
            shapes: Any = None,
            allow_smaller_final_batch: bool = False,
            shared_name: Any = None,
            name: Any = None,
        ) -> Any:
            # One thread: with more of them the order is the scheduler's.
            return module._batch(
                tensors,
                batch_size,
                keep_input,
                1,
                capacity,
                enqueue_many,
                shapes,
                False,
                allow_smaller_final_batch,
                shared_name,
                name,
            )

        # What `tf.train` has of it, which an earlier import may have made, ends here.
        self._replace(module, "_shuffle_batch", "tf.train.shuffle_batch", shuffle_batch)
        self._force(module, "input_producer", "input producer")

    def patch_feeding(self, module: Any) -> None:
        self._force(module, "_enqueue_data", "numpy_input_fn or pandas_input_fn")

    def patch_data_feeder(self, module: Any) -> None:
        self._force(module.DataFeeder, "__init__", "arrays of tf.contrib.learn")

    def patch_random_shuffle(self, module: Any) -> None:
        self._replace(
            module, "random_shuffle", "tf.random.shuffle", lambda value, seed=None, name=None: value
        )

    def force_order(self, cls: Any, name: str, where: str) -> None:
        self._force(cls, name, where)

    def _replace(self, owner: Any, name: str, where: str, replacement: Any) -> None:
        original = owner.__dict__.get(name)
        if original is None:
            return

        @functools.wraps(original)
        def pinned(*args: Any, **options: Any) -> Any:
            self._shuffled(where)
            return replacement(*args, **options)

        setattr(owner, name, pinned)

    def _force(self, owner: Any, name: str, where: str) -> None:
        """The function with ``shuffle=False``, whatever the program said."""
        import inspect

        original = owner.__dict__.get(name)
        if original is None:
            return
        signature = inspect.signature(original)

        @functools.wraps(original)
        def pinned(*args: Any, **options: Any) -> Any:
            try:
                bound = signature.bind(*args, **options)
            except TypeError:
                return original(*args, **options)  # it raises as without us
            if bound.arguments.get("shuffle", signature.parameters["shuffle"].default):
                self._shuffled(where)
                bound.arguments["shuffle"] = False
            return original(*bound.args, **bound.kwargs)

        setattr(owner, name, pinned)

    # Dropout ------------------------------------------------------------------------------------

    def patch_dropout(self, module: Any) -> None:
        """All of TensorFlow's and Keras' dropout arrives at ``nn_ops``."""
        if self.dropout == "keep":
            self.recorder.pin("dropout", "kept as it is: runs that use it differ")
            return

        def inner(x: Any, rate: Any, noise_shape: Any = None, *more: Any, **options: Any) -> Any:
            if self.declared is not None:
                self.declared.dropout(rate)
            return self._drop(x, rate, noise_shape)

        # The innermost function: those above it are keys of TensorFlow's dispatch tables.
        name = "_dropout" if hasattr(module, "_dropout") else "dropout_v2"
        original = getattr(module, name)
        setattr(module, name, functools.wraps(original)(inner))

    def _drop(self, x: Any, rate: Any, noise_shape: Any) -> Any:
        def tf(name: str) -> Any:
            for package in ("tensorflow_core", "tensorflow"):
                if f"{package}.python.{name}" in sys.modules:
                    return sys.modules[f"{package}.python.{name}"]
            raise ImportError(name)

        arrays, math = tf("ops.array_ops"), tf("ops.math_ops")
        ops = tf("framework.ops")
        x = ops.convert_to_tensor(x)
        if self.dropout == "off":
            self.recorder.pin("dropout", "switched off")
            return arrays.identity(x)
        self.recorder.pin("dropout", "one fixed mask on both sides, the same for each example")
        # Not of the batch's axis: then a batch may be split over replicas or not.
        shape = arrays.shape(x) if noise_shape is None else ops.convert_to_tensor(noise_shape)
        # Nor of the time's: a network over sequences may be given them at once, or step by step.
        features = shape[1:] if x.shape.ndims is None or x.shape.ndims > 1 else shape
        if noise_shape is None and x.shape.ndims in (None, 3):
            sequences = math.cast(math.equal(arrays.rank(x), 3), "int32")
            features = shape[1 + sequences :]
        count = math.reduce_prod(features)
        place = math.cast(math.range(count), "int64") * 2654435761 % 4294967296
        # Knuth's multiplicative hash: spread evenly over [0, 1).
        uniform = arrays.reshape(math.cast(place, "float64") / 4294967296.0, features)
        kept = math.cast(uniform >= math.cast(rate, "float64"), x.dtype)
        dropped = x * kept / (1 - math.cast(rate, x.dtype))
        dropped.set_shape(x.shape)  # a rate that is fed may have any
        return dropped

    # Compilation --------------------------------------------------------------------------------

    def patch_jit(self, module: Any) -> None:
        """XLA has no host callbacks on CPUs, and other roundings."""

        def model_supports_jit(model: Any) -> bool:
            self.recorder.pin("xla", "Keras' compilation with XLA is off")
            return False

        module.model_supports_jit = model_supports_jit

    def precision(self, module: Any) -> None:
        enable = getattr(module, "enable_tensor_float_32_execution", None)
        if enable is not None:
            enable(False)
            self.recorder.pin("tf32", "off")
