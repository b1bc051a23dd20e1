"""Searches and changes in a graph that is built, as ``tf.contrib.graph_editor`` made them.

What is searched or changed is given as an operation, a tensor, many of them, or a graph. The
tensors of an operation cannot be taken away from it: to reroute is to give those that read a
tensor another one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Optional

import tensorflow.compat.v1 as tf


class SubGraphView:
    """Operations, with the tensors that they read and those that others may read of them.

    ``passthroughs`` are tensors of the view that none of its operations has.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()) -> None:
        self.ops: list[tf.Operation] = _operations(inside_ops)
        read = list(dict.fromkeys(_read(self.ops)))
        made = list(_made(self.ops))
        made_set, inside = set(made), set(self.ops)
        only_inside = {t for t in read if t in made_set and inside.issuperset(t.consumers())}
        inputs = [t for t in read if t not in made_set]
        outputs = [t for t in made if t not in only_inside]
        known = {*read, *made}
        self.passthroughs = [t for t in _tensors(passthrough_ts) if t not in known]
        self.inputs = inputs + self.passthroughs
        self.outputs = outputs + self.passthroughs

    @property
    def graph(self) -> Optional[tf.Graph]:
        found = [*self.ops, *self.passthroughs]
        return found[0].graph if found else None

    def op(self, op_id: int) -> tf.Operation:
        return self.ops[op_id]


class TransformerInfo:
    """What became of what was copied."""

    def __init__(self, ops: dict[Any, Any], ts: dict[Any, Any]) -> None:
        self._transformed_ops, self._transformed_ts = ops, ts

    def transformed(self, original: Any, missing_fn: Optional[Callable[[Any], Any]] = None) -> Any:
        """The copy of an operation or a tensor, or of each in a list of them."""
        return _each(original, {**self._transformed_ops, **self._transformed_ts}, missing_fn)

    def original(self, transformed: Any, missing_fn: Optional[Callable[[Any], Any]] = None) -> Any:
        """Of what an operation or a tensor is the copy, or each in a list of them."""
        pairs = [*self._transformed_ops.items(), *self._transformed_ts.items()]
        return _each(transformed, {copy: old for old, copy in pairs}, missing_fn)


def make_view(*args: Any, graph: Optional[tf.Graph] = None) -> SubGraphView:
    """Of operations, tensors, views' operations, and what patterns find in ``graph``."""
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return args[0]
    tensors: list[tf.Tensor] = []
    for arg in args:
        if not isinstance(arg, (str, re.Pattern)):
            tensors += [t for t in _members(arg) if isinstance(t, tf.Tensor)]
        elif _pattern(arg).pattern.startswith("(?#ts)"):
            found = _pattern(arg)
            tensors += [t for t in _made(_of(graph)) if found.search(t.name)]
    return SubGraphView(select_ops(*args, graph=graph), dict.fromkeys(tensors))


sgv = make_view


def select_ops(
    *args: Any,
    graph: Optional[tf.Graph] = None,
    positive_filter: Optional[Callable[[tf.Operation], Any]] = None,
) -> list[tf.Operation]:
    """The operations given, and those whose names patterns find in ``graph``; each once."""
    found: dict[tf.Operation, None] = {}
    for arg in args:
        if not isinstance(arg, (str, re.Pattern)):
            found.update((op, None) for op in _members(arg) if isinstance(op, tf.Operation))
        elif not _pattern(arg).pattern.startswith("(?#ts)"):
            found.update((op, None) for op in filter_ops_from_regex(_of(graph), arg))
    return [op for op in found if positive_filter is None or positive_filter(op)]


def filter_ops(ops: Any, positive_filter: Any) -> list[tf.Operation]:
    return [op for op in _operations(ops) if positive_filter is True or positive_filter(op)]


def filter_ops_from_regex(ops: Any, regex: Any) -> list[tf.Operation]:
    return filter_ops(ops, lambda op: _pattern(regex).search(op.name))


def filter_ts(ops: Any, positive_filter: Any) -> list[tf.Tensor]:
    """The tensors that operations read and make, each once."""
    listed = _operations(ops)
    found = dict.fromkeys([*_read(listed), *_made(listed)])
    return [t for t in found if positive_filter is True or positive_filter(t)]


def filter_ts_from_regex(ops: Any, regex: Any) -> list[tf.Tensor]:
    return filter_ts(ops, lambda t: _pattern(regex).search(t.name))


