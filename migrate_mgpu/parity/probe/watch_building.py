"""What a graph trains: losses that are differentiated, gradients that are applied.

``tf.gradients`` shows every loss (each tower's, each replica's), ``apply_gradients``
every train op. No operation is added to the program's graph, so operation seeds and
finalized graphs are as they were; an update gets a control dependency on its losses.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable

tools: Any = None  # graph_tools, which has no name to be imported by
STATE = "_migrate_mgpu_parity"  # the attribute of a graph that holds its GraphState


class TrainOp:
    """One ``apply_gradients``, of all replicas."""

    def __init__(self, place: int, combine: str) -> None:
        self.place = place  # among the graph's
        self.index: int | None = None  # of its series, once the graph trains
        self.model: int | None = None  # then, too
        self.combine = combine
        self.optimizer: Any = None
        self.losses: dict[int, Any] = {}  # tower or replica -> tensor
        self.pairs: dict[int, list[Any]] = {}
        self.operations: set[Any] = set()
        self.rate: Any = None  # the tensor of the learning rate

    def variables(self) -> list[Any]:
        return [v for pairs in self.pairs.values() for g, v in pairs if g is not None]


class GraphState:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, list[Any]]] = []  # tf.gradients: loss, gradients
        self.train_ops: list[TrainOp] = []
        self.estimator: str | None = None  # whose graph it is, by its model_dir
        self.counts: dict[int | None, int] = {}
        self.plans: dict[Any, Any] = {}


class GraphBuilding:
    def __init__(self, recorder: Any, graph_tools: Any, declared: Any) -> None:
        global tools
        tools = graph_tools
        self.recorder = recorder
        self.declared = declared
        self._local = threading.local()

    def patch_gradients(self, module: Any) -> None:
        original = module._GradientsHelper

        @functools.wraps(original)
        def _GradientsHelper(ys: Any, xs: Any, *args: Any, **options: Any) -> Any:
            found = original(ys, xs, *args, **options)
            losses = list(ys) if isinstance(ys, (list, tuple)) else [ys]
            graph = getattr(losses[0], "graph", None) if losses else None
            if graph is not None and not graph.building_function:
                state_of(graph).calls.append((losses[0], [g for g in found if g is not None]))
            return found

        module._GradientsHelper = _GradientsHelper

    def patch_optimizer(self, module: Any, name: str = "Optimizer") -> None:
        """``apply_gradients`` of the class, and of user classes that override it."""
        base = getattr(module, name)
        self._wrap_apply(base, module)
        original = base.__init__

        @functools.wraps(original)
        def __init__(optimizer: Any, *args: Any, **options: Any) -> None:
            for cls in type(optimizer).__mro__:
                if "apply_gradients" in cls.__dict__ and issubclass(cls, base):
                    self._wrap_apply(cls, module)
            original(optimizer, *args, **options)

        base.__init__ = __init__

    def _wrap_apply(self, cls: Any, module: Any) -> None:
        original = cls.__dict__["apply_gradients"]
        if getattr(original, STATE, False):
            return

        @functools.wraps(original)
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **options: Any) -> Any:
            ops = tools.module("framework.ops")
            graph = ops.get_default_graph()
            in_graph = not tools.module("eager.context").executing_eagerly()
            if not in_graph or graph.building_function:
                return original(optimizer, grads_and_vars, *args, **options)
            pairs = list(grads_and_vars)
            if getattr(self._local, "leaves", None) is not None:
                return self._innermost(original, optimizer, pairs, args, options)
            losses = _linked(state_of(graph), pairs)
            # TF1's variables may be overwritten while a loss that no gradient needs still
            # reads them: what is fetched must be the loss from before the step.
            before = [loss.op for loss in losses if graph.is_fetchable(loss)]
            self._local.leaves = []
            try:
                with graph.control_dependencies(before):
                    result = self._innermost(original, optimizer, pairs, args, options)
                pairs = self._local.leaves
            finally:
                self._local.leaves = None
            self._applied(graph, pairs, losses, result, optimizer)
            return result

        setattr(apply_gradients, STATE, True)
        cls.apply_gradients = apply_gradients

    def _innermost(
        self, original: Any, optimizer: Any, pairs: list[Any], args: Any, options: Any
    ) -> Any:
        """Call it, and keep the gradients that are really applied: an optimizer that clips
        or scales hands them to the ``apply_gradients`` of its base class or of another."""
        leaves = self._local.leaves
        before = len(leaves)
        result = original(optimizer, pairs, *args, **options)
        if len(leaves) == before:
            leaves.extend(pairs)
        return result

    def _applied(
        self, graph: Any, pairs: list[Any], losses: list[Any], result: Any, optimizer: Any
    ) -> None:
        self.recorder.trains()
        state = state_of(graph)
        state.estimator = state.estimator or self.recorder.estimator
        replica = tools.replica_id()
        index = state.counts.get(replica, 0)
        state.counts[replica] = index + 1
        if replica is None:
            index = len(state.train_ops)
        if index == len(state.train_ops):
            shares = replica is not None or _divided(graph) or _added(state, pairs)
            state.train_ops.append(TrainOp(index, "sum" if shares else "mean"))
        train_op = state.train_ops[index]
        train_op.pairs[replica or 0] = pairs
        train_op.rate = self.declared.rate_tensor(optimizer)
        train_op.optimizer = optimizer
        train_op.operations |= set(tools.operations(result))
        for place, loss in enumerate(losses):
            train_op.losses[place if replica is None else replica] = loss
        state.plans.clear()

    def number(self, state: GraphState, resumes: Callable[[int], bool]) -> None:
        """The numbers of a graph's models and series, in the order in which graphs train: one
        that is only built, as for a first checkpoint, has none.

        What trains later and has no variable of what trained before is of another model.

        Args:
          resumes: whether it goes on with the variables of a model of another graph.
        """
        recorder = self.recorder
        new = [train_op for train_op in state.train_ops if train_op.index is None]
        names = {v.name for train_op in new for v in train_op.variables()}
        known = [train_op for train_op in state.train_ops if train_op not in new]
        model = next(
            (t.model for t in known if names & {v.name for v in t.variables()} or state.estimator),
            None,
        )
        if new and model is None:
            model = recorder.model(state.estimator, sorted(names), resumes)
        for train_op in new:
            train_op.model = model
            train_op.index = recorder.series_number(model, train_op.place)
            self.declared.optimizer(train_op.index, train_op.optimizer, in_graph=True)


def state_of(graph: Any) -> GraphState:
    found = getattr(graph, STATE, None)
    if found is None:
        found = GraphState()
        setattr(graph, STATE, found)
    return found


def _divided(graph: Any) -> bool:
    """Whether `TowerOptimizer` has divided the towers' losses by their number."""
    states = graph.get_collection("replicate_model_fn_graph_states")
    return any(getattr(one, "number_of_towers", 1) > 1 for one in states)


def _linked(state: GraphState, pairs: list[Any]) -> list[Any]:
    """The losses whose gradients are applied, in the order of their ``tf.gradients`` calls."""
    owners, found = _way(state, pairs)
    hit = {owners[op] for op in found if op in owners}
    return [state.calls[i][0] for i in sorted(hit)]


def _added(state: GraphState, pairs: list[Any]) -> bool:
    """Whether the towers' gradients are added up: nothing on their way divides."""
    owners, found = _way(state, pairs)
    kinds = {op.type for op in found if op not in owners}
    return "AddN" in kinds and not kinds & {"Mean", "RealDiv", "Div", "Mul"}


def _way(state: GraphState, pairs: list[Any]) -> tuple[dict[Any, int], set[Any]]:
    """The operations that give gradients, with the number of their ``tf.gradients`` call, and
    those between them and what is applied."""
    owners: dict[Any, int] = {}
    for i, (_, gradients) in enumerate(state.calls):
        for gradient in gradients:
            owners[getattr(gradient, "values", gradient).op] = i
    begin = [getattr(g, "values", g).op for g, _ in pairs if g is not None and not callable(g)]
    return owners, tools.ancestors(begin, stop=owners)
