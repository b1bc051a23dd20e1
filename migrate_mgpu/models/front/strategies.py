"""Strategies: their constructors, and what an expression for one may be."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.api.strategies import STRATEGIES
from migrate_mgpu.models.ir import Strategy, StrategyChoice

_COUNTS = ("num_gpus", "num_gpus_per_worker")


def read_strategy(module: Module, node: ast.expr | None) -> Strategy | None:
    """The strategy that a call makes; None for any other expression."""
    if not isinstance(node, ast.Call):
        return None
    name = tensorflow_name(module, node.func)
    contrib = "contrib." if name.startswith("contrib.") else ""
    row = STRATEGIES.by_name.get(f"{contrib}distribute.{name.rpartition('.')[2]}")
    if row is None or "distribute" not in name:
        return None
    arguments = arguments_of(module, node, row.signature)
    devices = arguments.get("devices", arguments.get("device"))
    counts = [arguments[name] for name in _COUNTS if name in arguments]
    return Strategy(row.kind, module, node, arguments, devices, counts[0] if counts else None)


def read_choice(values: ValueFlow, module: Module, node: ast.expr) -> StrategyChoice:
    """What an expression for a strategy may be.

    Raises:
        Refused: something else, or nobody knows what.
    """
    strategies: list[Strategy] = []
    absent: list[Value] = []
    for value in values.definitions(module, node):
        if value.is_none:
            if value.node is None:
                raise Refused(
                    value.module, node, "a helper that may end without a strategy",
                    "let it return None",
                )  # fmt: skip
            absent.append(value)
            continue
        assert value.node is not None
        found = read_strategy(value.module, value.node)
        if found is None:
            raise Refused(
                value.module, value.node, "which strategy this is cannot be determined",
                "make the strategy with tf.distribute in the same program",
            )  # fmt: skip
        strategies.append(found)
    return StrategyChoice(module, node, tuple(strategies), tuple(absent))
