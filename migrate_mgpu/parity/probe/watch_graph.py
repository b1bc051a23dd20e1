"""Training in graphs and sessions: TF1's, and TF2's under ``tensorflow.compat.v1``.

``watch_building`` knows the train ops. A ``Session.run`` that reaches one is a step: the
losses are fetched along with it, variables are read before and after the first one.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import re
from typing import Any

_SOURCES = {
    "IteratorGetNext",
    "IteratorGetNextSync",
    "MultiDeviceIteratorGetNextFromShard",
    "OptionalGetValue",
    "Placeholder",
    "PlaceholderV2",
    "PlaceholderWithDefault",
    "QueueDequeueManyV2",
    "QueueDequeueUpToV2",
    "QueueDequeueV2",
}
_RANDOM = re.compile(r"Random|Truncated|Multinomial|Stateless.*Random")
tools: Any = None  # graph_tools, which has no name to be imported by
building: Any = None  # watch_building, the same


class Plan:
    """What is fetched along with a step."""

    def __init__(self, train_ops: list[Any]) -> None:
        self.train_ops = train_ops
        # For each train op and place: the source operations of its examples.
        self.sources: dict[tuple[int, int], frozenset[Any]] = {}
        self.example_tensors: dict[Any, Any] = {}
        self.fetches: dict[Any, Any] = {}
        self.dropouts: dict[int, dict[str, Any]] = {}  # declared ones, whose rate is fetched


class GraphWatch:
    def __init__(
        self, recorder: Any, graph_tools: Any, watch_building: Any, built: Any, batches: Any
    ) -> None:
        global tools, building
        tools, building = graph_tools, watch_building
        self.recorder, self._built = recorder, built
        self._batches = batches
        self._last: tuple[Any, list[tuple[int, Any]]] | None = None
        # The same, also where its session is closed.
        self._trained: tuple[Any, list[tuple[int, Any]]] | None = None
        self._later: Any = None  # a session of the same graph that ran after it
        # Who made a first step: what its weights are is read before the next one.
        self._stepped: list[tuple[Any, list[tuple[int, Any]]]] = []
        # Variables that a run initializes, by its graph and what it wants.
        self._initialized: dict[Any, list[Any]] = {}
        self._begun: dict[Any, dict[str, Any]] = {}  # session -> what they got, by plain names
        self._chance: Any = None  # how a run is rounded otherwise

    def patch_session(self, module: Any) -> None:
        session = module.BaseSession
        run, close = session.run, session.close
        self._run = run

        @functools.wraps(run)
        def watched(
            this: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            plan = None
            state = getattr(this.graph, building.STATE, None)
            trains = state is not None and state.train_ops
            wanted: list[Any] = []
            if trains or self._batches.evaluating:
                try:
                    handler = module._FetchHandler(this.graph, fetches, {})
                    wanted = [t.op for t in handler.fetches()] + list(handler.targets())
                except (TypeError, ValueError):
                    pass  # TensorFlow will say what is wrong with them
            if trains:
                plan = self._plan(state, wanted, this)
            if plan is None and wanted and self._batches.evaluating:
                seen = self._batches.evaluation_fetches(wanted, this.graph, _SOURCES)
                if seen:
                    result, found = run(this, [fetches, seen], feed_dict, options, run_metadata)
                    self._batches.evaluated(found)
                    return result
            if plan is None:
                result = run(this, fetches, feed_dict, options, run_metadata)
                self._ran(this)
                if wanted and self._trained is None and self.recorder.options.get("publish"):
                    self._begin(this, wanted)
                return result
            self._before(this, plan)
            extra = self._extra(plan, this.graph)
            names = list(extra)
            tensors = [extra[name] for name in names]
            result, found = run(this, [fetches, tensors], feed_dict, options, run_metadata)
            fed = tools.fed_tensors(this.graph, feed_dict or {})
            self._after(this, plan, dict(zip(names, found)), fed)
            return result

        @functools.wraps(close)
        def closing(this: Any) -> None:
            if self._last is not None and self._last[0] is this:
                self.finish()
                self._last = None
            elif self._later is this:
                self._read_later()
            close(this)

        @functools.wraps(session.make_callable)
        def make_callable(
            this: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False
        ) -> Any:
            def call(*values: Any, **options: Any) -> Any:
                feed = dict(zip(feed_list or [], values))
                return this.run(fetches, feed, **options)

            return call

        session.run, session.close = watched, closing
        session.make_callable = make_callable

    def patch_keras_function(self, module: Any) -> None:
        """Keras 2 in graphs makes its own callables instead of ``Session.run``."""
        cls = getattr(module, "GraphExecutionFunction", None)
        if cls is None:
            return
        call = cls.__call__

        @functools.wraps(call)
        def watched(this: Any, inputs: Any) -> Any:
            graph = this.updates_op.graph
            state = getattr(graph, building.STATE, None)
            plan = session = None
            if state is not None and state.train_ops:
                wanted = [this.updates_op] + [t.op for t in this.outputs]
                session = module.get_session(inputs)
                plan = self._plan(state, wanted, session)
            if plan is None:
                return call(this, inputs)
            nest = tools.module("util.nest")
            values = nest.flatten(inputs, expand_composites=True)
            self._before(session, plan)
            extra = self._extra(plan, graph)
            fed: dict[Any, Any] = {}
            for tensor, value in zip(this.inputs, values):
                if value is None:
                    continue
                if hasattr(value, "op"):
                    extra[("fed", tensor)] = value
                else:
                    fed[tensor] = value
            found: dict[Any, Any] = {}
            own_fetches, own_callbacks = this.fetches, this.fetch_callbacks
            this.fetches = list(own_fetches) + list(extra.values())
            this.fetch_callbacks = _Callbacks(own_callbacks, found)
            try:
                result = call(this, inputs)
            finally:
                this.fetches, this.fetch_callbacks = own_fetches, own_callbacks
            by_name = {name: found[id(tensor)] for name, tensor in extra.items()}
            for name in [n for n in by_name if n[0] == "fed"]:
                fed[name[1]] = by_name.pop(name)
            self._after(session, plan, by_name, fed)
            return result

        cls.__call__ = watched

    def _plan(self, state: Any, wanted: list[Any], session: Any) -> Plan | None:
        key, graph = frozenset(wanted), session.graph
        if key not in state.plans:
            reached = tools.ancestors(wanted)
            found = [t for t in state.train_ops if t.operations & reached]
            plan = Plan(found) if found else None
            if plan is not None:
                self._built.number(state, functools.partial(self._resumes, session, state))
                self._plan_sources(plan, graph)
                random = sorted({op.type for op in reached if _RANDOM.search(op.type)})
                if random:
                    self.recorder.pin("random_operations", random)
            state.plans[key] = plan
        known: Plan | None = state.plans[key]
        return known

    def _resumes(self, session: Any, state: Any, model: int) -> bool:
        """Whether a graph's variables have the values that another one's training left them."""
        import numpy

        self.finish()
        variables = {v.name: v for train_op in state.train_ops for v in train_op.variables()}
        for variable in variables.values():
            at = self.recorder.variable(variable.name, variable.shape, "", model)
            left = self.recorder.arrays.get(f"final/{at}")
            part = tools.components(variable)[0]
            if left is not None and not numpy.array_equal(
                left, self._run(session, tools.reading(part))
            ):
                return False
        return True

    def _plan_sources(self, plan: Plan, graph: Any) -> None:
        for train_op in plan.train_ops:
            for place, loss in train_op.losses.items():
                if not graph.is_fetchable(loss):
                    self.recorder.note(f"a loss cannot be fetched: {loss.name}")
                    continue
                plan.fetches[("loss", train_op.index, place)] = loss
                above = tools.ancestors([loss.op], _SOURCES)
                for rate, entry in self._built.declared.open_rates:
                    if rate.op in above and graph.is_fetchable(rate):
                        plan.fetches[("dropout", id(entry))] = rate
                        plan.dropouts[id(entry)] = entry
                # A replica may wait for what another one takes of its own batches.
                taken = tools.ancestors([loss.op], _SOURCES, waits=False)
                sources = frozenset(op for op in taken if op.type in _SOURCES)
                plan.sources[train_op.index, place] = sources
                for op in sources:
                    usable = [t for t in op.outputs if tools.batched(t) and graph.is_fetchable(t)]
                    if usable and not op.type.startswith("Placeholder"):
                        tensor = min(usable, key=tools.size)
                        plan.fetches[("source", op)] = tensor

    def _extra(self, plan: Plan, graph: Any) -> dict[Any, Any]:
        extra = dict(plan.fetches)
        for train_op in plan.train_ops:
            extra.update(self._batches.fetches(plan, train_op, graph))
            if train_op.rate is not None and graph.is_fetchable(train_op.rate):
                extra["rate", train_op.index] = train_op.rate
            first = "gradient" not in self.recorder.get_series(train_op.index).seen_first
            if first or not train_op.losses:
                for replica, pairs in train_op.pairs.items():
                    for i, (gradient, _) in enumerate(pairs):
                        if gradient is not None:
                            key = ("gradient", train_op.index, replica, i)
                            for part in ("values", "indices"):
                                if hasattr(gradient, part):
                                    extra[key + (part,)] = getattr(gradient, part)
                            if not hasattr(gradient, "indices"):
                                extra[key + ("dense",)] = gradient
        return extra

    def _begin(self, session: Any, wanted: list[Any]) -> None:
        """Keep what a run's initializers gave: what is assigned later, before the first step, is
        something that the other program must do too."""
        key = (session.graph, frozenset(wanted))
        if key not in self._initialized:
            reached = tools.ancestors(wanted)
            self._initialized[key] = [
                v
                for v in session.graph.get_collection("trainable_variables")
                if v.dtype.is_floating and tools.assignment(tools.components(v)[0]) in reached
            ]
        variables = self._initialized[key]
        tensors = [tools.reading(tools.components(variable)[0]) for variable in variables]
        begun = self._begun.setdefault(session, {})
        for variable, value in zip(variables, self._run(session, tensors) if tensors else ()):
            begun[self.recorder._matching.plain(variable.name)] = value

    def _before(self, session: Any, plan: Plan) -> None:
        self._read_after_one()
        recorder = self.recorder
        state, model = getattr(session.graph, building.STATE), plan.train_ops[0].model
        graph_ops = [train_op for train_op in state.train_ops if train_op.model == model]
        variables = tools.in_creation_order(
            session.graph, [v for t in graph_ops for v in t.variables()]
        )
        order = tools.creation_order(session.graph)
        known = []
        for v in variables:
            place = order.get(v.name, len(order))
            index = recorder.variable(v.name, v.shape, v.dtype.base_dtype.name, model, place=place)
            known.append((index, v))
        first = "initial" not in recorder.get_series(plan.train_ops[0].index).seen_first
        if first:
            for train_op in graph_ops:
                recorder.get_series(train_op.index).seen_first.add("initial")
                moved = {v.name for v in train_op.variables()}
                recorder.trained[bool(train_op.losses)].append(
                    [index for index, v in known if v.name in moved]
                )
            recorder.unused += _unused(session.graph, variables)
            if recorder.carries and (model == 0 or recorder.reference_with(model)):
                for j, value in recorder.carry(recorder.variables):
                    for index, variable in known:
                        if index == j:
                            for part in tools.components(variable):
                                start = tools.assignment(part)
                                self._run(session, start, {start.inputs[1]: value})
        if recorder.options.get("rounded"):
            self._round(session, [v for _, v in known])
        if first:
            self._read(session, known, "initial")
            recorder.untrained += self._untrained(session, [v for _, v in known], model)
            if model == 0:
                recorder.frozen = self._frozen(session)
                recorder.begun = self._begun.get(session, {})
                self._begun = {}
            recorder.publish_initial()
        if self._last is not None and not {i for i, _ in self._last[1]} & {i for i, _ in known}:
            self.finish()  # what it trained before is of another model
        self._last = self._trained = (session, known)
        self._later = None
        for index, _ in known:
            recorder.arrays.pop(f"later/{index}", None)

    def _round(self, session: Any, trained: list[Any]) -> None:
        """Move every variable's numbers to their neighbours, up or down by chance: each step
        rounds anew what it is made of, and what an optimizer keeps."""
        import numpy

        if self._chance is None:
            self._chance = numpy.random.RandomState(self.recorder.options["rounded"])
        mine = {part.name for variable in trained for part in tools.components(variable)}
        for variable in session.graph.get_collection("variables"):
            for part in tools.components(variable):
                try:
                    value = self._run(session, tools.reading(part))
                except Exception:  # not initialised, or of no numbers
                    continue
                start = tools.assignment(part)
                if getattr(value, "dtype", numpy.dtype("O")).kind == "f" and len(start.inputs) > 1:
                    moved = _neighbours(value, self._chance, part.name in mine)
                    self._run(session, start, {start.inputs[1]: moved})

    def _after(self, session: Any, plan: Plan, found: dict[Any, Any], fed: dict[Any, Any]) -> None:
        import numpy

        recorder = self.recorder
        counts = {
            name[1]: numpy.shape(value)[0] for name, value in found.items() if name[0] == "source"
        }
        for tensor, value in fed.items():
            if numpy.ndim(value):
                counts[tensor.op] = numpy.shape(value)[0]
        self._batches.after(plan, found, fed)
        for number, entry in plan.dropouts.items():
            if entry["rate"] is None and ("dropout", number) in found:
                entry["rate"] = float(found["dropout", number])
        for train_op in plan.train_ops:
            series = recorder.get_series(train_op.index)
            series.combine = train_op.combine
            series.variables = series.variables or sorted(
                {
                    recorder.variable(v.name, v.shape, "", train_op.model)
                    for v in train_op.variables()
                }
            )
            counted: set[Any] = set()
            for place in sorted(train_op.losses):
                if ("loss", train_op.index, place) not in found:
                    continue
                sources = plan.sources[train_op.index, place]
                examples: int | None = None
                known = [counts[op] for op in sources if op in counts]
                if known:  # towers that split one batch: it is counted once
                    examples = 0 if sources in counted else int(max(known))
                    counted.add(sources)
                value = found["loss", train_op.index, place]
                recorder.loss(train_op.index, place, float(numpy.sum(value)), examples)
            if not train_op.losses:
                series.by_norm = True
                recorder.norm(train_op.index, self._totals(train_op, found).values())
            if ("rate", train_op.index) in found:
                recorder.rate(train_op.index, float(found["rate", train_op.index]))
            if "gradient" not in series.seen_first:
                series.seen_first.add("gradient")
                if not recorder.is_first_of(train_op.index):
                    continue
                for at, gradient in self._totals(train_op, found).items():
                    recorder.array("gradient", at, gradient)
                assert self._last is not None
                stepped = [(i, v) for i, v in self._last[1] if i in series.variables]
                self._stepped.append((self._last[0], stepped))
        recorder.check_enough()

    def _totals(self, train_op: Any, found: dict[Any, Any]) -> dict[int, Any]:
        """The gradients that were applied, dense, by their variables."""
        import numpy

        totals: dict[int, Any] = {}
        for replica, pairs in train_op.pairs.items():
            for i, (gradient, variable) in enumerate(pairs):
                if gradient is None:
                    continue
                key = ("gradient", train_op.index, replica, i)
                if key + ("dense",) in found:
                    value = found[key + ("dense",)]
                else:
                    values = found[key + ("values",)]
                    value = numpy.zeros(variable.shape.as_list(), values.dtype)
                    numpy.add.at(value, found[key + ("indices",)], values)
                at = self.recorder.variable(variable.name, variable.shape, "", train_op.model)
                totals[at] = totals[at] + value if at in totals else value
        return totals

    def _read(self, session: Any, known: list[tuple[int, Any]], kind: str) -> None:
        tensors = [tools.reading(tools.components(variable)[0]) for _, variable in known]
        for (index, _), value in zip(known, self._run(session, tensors)):
            self.recorder.array(kind, index, value)

    def _untrained(
        self, session: Any, trained: list[Any], model: int
    ) -> list[tuple[dict[str, Any], Any]]:
        """What could be trained, is not, and is used all the same, with its values: a fixed
        network, or the copy of one that an agent learns from."""
        graph, found = session.graph, []
        order = tools.creation_order(graph)
        for variable in _others(graph, trained):
            part = tools.components(variable)[0]
            if _is_used(part):
                try:
                    value = self._run(session, tools.reading(part))
                except Exception:  # it was not initialized
                    continue
                place = order[variable.name]
                entry = {"name": variable.name, "shape": variable.shape.as_list(), "place": place}
                found.append(({**entry, "model": model, "untrained": True}, value))
        return found

    def _frozen(self, session: Any) -> list[tuple[dict[str, Any], Any]]:
        """What is never trained, and is not all of one number, with its values: a slow copy."""
        import numpy

        graph, found = session.graph, []
        order = tools.creation_order(graph)
        trained = {v.name for v in graph.get_collection("trainable_variables")}
        for variable in graph.get_collection("variables"):
            part = tools.components(variable)[0]
            known = variable.shape.is_fully_defined() and variable.dtype.is_floating
            if variable.name in trained or not known or not _is_used(part):
                continue
            try:
                value = self._run(session, tools.reading(part))
            except Exception:  # it was not initialized
                continue
            if value.size > 1 and numpy.ptp(value):
                place = order.get(variable.name, len(order))
                shape = variable.shape.as_list()
                found.append(({"name": variable.name, "shape": shape, "place": place}, value))
        return found

    def _read_after_one(self) -> None:
        while self._stepped:
            session, stepped = self._stepped.pop()
            if not getattr(session, "_closed", False):
                self._read(session, stepped, "after_one")

    def finish(self) -> None:
        """Read what was trained last, where its session is still open."""
        self._read_after_one()
        if self._last is not None and not getattr(self._last[0], "_closed", False):
            self._read(self._last[0], self._last[1], "final")
        self._read_later()

    def _ran(self, session: Any) -> None:
        """A session ran something that trains nothing: it may be one after that which trained."""
        if self._trained is not None and self._trained[0] is not session:
            if self._trained[0].graph is session.graph:
                self._later = session

    def _read_later(self) -> None:
        """The values that the variables have in a later session: of a checkpoint, as a rule."""
        session, self._later = self._later, None
        if session is None or self._trained is None or getattr(session, "_closed", False):
            return
        try:
            self._read(session, self._trained[1], "later")
        except tools.module("framework.errors").OpError:
            pass  # they have none there


def _unused(graph: Any, trained: list[Any]) -> list[dict[str, Any]]:
    """Variables that could be trained, and that nothing in the graph uses."""
    return [
        {"name": v.name.partition(":")[0], "shape": v.shape.as_list()}
        for v in _others(graph, trained)
        if not any(map(_is_used, tools.components(v)))
    ]


def _others(graph: Any, trained: list[Any]) -> list[Any]:
    """Variables of numbers that could be trained beside those that are."""
    made = graph.get_collection("trainable_variables")
    names = {part.name for v in trained for part in [v, *tools.components(v)]}
    known = [v for v in made if not names & {part.name for part in [v, *tools.components(v)]}]
    return [v for v in known if v.shape.is_fully_defined() and v.dtype.is_floating]


# What takes a variable's value, or its handle, and computes nothing of it.
_NO_USE = ("Assign", "AssignVariableOp", "IsVariableInitialized", "SaveV2", "VarIsInitializedOp")
_READS = ("Identity", "ReadVariableOp")


def _is_used(variable: Any) -> bool:
    taken = [op for output in variable.op.outputs for op in output.consumers()]
    for op in list(taken):
        if op.type in _READS:
            taken.remove(op)
            taken += [user for output in op.outputs for user in output.consumers()]
    return any(op.type not in _NO_USE for op in taken)


def _neighbours(value: Any, rng: Any, trained: bool) -> Any:
    """The next numbers of the type. A trained zero has the rounding of what it is added to; of any
    other variable, such as a counter or an optimizer's moment, a whole number is exact."""
    import numpy

    up = rng.random_sample(value.shape) < 0.5
    limit = numpy.asarray(numpy.inf, value.dtype)
    moved = numpy.nextafter(value, numpy.where(up, limit, -limit))
    if not trained:
        return numpy.where(value == numpy.round(value), value, moved).astype(value.dtype)
    size = (float(numpy.abs(value).max()) if value.size else 0.0) or 1.0
    size *= float(numpy.finfo(value.dtype).eps)
    return numpy.where(value == 0, numpy.where(up, size, -size), moved).astype(value.dtype)


class _Callbacks(dict):  # type: ignore[type-arg]
    """Keras' ``fetch_callbacks``: the program's own, and ours for every other fetch."""

    def __init__(self, own: dict[Any, Any], found: dict[int, Any]) -> None:
        super().__init__(own)
        self._found = found

    def __contains__(self, fetch: Any) -> bool:
        return True

    def __getitem__(self, fetch: Any) -> Any:
        def keep(value: Any) -> None:
            self._found[id(fetch)] = value
            if dict.__contains__(self, fetch):
                dict.__getitem__(self, fetch)(value)

        return keep
