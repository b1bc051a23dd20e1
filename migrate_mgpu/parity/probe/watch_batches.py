"""What the first batches hold, and what the first loss is made of.

Of each example of the first steps the sum over its elements: enough to see whether both
sides were given the same examples, in the same order and scale, wherever a batch is split.
Of the first step, the logits and labels of a softmax cross-entropy.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

MOST_STEPS = 8
MOST_EVALUATED = 64  # batches of evaluations
MOST_ELEMENTS = 100_000  # of the logits or labels of a step
_ENTROPY = ("SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")


class Batches:
    def __init__(self, recorder: Any, tools: Any, eager_tools: Any) -> None:
        self.recorder = recorder
        self._tools, self._eager = tools, eager_tools
        self._local = threading.local()
        self._evaluated = 0
        self._taken: dict[str, Any] = {}
        self.watch: Any = None  # the EagerWatch
        self.evaluating = False

    def _keep_rows(self, kind: str, series: int, place: int, step: int, n: Any, v: Any) -> None:
        found = rows(v)
        if found is not None:
            self.recorder.arrays[f"{kind}/{series}/{place}/{step}/{n}"] = found

    def _keep_small(self, kind: str, series: int, place: int, value: Any) -> None:
        import numpy

        value = numpy.asarray(value)
        if value.size <= MOST_ELEMENTS and value.dtype.kind in "fiub":
            self.recorder.arrays[f"{kind}/{series}/{place}"] = value

    # Graphs -----------------------------------------------------------------------------------

    def fetches(self, plan: Any, train_op: Any, graph: Any) -> dict[Any, Any]:
        """What a step of a graph fetches for this."""
        series = self.recorder.get_series(train_op.index)
        if series.steps >= MOST_STEPS:
            return {}
        found: dict[Any, Any] = {}
        counted: set[Any] = set()
        for place in sorted(train_op.losses):
            sources = plan.sources.get((train_op.index, place), frozenset())
            for n, op in enumerate(sorted(sources - counted, key=lambda op: str(op.name))):
                for k, tensor in enumerate(op.outputs):
                    fed = op.type.startswith("Placeholder")
                    if not fed and self._tools.batched(tensor) and graph.is_fetchable(tensor):
                        found["rows", train_op.index, place, f"{n}.{k}"] = tensor
            counted |= sources
        if series.steps == 0:
            for place, loss in train_op.losses.items():
                found.update(self._parts(train_op.index, place, loss, graph))
        return found

    def _parts(self, index: int, place: int, loss: Any, graph: Any) -> dict[Any, Any]:
        reached = self._tools.ancestors([loss.op])
        found: dict[Any, Any] = {}
        entropies = [op for op in reached if op.type in _ENTROPY]
        if len(entropies) == 1 and graph.is_fetchable(entropies[0].outputs[0]):
            found["logits", index, place, 0] = entropies[0].inputs[0]
            found["labels", index, place, 0] = entropies[0].inputs[1]
        terms = [t for t in graph.get_collection("regularization_losses") if t.op in reached]
        for n, term in enumerate(terms):
            if graph.is_fetchable(term):
                found["regularization", index, place, n] = term
        return found

    def after(self, plan: Any, found: dict[Any, Any], fed: dict[Any, Any]) -> None:
        """Keep what a step has fetched, and what was fed to it."""
        totals: dict[tuple[int, int], float] = {}
        for name, value in found.items():
            if name[0] == "rows":
                step = self.recorder.get_series(name[1]).steps
                self._keep_rows("rows", name[1], name[2], step, name[3], value)
            elif name[0] in ("logits", "labels"):
                self._keep_small(name[0], name[1], name[2], value)
            elif name[0] == "regularization":
                totals[name[1:3]] = totals.get(name[1:3], 0.0) + float(value)
        for (index, place), total in totals.items():
            self.recorder.declares["regularization"][f"{index}/{place}"] = total
        for train_op in plan.train_ops:
            self._fed(plan, train_op, fed)

    def _fed(self, plan: Any, train_op: Any, fed: dict[Any, Any]) -> None:
        step = self.recorder.get_series(train_op.index).steps
        if step >= MOST_STEPS:
            return
        counted: set[Any] = set()
        for place in sorted(train_op.losses):
            sources = plan.sources.get((train_op.index, place), frozenset())
            for n, op in enumerate(sorted(sources - counted, key=lambda op: str(op.name))):
                for tensor, value in fed.items():
                    if tensor.op is op:
                        self._keep_rows("rows", train_op.index, place, step, f"{n}.fed", value)
            counted |= sources

    def evaluation_fetches(self, wanted: list[Any], graph: Any, sources: Any) -> list[Any]:
        """Tensors of the batch that an evaluation's ``Session.run`` takes."""
        if self._evaluated >= MOST_EVALUATED:
            return []
        reached = self._tools.ancestors(wanted, sources)
        ops = [op for op in reached if op.type in sources and "Placeholder" not in op.type]
        ops.sort(key=lambda op: str(op.name))
        return [
            tensor
            for op in ops
            for tensor in op.outputs
            if self._tools.batched(tensor) and graph.is_fetchable(tensor)
        ]

    def evaluated(self, values: list[Any]) -> None:
        for n, value in enumerate(values):
            self._keep_rows("evaluated", 0, 0, self._evaluated, f"0.{n}", value)
        self._evaluated += 1

    # Eager code and its functions ---------------------------------------------------------------

    def patch_entropies(self, module: Any) -> None:
        """All softmax cross-entropies arrive at these two operations."""
        for name in (
            "sparse_softmax_cross_entropy_with_logits",
            "softmax_cross_entropy_with_logits",
        ):
            self._wrap_entropy(module, name)

    def _wrap_entropy(self, module: Any, name: str) -> None:
        original = getattr(module, name)

        @functools.wraps(original)
        def operation(features: Any, labels: Any, *args: Any, **options: Any) -> Any:
            if self._eager.taped():
                known = getattr(self._local, "entropies", [])
                self._local.entropies = [*known, (features, labels)]
            return original(features, labels, *args, **options)

        setattr(module, name, operation)

    def seen(self) -> tuple[Any, list[Any]]:
        """The model's input, and logits and labels, of the loss that is differentiated now."""
        inputs = getattr(self._local, "inputs", None)
        entropies = getattr(self._local, "entropies", [])
        self._local.inputs, self._local.entropies = None, []
        visible = self._eager.visible
        if inputs is not None and not visible(inputs):
            inputs = None
        if len(entropies) != 1:  # several losses: which is whose is not known
            return inputs, []
        convert = self._eager.tf("framework.ops").convert_to_tensor
        found = [convert(value) for value in entropies[0]]
        return inputs, found if all(visible(tensor) for tensor in found) else []

    def keep_seen(self, series: int, replica: int, seen: tuple[Any, list[Any]]) -> None:
        inputs, entropy = seen
        number = series * 1000 + replica
        if inputs is not None:

            def keep(value: Any) -> None:
                step = self.watch._calls["rows", number] - 1
                self._keep_rows("rows", series, replica, step, "model", value)

            self.watch._times(("rows", number), [self._sums(inputs)], keep, MOST_STEPS)
        if entropy:

            def keep_entropy(logits: Any, labels: Any) -> None:
                self._keep_small("logits", series, replica, logits)
                self._keep_small("labels", series, replica, labels)

            self.watch._times(("entropy", number), entropy, keep_entropy)

    def _sums(self, tensor: Any) -> Any:
        """The sum over each example's elements."""
        math = self._eager.tf("ops.math_ops")
        tensor = math.cast(tensor, "float64")
        return math.reduce_sum(tensor, axis=list(range(1, tensor.shape.ndims)))

    def called(self, inputs: Any) -> None:
        """A model is called: its first input of numbers is the batch of a step or an evaluation."""
        taped = self._eager.taped()
        if not taped and not self.evaluating:
            return
        name = "inputs" if taped else "evaluated"
        known = getattr(self._local, name, None)
        if known is not None and self._eager.visible(known):
            return  # a layer within the model
        for tensor in self._eager.tf("util.nest").flatten(inputs):
            known = hasattr(tensor, "graph") or hasattr(tensor, "numpy")
            if hasattr(tensor, "dense_shape"):
                continue  # a sparse one, whose rows have no sum of this kind
            if known and tensor.shape.ndims and tensor.dtype != "string":  # texts have no sum
                setattr(self._local, name, tensor)
                if not taped and not self._eager.tf("eager.context").executing_eagerly():
                    self.watch._callback(self._keep_evaluated, [self._sums(tensor)])
                return

    def _keep_evaluated(self, value: Any) -> None:
        if self.evaluating and self._evaluated < MOST_EVALUATED:
            self._keep_rows("evaluated", 0, 0, self._evaluated, "model", value)
            self._evaluated += 1

    def taken(self, values: Any) -> None:
        """A batch that the program itself handed to its step, or took from an iterator."""
        series = self.recorder.get_series(0)
        if series.steps >= MOST_STEPS:
            return
        found: dict[str, Any] = {}
        for n, value in enumerate(self._eager.tf("util.nest").flatten(values)):
            shape = getattr(value, "shape", None)
            if shape is not None and (hasattr(value, "numpy") or hasattr(value, "__array__")):
                found[f"taken.{n}"] = value
        self._taken = found or self._taken

    def keep_taken(self, series: int) -> None:
        step = self.recorder.get_series(series).steps
        if step < MOST_STEPS:
            for name, value in self._taken.items():
                self._keep_rows("rows", series, 0, step, name, value)


def rows(value: Any) -> Any:
    """The sum over each example's elements, or None for what is not a batch of numbers."""
    import numpy

    try:
        value = numpy.asarray(value)
        if value.ndim < 1 or value.dtype.kind not in "fiub" or not value.size:
            return None
        return value.astype("float64").reshape(len(value), -1).sum(axis=1)
    except Exception:
        return None
