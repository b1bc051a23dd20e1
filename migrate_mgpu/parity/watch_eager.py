"""Training with gradient tapes: Keras fit, custom train steps, and loops of one's own.

Every such step takes a tape's gradient of a loss with respect to variables, on each
replica, eagerly or while a ``tf.function`` is traced; there a host callback delivers
the numbers of each execution. Optimizers show the gradients after aggregation and
clipping.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import threading
from typing import Any


class EagerWatch:
    def __init__(self, recorder: Any, replica_id: Any) -> None:
        self.recorder = recorder
        self._replica_id = replica_id
        self._local = threading.local()
        self._series: dict[frozenset[int], int] = {}
        self._variables: dict[int, Any] = {}  # index -> variable
        self._indices: dict[int, int] = {}  # id of a variable -> index
        self._created: dict[int, int] = {}  # id of a variable -> place in creation order
        self._raw: dict[int, dict[int, Any]] = {}  # index -> replica -> gradient
        self._applied: set[int] = set()
        self._calls: dict[tuple[str, int], int] = {}
        self._keep: list[Any] = []
        self._last_batch = -1  # examples that the program itself handed to the step

    # Creation: the reference's initial values --------------------------------------------------

    def patch_creation(self) -> None:
        """Every variable that the program makes passes here, replicated ones once."""
        graph = _tf("framework.ops").get_default_graph()
        stack = graph._variable_creator_stack
        graph._variable_creator_stack = [*stack, (10**6, self._create)]

    def _create(self, next_creator: Any, **options: Any) -> Any:
        if not self._in_tf2():
            return next_creator(**options)
        if self.recorder.carries and options.get("trainable") is not False:
            self._replace(options)
        return self._note_created(next_creator(**options))

    def _note_created(self, variable: Any) -> Any:
        for part in [variable, *self._parts(variable)]:
            self._created.setdefault(id(part), len(self._created))
        self._keep.append(variable)  # an id is of one variable only while that lives
        return variable

    def _replace(self, options: dict[str, Any]) -> None:
        own = options.get("initial_value")
        name = str(options.get("name") or "Variable")
        cache: list[Any] = []
        functions = _tf("framework.constant_op")

        def initial_value(*args: Any, **more: Any) -> Any:
            value = own(*args, **more) if callable(own) else own
            value = _tf("framework.ops").convert_to_tensor(value, dtype=options.get("dtype"))
            if not value.shape.is_fully_defined() or not value.dtype.is_floating:
                return value
            if not cache:
                shape = value.shape.as_list()
                cache.append(self.recorder.reference()["carrier"].choose(name, shape))
            if cache[0] is None:
                return value
            stored = self.recorder.reference()["values"][cache[0]]
            return functions.constant(stored, dtype=value.dtype)

        if own is not None:
            options["initial_value"] = initial_value if callable(own) else initial_value()

    # Steps --------------------------------------------------------------------------------------

    def patch_tape(self, module: Any) -> None:
        tape = module.GradientTape
        original = tape.gradient

        @functools.wraps(original)
        def gradient(this: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            found = original(this, target, sources, *args, **options)
            graph = _tf("framework.ops").get_default_graph()
            eager = _tf("eager.context").executing_eagerly()
            if not eager and not graph.building_function:
                return found  # a v1 graph: the other watcher's
            nest = _tf("util.nest")
            pairs = [
                (g, _variable(v))
                for g, v in zip(nest.flatten(found), nest.flatten(sources))
                if g is not None and _variable(v) is not None
            ]
            if not pairs:
                return found  # no training: a gradient penalty, a saliency map
            return self._step(target, found, pairs, nest)

        tape.gradient = gradient

    def _step(self, target: Any, found: Any, pairs: list[Any], nest: Any) -> Any:
        self.recorder.declared = True
        variables = [v for _, v in pairs]
        series = self._series_of(variables)
        replica = self._replica_id() or 0
        math = _tf("ops.math_ops")
        losses = [math.cast(math.reduce_sum(t), "float64") for t in nest.flatten(target)]
        loss = losses[0] if len(losses) == 1 else math.add_n(losses)
        examples = getattr(self._local, "examples", None)
        self._local.examples = None
        if examples is None or not self._visible(examples):
            examples = _tf("framework.constant_op").constant(-1, "int64")

        alone = _replicas() == 1

        def note(value: Any, count: Any) -> None:
            count = int(count)
            if count < 0 and alone:
                count = self._last_batch
            self._note(series, replica, float(value), count)

        if _tf("eager.context").executing_eagerly():
            note(loss.numpy(), examples.numpy())
            self._first(series, replica, "raw", pairs)
            return found
        ops = _tf("framework.ops")
        done = self._callback(note, [loss, examples])
        # Before the gradients: the variables are still those of the step's begin.
        with ops.control_dependencies([done]):
            found = nest.map_structure(_after, found, expand_composites=True)
        self._first(series, replica, "raw", pairs)
        return found

    def _note(self, series: int, replica: int, loss: float, examples: int) -> None:
        recorder = self.recorder
        known = recorder.get_series(series)
        if replica == 0 and known.steps >= 1 and "after_one" not in known.seen_first:
            known.seen_first.add("after_one")
            self._read("after_one", series)
        recorder.loss(series, replica, loss, None if examples < 0 else examples)

    def _series_of(self, variables: list[Any]) -> int:
        key = frozenset(id(v) for v in variables)
        with self.recorder.lock:
            if key not in self._series:
                self._series[key] = len(self._series)
                self._register(variables)
            return self._series[key]

    def _register(self, variables: list[Any]) -> None:
        recorder = self.recorder
        last = len(self._created)
        new = [v for v in variables if id(v) not in self._indices]
        for variable in sorted(new, key=lambda v: self._created.get(id(v), last)):
            name = str(getattr(variable, "_migrate_mgpu_path", None) or variable.name)
            known = {v["name"] for v in recorder.variables}
            plain, n = recorder._matching.plain(name), 1
            while recorder._matching.plain(name) in known:  # Keras 3 names each "kernel"
                name, n = f"{plain}_{n}", n + 1
            index = recorder.variable(name, variable.shape.as_list(), variable.dtype.name)
            self._indices[id(variable)] = index
            self._variables[index] = variable
        with _tf("framework.ops").init_scope():
            if recorder.carries:
                self._carry()
            for variable in new:
                recorder.array("initial", self._indices[id(variable)], _value(variable))
        recorder.publish_initial()

    def _carry(self) -> None:
        """Creation may have chosen otherwise than the whole lists, now known, say."""
        import numpy

        eager = _tf("eager.context").executing_eagerly()
        for j, value in self.recorder.carry(self.recorder.variables):
            variable = self._variables[j]
            if not numpy.array_equal(_value(variable), value):
                if self.recorder.get_series(0).steps or not eager:
                    continue
                variable.assign(value.astype(variable.dtype.as_numpy_dtype))
                if not self._tracing():
                    self.recorder.note("initial values were carried after the first forward pass")

    def _tracing(self) -> bool:
        return bool(getattr(self._local, "tracing", False))

    # Gradients ----------------------------------------------------------------------------------

    def _first(self, series: int, replica: int, kind: str, pairs: list[Any]) -> None:
        """Keep the gradients of the first execution."""
        known = [(g, self._indices.get(id(v))) for g, v in pairs]
        indices = [i for g, i in known if g is not None and i is not None]
        values = [_dense(g) for g, i in known if g is not None and i is not None]
        if not indices:
            return

        def keep(*arrays: Any) -> None:
            for index, value in zip(indices, arrays):
                if kind == "applied":
                    self._applied.add(index)
                    self.recorder.array("gradient", index, value)
                elif index not in self._applied:
                    parts = self._raw.setdefault(index, {})
                    parts.setdefault(replica, value)
                    self.recorder.array("gradient", index, sum(parts.values()))

        key = (kind, series * 1000 + replica)

        def wanted() -> bool:
            with self.recorder.lock:
                self._calls[key] = self._calls.get(key, 0) + 1
                return self._calls[key] == 1

        if _tf("eager.context").executing_eagerly():
            if wanted():
                keep(*[v.numpy() for v in values])
            return
        import numpy

        script, control = _tf("ops.script_ops"), _tf("ops.control_flow_ops")
        cond = getattr(control, "cond", None) or _tf("ops.cond").cond
        ops = _tf("framework.ops")
        with ops.device("/device:CPU:0"):
            asked = script.numpy_function(lambda: numpy.bool_(wanted()), [], "bool")
            asked.set_shape([])

            def store() -> Any:
                with ops.control_dependencies([self._callback(keep, values)]):
                    return _tf("framework.constant_op").constant(True)

            cond(asked, store, lambda: _tf("framework.constant_op").constant(False))

    def applied(self, pairs: Any) -> None:
        """An optimizer is about to apply these gradients, summed over replicas."""
        if (self._replica_id() or 0) != 0:
            return
        found = [(g, _variable(v)) for g, v in pairs]
        found = [(g, v) for g, v in found if g is not None and v is not None]
        owners = {self._indices[id(v)] for _, v in found if id(v) in self._indices}
        if owners:
            self._first(min(owners), 0, "applied", found)

    def patch_keras_optimizer(self, module: Any) -> None:
        """Where aggregated and clipped gradients are seen, in each kind of Keras optimizer."""
        for cls_name, name, position in (
            ("Optimizer", "_internal_apply_gradients", "argument"),  # Keras 2.11 to 2.15
            ("OptimizerV2", "_aggregate_gradients", "result"),  # before, and legacy
            ("TFOptimizer", "_all_reduce_sum_gradients", "result"),  # Keras 3
        ):
            cls = getattr(module, cls_name, None)
            if cls is not None and name in cls.__dict__:
                self._wrap_optimizer(cls, name, position)

    def _wrap_optimizer(self, cls: Any, name: str, position: str) -> None:
        original = cls.__dict__[name]

        @functools.wraps(original)
        def method(this: Any, grads_and_vars: Any, *args: Any, **options: Any) -> Any:
            pairs = list(grads_and_vars)
            if not self._in_tf2():
                return original(this, pairs, *args, **options)
            if position == "argument":
                self.applied(pairs)
                return original(this, pairs, *args, **options)
            found = original(this, pairs, *args, **options)
            both = list(found)
            if both and not isinstance(both[0], tuple):
                both = list(zip(both, [v for _, v in pairs]))
            self.applied(both)
            return found

        setattr(cls, name, method)

    def _in_tf2(self) -> bool:
        if _tf("eager.context").executing_eagerly():
            return True
        return bool(_tf("framework.ops").get_default_graph().building_function)

    # Around -------------------------------------------------------------------------------------

    def patch_function(self, module: Any) -> None:
        """After a ``tf.function``: nothing of the step is under way."""
        cls = module.Function
        call = cls.__call__

        @functools.wraps(call)
        def watched(this: Any, *args: Any, **options: Any) -> Any:
            outer = self._tracing()
            self._local.tracing = True
            if not outer and _tf("eager.context").executing_eagerly():
                self._batch(args)
            try:
                found = call(this, *args, **options)
            finally:
                self._local.tracing = outer
            if not outer and _tf("eager.context").executing_eagerly():
                self.recorder.check_enough()
            return found

        cls.__call__ = watched

    def patch_iterator(self, module: Any) -> None:
        cls = getattr(module, "OwnedIterator", None) or module.IteratorV2
        following = cls.__next__

        @functools.wraps(following)
        def __next__(this: Any) -> Any:
            found = following(this)
            if _tf("eager.context").executing_eagerly():
                self._batch(found)
                self.recorder.check_enough()
            return found

        cls.__next__ = __next__

    def _batch(self, values: Any) -> bool:
        """The examples of the first batch among the values of a step."""
        if isinstance(values, dict):
            values = list(values.values())
        if isinstance(values, (list, tuple)):
            return any(self._batch(value) for value in values)
        shape = getattr(values, "shape", None)
        try:
            self._last_batch = int(shape[0])  # type: ignore[index]
            return True
        except (TypeError, ValueError, IndexError):
            return False

    def called(self, inputs: Any) -> None:
        """A model's outermost call: its first input has the step's examples."""
        known = getattr(self._local, "examples", None)
        if not self._in_tf2() or not _taped() or (known is not None and self._visible(known)):
            return
        for tensor in _tf("util.nest").flatten(inputs):
            if (hasattr(tensor, "graph") or hasattr(tensor, "numpy")) and tensor.shape.ndims:
                shape = _tf("ops.array_ops").shape(tensor, out_type="int64")
                self._local.examples = shape[0]
                return

    def _visible(self, tensor: Any) -> bool:
        """Whether a tensor is of the graph that is being built (or eager, and so are we)."""
        if _tf("eager.context").executing_eagerly():
            return hasattr(tensor, "numpy")
        graph = _tf("framework.ops").get_default_graph()
        return getattr(tensor, "graph", None) is graph

    def _callback(self, function: Any, inputs: list[Any]) -> Any:
        import numpy

        def call(*arrays: Any) -> Any:
            with _tf("eager.context").eager_mode():
                function(*arrays)
            return numpy.bool_(True)

        with _tf("framework.ops").device("/device:CPU:0"):
            return _tf("ops.script_ops").numpy_function(call, inputs, "bool")

    def _parts(self, variable: Any) -> list[Any]:
        parts = getattr(variable, "_values", None)
        return list(parts) if isinstance(parts, (list, tuple)) else []

    def _read(self, kind: str, series: int | None = None) -> None:
        wanted = {i for key, n in self._series.items() if n == series for i in key}
        for index, variable in self._variables.items():
            if series is None or id(variable) in wanted:
                self.recorder.array(kind, index, _value(variable))

    def finish(self) -> None:
        with _tf("eager.context").eager_mode():
            self._read("final")
            for number in sorted(set(self._series.values())):
                series = self.recorder.get_series(number)
                if series.steps == 1 and "after_one" not in series.seen_first:
                    self._read("after_one", number)


def _tf(name: str) -> Any:
    import importlib
    import sys

    for package in ("tensorflow_core", "tensorflow"):
        module = sys.modules.get(f"{package}.python.{name}")
        if module is not None:
            return module
    return importlib.import_module(f"tensorflow.python.{name}")


def _replicas() -> int:
    try:
        return int(_tf("distribute.distribute_lib").get_strategy().num_replicas_in_sync)
    except (ImportError, AttributeError):
        context = _tf("distribute.distribution_strategy_context")
        return int(context.get_strategy().num_replicas_in_sync)


def _taped() -> bool:
    """Whether a gradient tape is recording."""
    try:
        return bool(_tf("eager.record").could_possibly_record())
    except ImportError:
        return bool(_tf("eager.tape").could_possibly_record())


def _variable(source: Any) -> Any:
    """The TensorFlow variable of a tape's source or an optimizer's target, or None."""
    inner = getattr(source, "_value", None)  # Keras 3 wraps it
    if inner is not None and hasattr(inner, "assign") and hasattr(source, "path"):
        inner._migrate_mgpu_path = source.path
        return inner
    return source if hasattr(source, "assign") and hasattr(source, "read_value") else None


def _value(variable: Any) -> Any:
    parts = getattr(variable, "_values", None)
    first = parts[0] if isinstance(parts, (list, tuple)) and parts else variable
    return first.numpy()


def _after(value: Any) -> Any:
    """The same value, not before the control dependencies in force."""
    return None if value is None else _tf("ops.array_ops").identity(value)


def _dense(gradient: Any) -> Any:
    return _tf("framework.ops").convert_to_tensor(gradient)
