"""Settings that an Estimator has on some ways through the program, and on others not."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import bind
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import ESTIMATORS, SIGNATURES


def unset(flow: EstimatorFlow, values: ValueFlow, name: str) -> list[Value]:
    """What may configure an Estimator that does not give ``name``: None, or a RunConfig."""
    config = flow.config
    assert config is not None
    giving = {m.call for m in (*config.made, *config.replaced) if name in m.arguments}
    changed = {m.call for m in config.replaced}
    found: list[Value] = []
    todo = [Value(flow.module, flow.arguments["config"])]
    seen: set[ast.expr | None] = set()
    while todo:
        value = todo.pop(0)
        assert value.node is not None
        for origin in values.definitions(value.module, value.node):
            if origin.node in seen:
                continue
            seen.add(origin.node)
            if origin.node in changed and origin.node not in giving:
                assert isinstance(origin.node, ast.Call)
                assert isinstance(origin.node.func, ast.Attribute)
                todo.append(Value(origin.module, origin.node.func.value))
            elif origin.node not in giving:
                found.append(origin)
    return found


def configures(module: Module, node: ast.expr) -> bool:
    """Whether an expression stands where an Estimator gets its RunConfig."""
    parent = module.names.parents[node]
    call = module.names.parents[parent] if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or node is call.func:
        return False
    head, _, last = tensorflow_name(module, call.func).rpartition(".")
    if head not in ("estimator", "keras.estimator") or last not in ESTIMATORS:
        return False
    return bind(module, call, SIGNATURES[last]).get("config") is node


def check_same(flow: EstimatorFlow, values: ValueFlow, name: str) -> None:
    """Of a setting that the migrated program has in one place.

    Raises:
        Refused: some RunConfigs give another value, or none.
    """
    given = flow.config.values(name) if flow.config is not None else []
    texts = {module.source.code(node) for module, node in given}
    if len(texts) > 1:
        raise Refused(*given[1], f"the RunConfig has another {name} in another branch")
    if given and unset(flow, values, name):
        raise Refused(
            *given[0], f"the RunConfig has no {name} in another branch",
            "give it in every branch",
        )  # fmt: skip