def get_forward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Optional[Callable[[tf.Operation], Any]] = None,
    stop_at_ts: Any = (),
) -> list[tf.Operation]:
    """Which operations read what the seeds make, directly or not; of tensors, their readers."""
    seeds = [*_members(seed_ops)]
    if seeds and isinstance(seeds[0], tf.Tensor):
        seeds = [op for t in seeds for op in t.consumers()]

    def ahead(op: tf.Operation) -> Iterator[tf.Operation]:
        return (reader for t in op.outputs if t not in stop for reader in t.consumers())

    stop = frozenset(_tensors(stop_at_ts))
    return _walk(seeds, ahead, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(
    seed_ops: Any,
    inclusive: bool = True,
    within_ops: Any = None,
    within_ops_fn: Optional[Callable[[tf.Operation], Any]] = None,
    stop_at_ts: Any = (),
    control_inputs: bool = False,
) -> list[tf.Operation]:
    """Which operations the seeds need, directly or not; of tensors, what makes them."""
    seeds = [*_members(seed_ops)]
    if seeds and isinstance(seeds[0], tf.Tensor):
        seeds = [t.op for t in seeds]

    def behind(op: tf.Operation) -> Iterator[tf.Operation]:
        yield from (t.op for t in op.inputs if t not in stop)
        if control_inputs:
            yield from op.control_inputs

    stop = frozenset(_tensors(stop_at_ts))
    return _walk(seeds, behind, inclusive, within_ops, within_ops_fn)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """What reads a tensor of ``ts1`` reads that of ``ts0`` instead; how many inputs changed."""
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """What reads a tensor of either reads that of the other; how many inputs changed."""
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """The second view reads what the first one reads, in place."""
    return _reroute_inputs(make_view(sgv0), make_view(sgv1), both=False)


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    return _reroute_inputs(make_view(sgv0), make_view(sgv1), both=True)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """What others read of the second view they read of the first."""
    return _reroute_outputs(make_view(sgv0), make_view(sgv1), both=False)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    return _reroute_outputs(make_view(sgv0), make_view(sgv1), both=True)


def add_control_inputs(op: tf.Operation, cops: Any) -> None:
    """Run ``cops`` before ``op``.

    Raises:
        ValueError: one of them does already.
    """
    added = _operations(cops)
    for before in added:
        if before in op.control_inputs:
            raise ValueError(f"{before.name} is already a control_input of {op.name}")
    op._add_control_inputs(added)


def remove_control_inputs(op: tf.Operation, cops: Any) -> None:
    """No longer run ``cops`` before ``op``.

    Raises:
        ValueError: one of them did not.
    """
    removed = _operations(cops)
    for before in removed:
        if before not in op.control_inputs:
            raise ValueError(f"{before.name} is not a control_input of {op.name}")
    kept = [before for before in op.control_inputs if before not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def copy_with_input_replacements(
    sgv: Any, replacement_ts: Mapping[tf.Tensor, tf.Tensor]
) -> tuple[SubGraphView, TransformerInfo]:
    """The operations of a view once more, with other tensors for some of its inputs.

    The copies read each other where the originals do, and join their collections.
    """
    view = make_view(sgv)
    if view.graph is None:
        return SubGraphView(), TransformerInfo({}, {})
    graph, inside = view.graph, set(view.ops)
    replaced = {t: replacement_ts[t] for t in view.inputs if t in replacement_ts}
    ops: dict[tf.Operation, tf.Operation] = {}
    ts: dict[tf.Tensor, tf.Tensor] = {}
    for op in sorted(view.ops, key=lambda op: op._id):
        late = [t.name for t in op.inputs if t.op in inside and t not in ts]
        if late:  # TensorFlow 1 copied it, and no session ran the copy
            raise ValueError(f"a loop cannot be copied: {op.name} reads {', '.join(late)}")
        read = [ts[t] if t in ts else replaced.get(t, t) for t in op.inputs]
        ops[op] = _copy(op, read)
        ts.update(zip(op.outputs, ops[op].outputs))
    for op in view.ops:
        controls = [ops.get(before, before) for before in op.control_inputs]
        add_control_inputs(ops[op], controls)
    copies: dict[Any, Any] = {**ops, **ts}
    for key in graph.get_all_collection_keys():
        for member in graph.get_collection(key):
            if isinstance(member, (tf.Operation, tf.Tensor)) and member in copies:
                graph.add_to_collection(key, copies[member])
    copied = SubGraphView(list(ops.values()))
    copied.inputs = []  # which the originals have
    copied.outputs = [ts[t] for t in view.outputs if t in ts and ts[t] in copied.outputs]
    return copied, TransformerInfo(ops, ts)


def _copy(op: tf.Operation, inputs: list[tf.Tensor]) -> tf.Operation:
    """An operation of the same kind, device and attributes, that waits for none."""
    graph = op.graph
    if graph._get_control_flow_context() is not None:
        raise ValueError("a copy inside of a loop or a condition is not supported")
    apart = graph.colocate_with(None, ignore_existing=True)
    alone, anywhere = graph.control_dependencies(None), graph.device(None)
    with graph.as_default(), apart, alone, anywhere, graph.device(op.device or None):
        return graph.create_op(
            op.type,
            inputs,
            [t.dtype for t in op.outputs],
            name=graph.unique_name(op.name) + "/",
            attrs=dict(op.node_def.attr),
            op_def=op.op_def,
        )


def _walk(
    seeds: Iterable[tf.Operation],
    step: Callable[[tf.Operation], Iterator[tf.Operation]],
    inclusive: bool,
    within_ops: Any,
    within_ops_fn: Optional[Callable[[tf.Operation], Any]],
) -> list[tf.Operation]:
    within = frozenset(_operations(within_ops)) if within_ops else None
    first = dict.fromkeys(op for op in seeds if within is None or op in within)
    found, wave = dict(first), list(first)
    while wave:
        ahead = dict.fromkeys(new for op in wave for new in step(op) if new not in found)
        wave = [
            op
            for op in ahead
            if (within_ops is None or op in (within or ()))
            and (within_ops_fn is None or within_ops_fn(op))
        ]
        found.update(dict.fromkeys(wave))
    return [op for op in found if inclusive or op not in first]


def _reroute(ts0: Any, ts1: Any, both: bool, can_modify: Any, cannot_modify: Any) -> int:
    firsts, seconds = _tensors(ts0), _tensors(ts1)
    if len(firsts) != len(seconds):
        raise ValueError(f"{len(firsts)} tensors cannot stand for {len(seconds)}")
    for a, b in zip(firsts, seconds):
        if not a.dtype.is_compatible_with(b.dtype) or not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"{a} and {b} are not compatible")
    can = None if can_modify is None else set(_operations(can_modify))
    cannot = set() if cannot_modify is None else set(_operations(cannot_modify))
    # Who reads what before the first change: a tensor may stand in several pairs.
    pairs = [(a, b, a.consumers(), b.consumers()) for a, b in zip(firsts, seconds)]
    changed = 0

    def give(new: tf.Tensor, old: tf.Tensor, readers: list[tf.Operation]) -> int:
        places = [
            (op, number)
            for op in dict.fromkeys(readers)
            if (can is None or op in can) and op not in cannot
            for number, t in enumerate(op.inputs)
            if t is old
        ]
        for op, number in places:
            op._update_input(number, new)
        return len(places)

    for a, b, of_a, of_b in pairs:
        if a is not b:
            changed += give(a, b, of_b)
            changed += give(b, a, of_a) if both else 0
    return changed


def _reroute_inputs(
    view0: SubGraphView, view1: SubGraphView, both: bool
) -> tuple[SubGraphView, SubGraphView]:
    readers = [op for t in view0.passthroughs + view1.passthroughs for op in t.consumers()]
    may = view0.ops + view1.ops + readers
    _reroute(view0.inputs, view1.inputs, both, may, None)
    firsts, seconds = (list(view.inputs) for view in (view0, view1))
    through0, through1 = view0.passthroughs, view1.passthroughs
    view1.inputs, view1.passthroughs = firsts, through0
    if both:
        view0.inputs, view0.passthroughs = seconds, through1
    for source, target, old in ((through0, view1, firsts), (through1, view0, seconds)):
        if both or target is view1:
            target.outputs = [
                target.inputs[old.index(t)] if t in source else t for t in target.outputs
            ]
    return view0, view1


def _reroute_outputs(
    view0: SubGraphView, view1: SubGraphView, both: bool
) -> tuple[SubGraphView, SubGraphView]:
    _reroute(view0.outputs, view1.outputs, both, None, view0.ops + view1.ops)
    return view0, view1


def _each(found: Any, by: Mapping[Any, Any], missing: Optional[Callable[[Any], Any]]) -> Any:
    if isinstance(found, (list, tuple)):
        return type(found)(_each(one, by, missing) for one in found)
    return by[found] if found in by else missing(found) if missing else None


def _members(given: Any) -> Iterable[Any]:
    return given if isinstance(given, Iterable) and not isinstance(given, tf.Tensor) else [given]


def _operations(given: Any) -> list[tf.Operation]:
    return list(given.get_operations() if isinstance(given, tf.Graph) else _members(given))


def _tensors(given: Any) -> list[tf.Tensor]:
    if isinstance(given, tf.Graph):
        return list(_made(given.get_operations()))
    return list(_members(given))


def _read(ops: Iterable[tf.Operation]) -> Iterator[tf.Tensor]:
    return (t for op in ops for t in op.inputs)


def _made(ops: Iterable[tf.Operation]) -> Iterator[tf.Tensor]:
    return (t for op in ops for t in op.outputs)


def _of(graph: Optional[tf.Graph]) -> list[tf.Operation]:
    if graph is None:
        raise ValueError("Use the keyword argument 'graph' to use regex.")
    return list(graph.get_operations())


def _pattern(regex: Any) -> "re.Pattern[str]":
    return re.compile(regex)
