"""Strategies of ``tf.distribute`` and ``tf.contrib.distribute``."""

from __future__ import annotations

from migrate_mgpu.api.schema import Parameter, Row, Table
from migrate_mgpu.core.records import record

TOWERS = "TowerStrategy"  # what normalize/estimators/towers.py makes of `replicate_model_fn`


@record(frozen=True)
class StrategyRow(Row):
    """A strategy; without ``target`` nothing in TF2 does the same with ``fit``, for ``reason``.

    ``workers``: it is of several programs that train together. ``shares_batch``: the replicas
    get parts of one batch; else each draws batches of its own.
    """

    workers: bool = False
    shares_batch: bool = False
    reason: str = ""
    advice: str = ""

    @property
    def class_name(self) -> str:
        return self.names[0].rpartition(".")[2]


def _of(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name) for name in names)


_MIRRORED = "distribute.MirroredStrategy"
_WORKERS = "distribute.MultiWorkerMirroredStrategy"
_SERVERS = "parameter servers are driven by a coordinator in TF2, not by fit"
_SERVERS_ADVICE = "use MultiWorkerMirroredStrategy, or write the loop with ParameterServerStrategy"
_TPU = "a TPU's strategy: this tool proves GPUs"
_TPU_ADVICE = "see TensorFlow's guide to TPUStrategy with Keras"
_CENTRAL = "CentralStorageStrategy is not known to train equally in TF2"

STRATEGIES: Table[StrategyRow] = Table(
    StrategyRow((_MIRRORED,), "mirrored", _of("devices", "cross_device_ops"), _MIRRORED),
    StrategyRow(
        ("contrib.distribute.MirroredStrategy",),
        "contrib_mirrored",
        _of(
            "devices", "num_gpus", "num_gpus_per_worker", "cross_device_ops",
            "auto_shard_dataset", "cross_tower_ops",
        ),
        _MIRRORED,
    ),
    StrategyRow(
        (f"distribute.{TOWERS}",), "towers", _of("devices"), _MIRRORED, shares_batch=True
    ),
    StrategyRow(
        ("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy"),
        "one_device",
        _of("device"),
        "distribute.OneDeviceStrategy",
    ),
    StrategyRow(
        (_WORKERS,), "workers", _of("communication", "cluster_resolver"), _WORKERS, workers=True
    ),
    StrategyRow(
        ("contrib.distribute.CollectiveAllReduceStrategy",),
        "contrib_workers",
        _of("num_gpus_per_worker", "communication", "cluster_resolver"),
        _WORKERS,
        workers=True,
    ),
    StrategyRow(
        ("distribute.ParameterServerStrategy",), "parameter_server", _of("cluster_resolver"),
        reason=_SERVERS, advice=_SERVERS_ADVICE,
    ),
    StrategyRow(
        ("contrib.distribute.ParameterServerStrategy",), "contrib_parameter_server",
        _of("num_gpus_per_worker"), reason=_SERVERS, advice=_SERVERS_ADVICE,
    ),
    StrategyRow(
        ("distribute.TPUStrategy", "contrib.distribute.TPUStrategy"), "tpu",
        _of("tpu_cluster_resolver", "steps_per_run", "device_assignment"),
        reason=_TPU, advice=_TPU_ADVICE,
    ),
    StrategyRow(
        ("distribute.CentralStorageStrategy",), "central_storage",
        _of("compute_devices", "parameter_device"), reason=_CENTRAL, advice="use MirroredStrategy",
    ),
)  # fmt: skip
