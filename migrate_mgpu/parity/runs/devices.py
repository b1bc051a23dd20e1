"""Where the work of N GPUs is done: on N real ones, on one that is split, or on CPUs.

Both sides use the same kind, or they could not be compared.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from migrate_mgpu.parity.runs import hardware, launch
from migrate_mgpu.runtimes import Runtime

CPUS, GPUS, SPLIT = "cpus", "gpus", "split"
SPLIT_SHARE = 0.8  # of a GPU's memory goes to its logical GPUs, the rest is CUDA's own
ASK_S = 120.0
# Executes on the first GPU: a TensorFlow may list one that its CUDA has no kernels for.
_ASK = """
import tensorflow as tf
gpus = tf.config.experimental.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
if gpus:
    with tf.device("/gpu:0"):
        product = tf.matmul([[2.0]], [[3.0]])
    if not tf.executing_eagerly():
        product = tf.compat.v1.Session().run(product)
    assert float(product[0][0]) == 6.0  # NumPy 2.5 has no `float` of [[6.0]]
print("GPUS", len(gpus))
"""


class NoGpus(Exception):
    """GPUs were asked for and cannot be had; the message says why."""


@dataclass(frozen=True)
class Place:
    """Where GPUs 0 to N-1 of a comparison are.

    Attributes:
      kind: ``CPUS``: logical CPUs answer as GPUs; ``GPUS``: real ones; ``SPLIT``: logical GPUs
        of one real one.
      totals_mib: total memory of each GPU that the programs see; empty for the probe's default.
      limit_mib: memory of each logical GPU of a split one.
      visible: CUDA_VISIBLE_DEVICES for real ones.
    """

    kind: str
    text: str
    totals_mib: tuple[int, ...] = ()
    limit_mib: int | None = None
    visible: str | None = None

    def probe_options(self, devices: int) -> list[str]:
        """Of the probe's command line."""
        if self.kind == GPUS:
            return ["--real-gpus", ",".join(map(str, self.totals_mib))]
        found = ["--gpus", str(devices)]
        if self.kind == CPUS:
            return [*found, "--map-gpus"]
        memory = ",".join(map(str, self.totals_mib))
        return [*found, "--gpu-memory", memory, "--split-gpu", str(self.limit_mib)]

    def as_data(self, devices: int) -> dict[str, Any]:
        return {"gpus": devices, **asdict(self)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Place:
        found = {name: value for name, value in data.items() if name != "gpus"}
        return cls(**{**found, "totals_mib": tuple(found["totals_mib"])})

    def part(self, index: int, devices: int) -> Place:
        """Where a worker's devices are, of those of all workers."""
        if self.kind != GPUS:
            return self
        own = slice(index * devices, (index + 1) * devices)
        visible = ",".join((self.visible or "").split(",")[own])
        return replace(self, totals_mib=self.totals_mib[own], visible=visible)

    def environment(self) -> dict[str, str]:
        return {} if self.visible is None else {"CUDA_VISIBLE_DEVICES": self.visible}


ON_CPUS = Place(CPUS, "logical CPUs in the place of GPUs")


def choose(devices: int, sides: Sequence[Runtime], wanted: str = "auto", workers: int = 1) -> Place:
    """The place for so many GPUs, of all workers together: one GPU is not split for several.

    Raises:
      NoGpus: ``wanted`` is ``gpu``, and they cannot be used.
    """
    if wanted == "cpu":
        return Place(CPUS, "logical CPUs in the place of GPUs, as asked for")
    found, reason = _usable(sides)
    if reason:
        if wanted == "gpu":
            raise NoGpus(reason)
        return Place(CPUS, f"logical CPUs in the place of GPUs: {reason}")
    totals = [gpu["memory_mib"] or 0 for gpu in found]
    named = _visible(len(found))
    if len(found) >= devices:
        names = ", ".join(gpu["name"] for gpu in found[:devices])
        chosen = ",".join(named[:devices])
        return Place(GPUS, f"real GPUs: {names}", tuple(totals[:devices]), visible=chosen)
    if workers > 1:
        text = f"{workers} workers need {devices} GPUs, this machine has {len(found)}"
        if wanted == "gpu":
            raise NoGpus(text)
        return Place(CPUS, f"logical CPUs in the place of GPUs: {text}")
    limit = int(totals[0] * SPLIT_SHARE / devices)
    text = (
        f"one real GPU ({found[0]['name']}) split into {devices} logical ones of {limit} MiB; "
        "NCCL does not work between them: ReductionToOneDevice adds up the gradients"
    )
    return Place(SPLIT, text, (totals[0],) * devices, limit, named[0])


def _usable(sides: Sequence[Runtime]) -> tuple[list[dict[str, Any]], str]:
    """The machine's GPUs that all sides can use, or the reason for which there are none."""
    found = _shown(hardware.gpus())
    if not found:
        return [], "this machine shows no GPU"
    for runtime in sides:
        count = _count(str(runtime.python))
        if isinstance(count, str):
            return [], f"TensorFlow of {runtime.name} cannot use this machine's GPUs: {count}"
        found = found[:count]
    return found, ""


def _shown(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that the user's CUDA_VISIBLE_DEVICES leaves."""
    own = os.environ.get("CUDA_VISIBLE_DEVICES")
    if own is None:
        return found
    places = [text.strip() for text in own.split(",")]
    return [found[int(p)] for p in places if p.isdigit() and int(p) < len(found)]


def _visible(count: int) -> list[str]:
    own = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [str(i) for i in range(count)] if own is None else [p.strip() for p in own.split(",")]


@functools.cache
def _count(python: str) -> int | str:
    """How many GPUs a TensorFlow executes on, or why on none."""
    own = os.environ.get("CUDA_VISIBLE_DEVICES")
    more = {} if own is None else {"CUDA_VISIBLE_DEVICES": own}
    try:
        answer = subprocess.run(
            [python, "-c", _ASK],
            env=launch.environment(more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    for line in answer.stdout.splitlines():
        if line.startswith("GPUS "):
            return int(line.split()[1]) or "it finds none"
    return (answer.stderr.strip().splitlines() or ["it does not run"])[-1]
