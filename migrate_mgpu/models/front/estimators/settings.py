"""Settings that an Estimator has on some ways through the program, and on others not."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import arguments_of, by_parameter
from migrate_mgpu.analysis.names import constant, is_none
from migrate_mgpu.analysis.value_flow import Value, ValueFlow
from migrate_mgpu.models.front.estimators.parts import EstimatorFlow
from migrate_mgpu.models.front.estimators.signatures import ESTIMATORS, SIGNATURES
from migrate_mgpu.models.ir import Checkpoints, Expression

_WARM = (
    "ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info",
    "var_name_to_prev_var_name",
)  # fmt: skip


def unset(flow: EstimatorFlow, values: ValueFlow, name: str) -> list[Value]:
    """What may configure an Estimator that does not give ``name``: None, or a RunConfig."""
    giving = {one.node for one in flow.config.all if name in one.arguments}
    changed = {one.node for one in flow.config.replaced}
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
    call = module.names.taker(node)
    if call is None:
        return False
    head, _, last = tensorflow_name(module, call.func).rpartition(".")
    if head not in ("estimator", "keras.estimator") or last not in ESTIMATORS:
        return False
    return arguments_of(module, call, SIGNATURES[last]).get("config") is node


def one_setting(flow: EstimatorFlow, values: ValueFlow, name: str) -> Expression | None:
    """The value of a setting that the migrated program has in one place; None for no value.

    Raises:
        Refused: some RunConfigs give another value, or none.
    """
    given = flow.config.values(name)
    if len({one.module.source.code(one.node) for one in given}) > 1:
        text = f"the RunConfig has another {name} in another branch"
        raise Refused(given[1].module, given[1].node, text)
    if given and unset(flow, values, name):
        text = f"the RunConfig has no {name} in another branch"
        raise Refused(given[0].module, given[0].node, text, "give it in every branch")
    return given[0] if given else None


def folder_of(flow: EstimatorFlow) -> Expression | None:
    """The folder that an Estimator is given, by itself or in its RunConfig."""
    given = flow.arguments.get("model_dir")
    if given is not None and not any(query.node is given for query in flow.config.reads):
        return Expression(flow.module, given)
    return next(iter(flow.config.values("model_dir")), None)


def _start(flow: EstimatorFlow) -> Expression | None:
    """The checkpoint whose values all trained variables begin with, by their names.

    Raises:
        Refused: only some of them do, or by other names.
    """
    node = flow.arguments.get("warm_start_from")
    if node is None:
        return None
    value = flow.module.names.assigned(node)
    if isinstance(value, ast.Call):
        if tensorflow_name(flow.module, value.func).endswith("WarmStartSettings"):
            given = by_parameter(value, _WARM)
            if set(given) - set(_WARM[:2]) or constant(given.get(_WARM[1])) not in (None, ".*"):
                text = "it starts from some variables of a checkpoint, or by other names"
                raise Refused(flow.module, node, text, "start from all of them")
            if is_none(given.get(_WARM[1])) or _WARM[0] not in given:
                raise Refused(flow.module, node, "a warm start from no variables", "leave it out")
            return Expression(flow.module, given[_WARM[0]])
    elif isinstance(value, ast.Name):
        text = "what it starts from cannot be determined"
        raise Refused(flow.module, node, text, "write the path where the Estimator is made")
    return Expression(flow.module, node)


def read_checkpoints(flow: EstimatorFlow, values: ValueFlow) -> Checkpoints:
    """The checkpoints of an Estimator.

    Raises:
        Refused: other ones in another branch.
    """
    start = _start(flow)
    if "model_dir" not in flow.arguments:
        one_setting(flow, values, "model_dir")
    folder = folder_of(flow)
    if folder is None:
        return Checkpoints(start=start)
    every = one_setting(flow, values, "save_checkpoints_steps")
    keep = one_setting(flow, values, "keep_checkpoint_max")
    return Checkpoints(folder, every, keep, start)
