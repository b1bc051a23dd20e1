"""Training with gradient tapes: Keras fit, custom train steps, and loops of one's own.

Every such step takes a tape's gradient of a loss with respect to variables, on each
replica, eagerly or while a ``tf.function`` is traced; there a host callback delivers
the numbers of each execution. Optimizers show the gradients after aggregation and
clipping.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import Any

tools: Any = None  # eager_tools, which has no name to be imported by


class EagerWatch:
    def __init__(
        self,
        recorder: Any,
        eager_tools: Any,
        replica_id: Any,
        creation: Any,
        declared: Any,
        batches: Any,
        examples: Any,
    ) -> None:
        global tools
        tools = eager_tools
        self.recorder = recorder
        self._replica_id = replica_id
        self._creation = creation
        self._declared, self._batches = declared, batches
        batches.watch = self
        self.examples = examples
        self._local = threading.local()
        # By the ids of their variables, and of an optimizer: 0 is the first one that applies
        # gradients of these.
        self._series: dict[tuple[frozenset[int], int], int] = {}
        self._first_optimizers: dict[int, Any] = {}  # by series
        self._optimizers: list[Any] = []  # kept, for their ids
        # Graph and series as it was traced -> the series of the optimizer that this graph uses.
        self._traced: dict[tuple[int, int], int] = {}
        self._variables: dict[int, Any] = {}  # index -> variable
        self._models = 0
        self._indices: dict[int, int] = {}  # id of a variable -> index
        self._raw: dict[int, dict[int, Any]] = {}  # index -> replica -> gradient
        self._applied: set[int] = set()
        self._calls: dict[tuple[str, int], int] = {}
        self._graphs: dict[int, Any] = {}  # those in which an optimizer applies gradients
        # By series and replica: how many steps its optimizer had made where a function that applies
        # no gradients computed some.
        self._begun: dict[tuple[int, int], int] = {}
        self._function: Any = None  # that was called last
        self._differentiate: list[Any] = []  # functions that are known to do it

    # Steps --------------------------------------------------------------------------------------

    def patch_tape(self, module: Any) -> None:
        tape = module.GradientTape
        original = tape.gradient

        @functools.wraps(original)
        def gradient(this: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
            found = original(this, target, sources, *args, **options)
            graph = tools.tf("framework.ops").get_default_graph()
            eager = tools.tf("eager.context").executing_eagerly()
            if not eager and not graph.building_function:
                return found  # a v1 graph: the other watcher's
            nest = tools.tf("util.nest")
            pairs = [
                (g, tools.variable(v))
                for g, v in zip(nest.flatten(found), nest.flatten(sources))
                if g is not None and tools.variable(v) is not None
            ]
            if not pairs:
                return found  # no training: a gradient penalty, a saliency map
            return self._step(target, found, pairs, nest)

        tape.gradient = gradient

    def _step(self, target: Any, found: Any, pairs: list[Any], nest: Any) -> Any:
        self.recorder.trains()
        if tools.remote():
            self.recorder.unseen = "its workers train with parameter servers"
            return found
        variables = [v for _, v in pairs]
        series = self._series_of(variables)
        replica = self._replica_id() or 0
        eager = tools.tf("eager.context").executing_eagerly()
        graph = None if eager else tools.tf("framework.ops").get_default_graph()
        math = tools.tf("ops.math_ops")
        losses = [math.cast(math.reduce_sum(t), "float64") for t in nest.flatten(target)]
        loss = losses[0] if len(losses) == 1 else math.add_n(losses)
        examples = self.examples.take()
        seen = self._batches.seen()
        alone = tools.replicas() == 1

        def note(value: Any, count: Any) -> None:
            count = int(count)
            # A layer may be given more rows than the step has examples: parts of each of them.
            if alone and (count < 0 or 0 < max(self.examples.lengths, default=0) < count):
                count = self.examples.handed
                self.recorder.get_series(series).lengths |= self.examples.lengths
            elif alone and len(self.examples.lengths) > 1 and count in self.examples.lengths:
                self.recorder.get_series(series).lengths |= self.examples.lengths
            self._note(series, replica, float(value), count, graph)

        if eager:
            note(loss.numpy(), examples.numpy())
            self._first(series, replica, "raw", pairs)
            self._batches.keep_seen(series, replica, seen)
            return found
        ops = tools.tf("framework.ops")
        done = self._callback(note, [loss, examples])
        # Before the gradients: the variables are still those of the step's begin.
        with ops.control_dependencies([done]):
            found = nest.map_structure(tools.after, found, expand_composites=True)
        self._first(series, replica, "raw", pairs)
        self._batches.keep_seen(series, replica, seen)
        return found

    def _note(self, series: int, replica: int, loss: float, examples: int, graph: Any) -> None:
        recorder = self.recorder
        series = self._traced.get((id(graph), series), series)
        known = recorder.get_series(series)
        for number in sorted(set(self._series.values())) if replica == 0 else ():
            other = recorder.get_series(number)
            shared = number == series or (
                set(other.variables) & set(known.variables)  # another optimizer moves them next
                and set(other.variables) <= self._applied
            )
            if other.steps >= 1 and shared:
                self._read_after_one(number)
        if known.by_norm:
            return  # what is differentiated is one part of a step, or of none
        if replica == 0:
            self._batches.keep_taken(series)
        if graph is not None and all(one is not self._function for one in self._differentiate):
            self._differentiate.append(self._function)
        noted = recorder.loss(series, replica, loss, None if examples < 0 else examples)
        if noted and graph is not None and id(graph) not in self._graphs:
            made = self._declared.steps(series)
            if made is not None:
                self._begun[series, replica] = made
        if replica == 0:
            self._declared.rate(series)

    def _begin(self) -> None:
        """A further step begins: what it does first, such as clipping, is no part of the first."""
        for number in set(self._series.values()):
            series = self.recorder.get_series(number)
            if series.steps == 1 and set(series.variables) <= self._applied:
                self._read_after_one(number)

    def _leave_out(self) -> None:
        """What a function differentiated is no step where nothing applied the gradients.

        They may be computed for a summary alone: the function applies none, and the optimizer
        has made no step until one is called that differentiates again.
        """
        while self._begun:
            (series, replica), made = self._begun.popitem()
            if self._declared.steps(series) == made:
                self.recorder.no_step(series, replica)

    def _series_of(self, variables: list[Any]) -> int:
        key = frozenset(id(v) for v in variables), 0
        with self.recorder.lock:
            if key not in self._series:
                resumed = self._resumed(variables)
                if resumed is not None:
                    self._series[key] = resumed
                    return resumed
                number = self._series[key] = len(set(self._series.values()))
                self._register(variables)
                indices = sorted(self._indices[id(v)] for v in variables)
                entry = self.recorder.get_series(number)
                entry.variables = indices
                entry.by_norm = self.recorder.goes_by_norm(indices)
            return self._series[key]

    def _resumed(self, variables: list[Any]) -> int | None:
        """The series that goes on with other variables: those of a new model, restored from
        what was saved of one that was trained."""
        if any(id(variable) in self._indices for variable in variables):
            return None
        for number in sorted(set(self._series.values())):
            series = self.recorder.get_series(number)
            trained = [self._variables[i] for i in series.variables] if series.steps else []
            with tools.tf("framework.ops").init_scope():
                pairs = self._creation.restored(trained, variables)
            for before, variable in pairs:
                index = self._indices[id(variable)] = self._indices[id(before)]
                self._variables[index] = variable
            if pairs:
                return number
        return None

    def _register(self, variables: list[Any]) -> None:
        recorder = self.recorder
        model = self._model_of(variables)
        new = [v for v in variables if id(v) not in self._indices]
        for variable in sorted(new, key=self._creation.place):
            name = given = tools.name(variable)
            known = {v["name"] for v in recorder.variables}
            plain = recorder._matching.plain
            n = self._creation.same_name(variable, plain)  # Keras 3 names each "kernel"
            name = f"{plain(name)}_{n}" if n else name
            while plain(name) in known:
                n += 1
                name = f"{plain(tools.name(variable))}_{n}"
            shape = variable.shape.as_list()
            more = {"alike": [plain(given), n], "place": self._creation.place(variable)}
            index = recorder.variable(name, shape, variable.dtype.name, model, **more)
            self._indices[id(variable)] = index
            self._variables[index] = variable
        with tools.tf("framework.ops").init_scope():
            if recorder.carries:
                trained = [(recorder.variables[self._indices[id(v)]], v) for v in variables]
                self._creation.carry(trained, self._tracing())
                recorder.carry(recorder.variables)
                if model:
                    later = {self._indices[id(v)]: v for v in new}
                    self._creation.carry_later(model, later, self._tracing())
            for variable in new:
                recorder.array("initial", self._indices[id(variable)], tools.value(variable))
            self._publish()

    def _model_of(self, variables: list[Any]) -> int:
        """The number of the model whose variables these are; a new one where none is known."""
        for variable in variables:
            if id(variable) in self._indices:
                entry = self.recorder.variables[self._indices[id(variable)]]
                return int(entry["model"])
        self._models += 1
        return self._models - 1

    def _publish(self) -> None:
        """For the target, all that was made: a second optimizer's first step comes later."""
        listed = self._creation.known_values()
        self.recorder.publish_initial(listed or None)

    def _tracing(self) -> bool:
        return bool(getattr(self._local, "tracing", False))

    # Gradients ----------------------------------------------------------------------------------

    def _first(self, series: int, replica: int, kind: str, pairs: list[Any]) -> None:
        """Keep the gradients of the first execution."""
        known = [(g, self._indices.get(id(v))) for g, v in pairs]
        indices = [i for g, i in known if g is not None and i is not None]
        values = [tools.dense(g) for g, i in known if g is not None and i is not None]
        if not indices:
            return

        def keep(*arrays: Any) -> None:
            for index, value in zip(indices, arrays):
                if kind == "applied":
                    self._applied.add(index)
                    self.recorder.summed.add(index)
                    self.recorder.array("gradient", index, value)
                elif index not in self._applied:
                    parts = self._raw.setdefault(index, {})
                    parts.setdefault(replica, value)
                    self.recorder.array("gradient", index, sum(parts.values()))

        key = (kind, series * 1000 + replica, tuple(indices))  # optimizers may share variables

        self._times(key, values, keep)

    def _times(self, key: Any, values: list[Any], keep: Any, most: int | None = 1) -> None:
        """Give the values of the first executions to ``keep``, or of all."""

        def wanted() -> bool:
            with self.recorder.lock:
                self._calls[key] = self._calls.get(key, 0) + 1
                return most is None or self._calls[key] <= most

        if tools.tf("eager.context").executing_eagerly():
            if wanted():
                keep(*[v.numpy() for v in values])
            return
        import numpy

        script, control = tools.tf("ops.script_ops"), tools.tf("ops.control_flow_ops")
        cond = getattr(control, "cond", None) or tools.tf("ops.cond").cond
        ops = tools.tf("framework.ops")
        with ops.device("/device:CPU:0"):
            asked = script.numpy_function(lambda: numpy.bool_(wanted()), [], "bool")
            asked.set_shape([])

            def store() -> Any:
                with ops.control_dependencies([self._callback(keep, values)]):
                    return tools.tf("framework.constant_op").constant(True)

            cond(asked, store, lambda: tools.tf("framework.constant_op").constant(False))

    def applied(self, pairs: Any, optimizer: Any = None) -> None:
        """An optimizer is about to apply these gradients, summed over replicas."""
        if tools.tf("eager.context").executing_eagerly():
            self._begun.clear()  # a function may have given these to who applies them
        else:
            graph = tools.tf("framework.ops").get_default_graph()
            self._graphs[id(graph)] = graph
        if (self._replica_id() or 0) != 0:
            return
        found = [(g, tools.variable(v)) for g, v in pairs]
        found = [(g, v) for g, v in found if g is not None and v is not None]
        if found and self.recorder.carries and self.recorder.reference()["trained"][False]:
            self._by_norm(found)
        owners = {self._indices[id(v)] for _, v in found if id(v) in self._indices}
        if owners:
            self._first(min(owners), 0, "applied", found)
            series = self._applied_series(found, optimizer)
            self._declared.optimizer(series, optimizer)
            if tools.tf("eager.context").executing_eagerly():
                self._declared.rate(series)

    def _by_norm(self, found: list[Any]) -> None:
        """Note the steps that the reference has no losses for."""
        known = [n for (ids, _), n in self._series.items() if {id(v) for _, v in found} <= ids]
        self.recorder.trains()
        number = known[0] if known else self._series_of([v for _, v in found])
        if not self.recorder.get_series(number).by_norm:
            return
        function = self._function

        def note(*gradients: Any) -> None:
            if function is not None and all(one is not function for one in self._differentiate):
                self._differentiate.append(function)  # the next call begins a further step
            self.recorder.norm(number, gradients)
            self._declared.rate(number)

        values = [tools.dense(g) for g, _ in found]
        self._times(("norm", number, id(found)), values, note, most=None)

    def _applied_series(self, found: list[Any], optimizer: Any) -> int:
        """The series of what is applied: a second optimizer of the same variables has its own,
        where a graph says which losses are its."""
        variables = frozenset(id(v) for _, v in found)
        series = self._series.get((variables, 0))
        if series is None:
            least = min(self._indices[i] for i in variables if i in self._indices)
            known = id(self._variables[least])
            return next((n for (ids, _), n in self._series.items() if known in ids), 0)
        if tools.tf("eager.context").executing_eagerly() or optimizer is None:
            return series
        # A model that is compiled anew goes on: an Estimator of its folder does.
        function = getattr(self._function, "python_function", None)
        if "keras" in str(getattr(function, "__module__", "")):
            return series
        if self._first_optimizers.setdefault(series, optimizer) is optimizer:
            return series
        with self.recorder.lock:
            key = variables, id(optimizer)
            if key not in self._series:
                self._optimizers.append(optimizer)
                number = self._series[key] = len(set(self._series.values()))
                self.recorder.get_series(number).variables = list(
                    self.recorder.get_series(series).variables
                )
        graph = tools.tf("framework.ops").get_default_graph()
        self._traced[id(graph), series] = self._series[key]
        return self._series[key]

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
            if not tools.in_tf2():
                return original(this, pairs, *args, **options)
            if position == "argument":
                self.applied(pairs, this)
                return original(this, pairs, *args, **options)
            found = original(this, pairs, *args, **options)
            both = list(found)
            if both and not isinstance(both[0], tuple):
                both = list(zip(both, [v for _, v in pairs]))
            self.applied(both, this)
            return found

        setattr(cls, name, method)

    # Around -------------------------------------------------------------------------------------

    def patch_function(self, module: Any) -> None:
        """After a ``tf.function``: nothing of the step is under way."""
        cls = module.Function
        call = cls.__call__

        @functools.wraps(call)
        def watched(this: Any, *args: Any, **options: Any) -> Any:
            outer = self._tracing()
            self._local.tracing = True
            if not outer and tools.tf("eager.context").executing_eagerly():
                self._function = this
                if any(one is this for one in self._differentiate):
                    self._leave_out()
                    self._begin()
                given = _as_declared(this, args, options)
                self.examples.note(given)
                self._batches.taken(given)
            try:
                found = call(this, *args, **options)
            finally:
                self._local.tracing = outer
            if not outer and tools.tf("eager.context").executing_eagerly():
                self.recorder.check_enough()
            return found

        cls.__call__ = watched

    def patch_iterator(self, module: Any) -> None:
        cls = getattr(module, "OwnedIterator", None) or module.IteratorV2
        following = cls.__next__

        @functools.wraps(following)
        def __next__(this: Any) -> Any:
            found = following(this)
            if tools.tf("eager.context").executing_eagerly():
                self.examples.note(found)
                self._batches.taken(found)
                self.recorder.check_enough()
            return found

        cls.__next__ = __next__

    def called(self, inputs: Any) -> None:
        """A model's outermost call: its first input has the step's examples."""
        if tools.in_tf2():
            self._batches.called(inputs)
        if tools.in_tf2() and tools.taped():
            self.examples.count(inputs)

    def _callback(self, function: Any, inputs: list[Any]) -> Any:
        import numpy

        def call(*arrays: Any) -> Any:
            with tools.tf("eager.context").eager_mode():
                function(*arrays)
            return numpy.bool_(True)

        with tools.tf("framework.ops").device("/device:CPU:0"):
            return tools.tf("ops.script_ops").numpy_function(call, inputs, "bool")

    def _read_after_one(self, series: int) -> None:
        seen = self.recorder.get_series(series).seen_first
        if "after_one" not in seen:
            seen.add("after_one")
            if self.recorder.is_first_of(series):
                self._read("after_one", series)

    def _read(self, kind: str, series: int | None = None) -> None:
        wanted = {i for key, n in self._series.items() if n == series for i in key[0]}
        for index, variable in self._variables.items():
            if series is None or id(variable) in wanted:
                self.recorder.array(kind, index, tools.value(variable))

    def finish(self) -> None:
        with tools.tf("eager.context").eager_mode():
            self._leave_out()
            self._read("final")
            self.recorder.unused += self._creation.unused(set(self._indices))
            for number in sorted(set(self._series.values())):
                series = self.recorder.get_series(number)
                if series.steps == 1:
                    self._read_after_one(number)


def _as_declared(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """What a `tf.function` is given, as its signature declares it: rows in a list may be one
    batch."""
    import numpy

    signature = function.input_signature
    if signature is None:
        return [*args, *options.values()]
    names = list(inspect.signature(function.python_function).parameters)
    declared = dict(zip(names[-len(signature) :], signature))
    found = []
    for name, value in (*zip(declared, args), *options.items()):
        if isinstance(value, (list, tuple)) and hasattr(declared.get(name), "dtype"):
            with contextlib.suppress(ValueError):  # TensorFlow says what it lacks
                value = numpy.array(value)
        found.append(value)
    return found
