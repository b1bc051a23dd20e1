"""TensorFlow's modules, variables and gradients as eager code and its functions have them.

Runs in the interpreter under test: Python 3.7, standard library only.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def tf(name: str) -> Any:
    for package in ("tensorflow_core", "tensorflow"):
        module = sys.modules.get(f"{package}.python.{name}")
        if module is not None:
            return module
    return importlib.import_module(f"tensorflow.python.{name}")


def strategy() -> Any:
    """The current one; without one TensorFlow's default."""
    try:
        return tf("distribute.distribute_lib").get_strategy()
    except (ImportError, AttributeError):
        return tf("distribute.distribution_strategy_context").get_strategy()


def replicas() -> int:
    return int(strategy().num_replicas_in_sync)


def workers() -> int:
    """How many processes train under the current strategy."""
    return int(getattr(strategy().extended, "_num_workers", None) or 1)


def remote() -> bool:
    """Whether steps run on parameter servers' workers, where no host callback can be."""
    return any("ParameterServer" in cls.__name__ for cls in type(strategy()).__mro__)


def taped() -> bool:
    """Whether a gradient tape is recording."""
    try:
        return bool(tf("eager.record").could_possibly_record())
    except ImportError:
        return bool(tf("eager.tape").could_possibly_record())


def variable(source: Any) -> Any:
    """The TensorFlow variable of a tape's source or an optimizer's target, or None."""
    inner = getattr(source, "_value", None)  # Keras 3 wraps it
    if inner is not None and hasattr(inner, "assign") and hasattr(source, "path"):
        inner._migrate_mgpu_path = source.path
        return inner
    return source if hasattr(source, "assign") and hasattr(source, "read_value") else None


def name(variable: Any) -> str:
    return str(getattr(variable, "_migrate_mgpu_path", None) or variable.name)


def parts(variable: Any) -> list[Any]:
    """The variables of a replicated one."""
    found = getattr(variable, "_values", None)
    return list(found) if isinstance(found, (list, tuple)) else []


def in_tf2() -> bool:
    """Whether code is executed eagerly, or traced for a function: not in a v1 graph."""
    if tf("eager.context").executing_eagerly():
        return True
    return bool(tf("framework.ops").get_default_graph().building_function)


def visible(tensor: Any) -> bool:
    """Whether a tensor is of the graph that is being built (or eager, and so are we)."""
    if tf("eager.context").executing_eagerly():
        return hasattr(tensor, "numpy")
    graph = tf("framework.ops").get_default_graph()
    return getattr(tensor, "graph", None) is graph


def seen_within(tensor: Any) -> bool:
    """As visible, or the graph that is being built is one inside of the tensor's: a loop's body."""
    if visible(tensor):
        return True
    if tf("eager.context").executing_eagerly():
        return False
    graph = tf("framework.ops").get_default_graph()
    while graph is not None:
        if getattr(tensor, "graph", None) is graph:
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def value(variable: Any) -> Any:
    parts = getattr(variable, "_values", None)
    first = parts[0] if isinstance(parts, (list, tuple)) and parts else variable
    return first.numpy()


def after(value: Any) -> Any:
    """The same value, not before the control dependencies in force."""
    return None if value is None else tf("ops.array_ops").identity(value)


def dense(gradient: Any) -> Any:
    return tf("framework.ops").convert_to_tensor(gradient)
