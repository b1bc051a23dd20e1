"""A strategy's constructor in TF2."""

from __future__ import annotations

import ast

from migrate_mgpu.analysis.diagnostics import Refused
from migrate_mgpu.analysis.module import Module, tensorflow_name
from migrate_mgpu.analysis.named_arguments import by_parameter
from migrate_mgpu.analysis.names import constant
from migrate_mgpu.models.ir import Strategy
from migrate_mgpu.models.properties import row_of
from migrate_mgpu.source.source import Edit
from migrate_mgpu.source.style import FileStyle

SHARDS = "auto_shard_dataset"  # among the workers of a cluster: of one process it did nothing
_OPERATIONS = {
    "ReductionToOneDevice": "ReductionToOneDevice",
    "ReductionToOneDeviceCrossDeviceOps": "ReductionToOneDevice",
    "ReductionToOneDeviceCrossTowerOps": "ReductionToOneDevice",
    "NcclAllReduce": "NcclAllReduce",
    "HierarchicalCopyAllReduce": "HierarchicalCopyAllReduce",
}
_ALGORITHMS = {"nccl": "NcclAllReduce", "hierarchical_copy": "HierarchicalCopyAllReduce"}


def strategy_text(made: Strategy, style: FileStyle) -> str:
    """A strategy's constructor in TF2.

    Raises:
        Refused: TF2 has no strategy that does the same with Keras's ``fit``.
    """
    module, arguments, row = made.module, made.arguments, row_of(made)
    if not row.target:
        raise Refused(module, made.node, row.reason, row.advice)
    head = f"{style.tensorflow}.{row.target}"
    if row.workers:
        return _of_workers(made, head, style)
    if made.kind == "one_device" and made.devices is None:
        raise Refused(module, made.node, "which device this strategy uses cannot be determined")
    devices = _devices(made)
    pieces = [devices] if devices else []
    operations = arguments.get("cross_device_ops", arguments.get("cross_tower_ops"))
    if operations is not None:
        pieces.append(f"cross_device_ops={_operations(module, operations, style)}")
    known = {"devices", "device", "num_gpus", "num_gpus_per_worker", "cross_device_ops",
             "cross_tower_ops", SHARDS}  # fmt: skip
    for name, value in arguments.items():
        if name not in known and constant(value) is not False:
            raise Refused(module, value, f"`{name}` of {row.class_name} has no form in TF2")
    source = module.source
    indent = source.indent_of(module.names.statement(made.node))
    column = source.place(source.span(made.node)[0])[1] - 1
    return style.call(head, pieces, indent, column)


def _of_workers(made: Strategy, head: str, style: FileStyle) -> str:
    """The strategy of several workers, which TF_CONFIG describes before and after."""
    module, arguments = made.module, made.arguments
    for name, value in arguments.items():
        if name == "num_gpus_per_worker":
            raise Refused(
                module, value, "a worker uses all GPUs that it sees in TF2",
                "take the argument out, and let CUDA_VISIBLE_DEVICES say which",
            )  # fmt: skip
        if name != "communication":
            raise Refused(
                module, value, f"`{name}` of {row_of(made).class_name} has no form in TF2"
            )
    if "communication" not in arguments:
        return f"{head}()"
    value = arguments["communication"]
    last = tensorflow_name(module, value).rpartition(".")[2]
    if last not in ("AUTO", "RING", "NCCL"):
        raise Refused(module, value, "which communication this is cannot be determined")
    chosen = f"{style.tensorflow}.distribute.experimental.CommunicationImplementation.{last}"
    options = (
        f"{style.tensorflow}.distribute.experimental.CommunicationOptions(implementation={chosen})"
    )
    return f"{head}(communication_options={options})"


def _devices(made: Strategy) -> str:
    """The devices of a strategy; empty for all there are."""
    source, count = made.module.source, made.count
    if made.devices is not None:
        text = source.code(made.devices)
        parent = made.module.names.parents[made.devices]
        return f"{parent.arg}={text}" if isinstance(parent, ast.keyword) else text
    if count is None:
        return ""
    quote = source.quote
    number = constant(count)
    if isinstance(number, int) and number <= 4:
        names = [f"{quote}/gpu:{i}{quote}" for i in range(number)] or [f"{quote}/cpu:0{quote}"]
        return f"[{', '.join(names)}]"
    text = source.code(count)
    listed = f"[{quote}/gpu:%d{quote} % i for i in range({text})]"
    if isinstance(number, int) or _is_some(made.module, made.node, count):
        return listed
    return f"{listed} or [{quote}/cpu:0{quote}]"  # as contrib did for no GPUs


def _is_some(module: Module, call: ast.expr, count: ast.expr) -> bool:
    """Whether a condition around a call asks how many GPUs there are."""
    wanted = ast.dump(count)
    for parent in module.names.ancestors(call):
        if isinstance(parent, (ast.If, ast.IfExp)):
            if any(ast.dump(part) == wanted for part in ast.walk(parent.test)):
                return True
    return False


def _operations(module: Module, node: ast.expr, style: FileStyle) -> str:
    """The all-reduce of a strategy."""
    if isinstance(node, ast.Call):
        last = tensorflow_name(module, node.func).rpartition(".")[2]
        code = module.source.code
        rest = [code(part) for part in (*node.args, *node.keywords)]
        if last in _OPERATIONS:
            return f"{style.tensorflow}.distribute.{_OPERATIONS[last]}({', '.join(rest)})"
        if last in ("AllReduceCrossDeviceOps", "AllReduceCrossTowerOps"):
            names = ("all_reduce_alg", "num_packs", "agg_small_grads_max_bytes")
            given = by_parameter(node, names)
            algorithm = given.get("all_reduce_alg")
            name = "nccl" if algorithm is None else constant(algorithm)
            if isinstance(name, str) and name in _ALGORITHMS and set(given) <= set(names[:2]):
                packs = f"num_packs={code(given['num_packs'])}" if "num_packs" in given else ""
                return f"{style.tensorflow}.distribute.{_ALGORITHMS[name]}({packs})"
    raise Refused(
        module, node, "how gradients are summed here is not known in TF2",
        "use tf.distribute.NcclAllReduce or HierarchicalCopyAllReduce",
    )  # fmt: skip


def strategy_edit(made: Strategy, style: FileStyle) -> Edit | None:
    """The edit of a constructor's text; None where it says the same in TF2."""
    start, end = made.module.source.span(made.node)
    text = strategy_text(made, style)
    return Edit(start, end, text) if text != made.module.source.code(made.node) else None
