"""One TF1 program for each leaf field of ConfigProto, with a value that is not the default."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

FIELDS: dict[str, dict[str, Any]] = json.loads(
    resources.files("migrate_mgpu.data").joinpath("config_fields.json").read_text("utf-8")
)["fields"]

# Statements for fields that a value by type cannot set, or that must not disturb the run.
_STATEMENTS = {
    "device_count": "config.device_count['CPU'] = 2",
    "experimental.executor_type": (
        "config.experimental.executor_type = 'SINGLE_THREADED_EXECUTOR'"
    ),
    "device_filters": "config.device_filters.append('/job:worker')",
    "cluster_def.job[].tasks": (
        "job = config.cluster_def.job.add()\njob.name = 'worker'\njob.tasks[0] = 'localhost:2222'"
    ),
    "gpu_options.per_process_gpu_memory_fraction": (
        "config.gpu_options.per_process_gpu_memory_fraction = 0.25"
    ),
    "gpu_options.visible_device_list": "config.gpu_options.visible_device_list = '1,3'",
    "gpu_options.allocator_type": "config.gpu_options.allocator_type = 'BFC'",
    "gpu_options.experimental.virtual_devices[].memory_limit_mb": (
        "config.gpu_options.experimental.virtual_devices.add().memory_limit_mb.append(512)"
    ),
    "graph_options.rewrite_options.custom_optimizers[].parameter_map": (
        "custom = config.graph_options.rewrite_options.custom_optimizers.add()\n"
        "custom.parameter_map['x'].i = 1"
    ),
    # Without replicas TF2 aborts the process here, TF1 does not (docs/semantics.md).
    "graph_options.rewrite_options.auto_parallel.enable": (
        "config.graph_options.rewrite_options.auto_parallel.enable = True\n"
        "config.graph_options.rewrite_options.auto_parallel.num_replicas = 2"
    ),
    "graph_options.rewrite_options.auto_parallel.num_replicas": (
        "config.graph_options.rewrite_options.auto_parallel.num_replicas = 1"
    ),
}
_ENUMS = {
    "tensorflow.OptimizerOptions.GlobalJitLevel": "tf.OptimizerOptions.ON_1",
    "tensorflow.OptimizerOptions.Level": "tf.OptimizerOptions.L0",
    "tensorflow.RewriterConfig.Toggle": "rewriter_config_pb2.RewriterConfig.OFF",
    "tensorflow.RewriterConfig.MemOptType": "rewriter_config_pb2.RewriterConfig.NO_MEM_OPT",
    "tensorflow.RewriterConfig.NumIterationsType": "rewriter_config_pb2.RewriterConfig.ONE",
    "tensorflow.VerifierConfig.Toggle": "2",
}
_VALUES = {"bool": "True", "int32": "2", "int64": "60000", "double": "0.5", "string": "'x'"}


def statement(path: str) -> str:
    """The statement that sets a field."""
    if path in _STATEMENTS:
        return _STATEMENTS[path]
    kind = FIELDS[path]["type"]
    value = _ENUMS.get(kind) or _VALUES[kind]
    target = "config." + path.replace("[].", ".add().")
    if FIELDS[path]["label"] == "repeated":
        return f"{target}.append({value})"
    return f"{target} = {value}"


def program(path: str) -> str:
    """A TF1 program that runs with the field set."""
    code = statement(path)
    extra = "from tensorflow.core.protobuf import rewriter_config_pb2\n"
    return (
        "import tensorflow as tf\n"
        + (extra if "rewriter_config_pb2" in code else "")
        + f"\nconfig = tf.ConfigProto()\n{code}\n"
        + "with tf.Session(config=config) as sess:\n"
        + "    print(sess.run(tf.constant([1.0, 2.0]) * 3.0))\n"
    )
