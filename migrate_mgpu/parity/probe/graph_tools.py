"""Looking at graphs: operations, what they need, the tensors of variables.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import sys
from typing import Any


def module(name: str) -> Any:
    for package in ("tensorflow_core", "tensorflow"):
        module = sys.modules.get(f"{package}.python.{name}")
        if module is not None:
            return module
    raise ImportError(name)


def replica_id() -> int | None:
    """The replica that this thread builds, or None outside of a strategy's replicas."""
    try:
        context = module("distribute.distribute_lib")
        context.has_strategy  # noqa: B018 (1.15 has it elsewhere)
    except (ImportError, AttributeError):
        context = module("distribute.distribution_strategy_context")
    if not context.has_strategy() or context.in_cross_replica_context():
        return None
    replica = context.get_replica_context()
    for name in ("_replica_id_in_sync_group", "replica_id_in_sync_group"):
        value = getattr(replica, name, None)
        if isinstance(value, int):
            return value
    value = module("framework.tensor_util").constant_value(replica.replica_id_in_sync_group)
    return 0 if value is None else int(value)


def ancestors(begin: list[Any], stop: Any = (), waits: bool = True) -> set[Any]:
    """Operations that these need, themselves included; not beyond those in ``stop``
    (operations, or names of types). ``waits``: also those that they only wait for."""
    seen: set[Any] = set()
    waiting = list(begin)
    while waiting:
        op = waiting.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in stop or op.type in stop:
            continue
        waiting.extend(tensor.op for tensor in op.inputs)
        waiting.extend(op.control_inputs if waits else ())
    return seen


def operations(result: Any) -> list[Any]:
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [op for one in result for op in operations(one)]
    parts = components(result)
    if parts != [result]:
        return [op for one in parts for op in operations(one)]
    return [getattr(result, "op", result)]


def components(variable: Any) -> list[Any]:
    """The variables of a replicated one, or the variable itself."""
    for name in ("_values", "values"):
        parts = getattr(variable, name, None)
        if isinstance(parts, (list, tuple)) and parts:
            return list(parts)
    inner = getattr(variable, "_v", None)
    return [variable] if inner is None else [inner]


def reading(variable: Any) -> Any:
    snapshot = getattr(variable, "_snapshot", None)
    return variable._graph_element if snapshot is None else snapshot


def assignment(variable: Any) -> Any:
    """The operation that gives a variable its first value, which is its second input."""
    start = variable.initializer
    return getattr(start, "op", start)  # a tensor behind `tf.train.init_from_checkpoint`


def creation_order(graph: Any) -> dict[str, int]:
    """The places of a graph's trainable variables, by their names."""
    return {v.name: i for i, v in enumerate(graph.get_collection("trainable_variables"))}


def in_creation_order(graph: Any, variables: list[Any]) -> list[Any]:
    order = creation_order(graph)
    distinct = {v.name: v for v in variables}
    return sorted(distinct.values(), key=lambda v: order.get(v.name, len(order)))


def tensor(graph: Any, key: Any) -> Any:
    return graph.as_graph_element(key, allow_operation=False)


def fed_tensors(graph: Any, feed_dict: Any) -> dict[Any, Any]:
    """What is fed, by its tensors, without sparse ones, whose rows are no examples.

    A key may be a tuple of tensors: the state of an LSTM.
    """
    found = {}
    waiting = list(feed_dict.items())
    for key, value in waiting:  # grows as it is walked
        if isinstance(key, (tuple, list)):
            waiting += zip(key, value)
        elif not hasattr(key, "dense_shape"):
            found[tensor(graph, key)] = value
    return found


def batched(tensor: Any) -> bool:
    return tensor.shape.ndims != 0 and tensor.dtype.name not in ("resource", "variant")


def size(tensor: Any) -> float:
    if tensor.shape.ndims is None:
        return float("inf")
    size = 1.0
    for n in tensor.shape.as_list()[1:]:
        size *= 1e6 if n is None else n
    return size
