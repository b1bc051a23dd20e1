"""Rung 1: a device option that was lost or changed. What differs is its own evidence."""

from __future__ import annotations

from collections.abc import Iterator

from migrate_mgpu.parity.diagnose import LIKELY, Diagnosis
from migrate_mgpu.parity.diagnose.evidence import Evidence

# setting: cause, title, what to change
_OPTIONS = {
    "memory_growth": (
        "memory-growth",
        "memory growth changed",
        "call tf.config.experimental.set_memory_growth for every visible GPU, before the first "
        "operation",
    ),
    "allow_soft_placement": (
        "soft-placement",
        "soft placement changed",
        "call tf.config.set_soft_device_placement with the old value; TF1's default is False, "
        "TF2's True",
    ),
    "gpu_memory_limit_mib": (
        "memory-limit",
        "the GPUs' memory limits changed",
        "a fraction is of each GPU's total memory: compute the limit of each visible GPU from "
        "its own total",
    ),
    "visible_gpus": (
        "visible-gpus",
        "the visible GPUs changed",
        "call tf.config.set_visible_devices with the GPUs of visible_device_list",
    ),
    "inter_op_parallelism_threads": (
        "threads",
        "the number of threads changed",
        "call tf.config.threading.set_inter_op_parallelism_threads",
    ),
    "intra_op_parallelism_threads": (
        "threads",
        "the number of threads changed",
        "call tf.config.threading.set_intra_op_parallelism_threads",
    ),
    "log_device_placement": (
        "log-placement",
        "logging of device placement changed",
        "call tf.debugging.set_log_device_placement with the old value",
    ),
    "xla": (
        "xla",
        "compilation with XLA changed",
        "call tf.config.optimizer.set_jit with the old value",
    ),
}
# With other GPUs visible, limits and growth are of other GPUs too.
_FOLLOWS = {"visible_gpus": ("gpu_memory_limit_mib", "memory_growth")}


def option(e: Evidence) -> Iterator[Diagnosis]:
    followers = {name for output in e.broken for name in _FOLLOWS.get(output.name, ())}
    for output in e.broken:
        if output.name in followers:
            continue
        if output.name in _OPTIONS:
            cause, title, advice = _OPTIONS[output.name]
            yield Diagnosis(cause, title, LIKELY, 1, [output.detail], advice)
        elif output.name not in ("configuration", "sessions"):
            yield Diagnosis(
                "device-option",
                f"{output.name} changed",
                LIKELY,
                1,
                [output.detail],
                "set the option by the call that does the same in TF2, if there is one",
            )


CAUSES = {1: [option]}
