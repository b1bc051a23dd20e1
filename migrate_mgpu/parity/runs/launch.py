"""Start programs under the probe, each in a runtime's own interpreter."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate_mgpu.runtimes import Runtime

PROBE = Path(__file__).parents[1] / "probe"
# Variables of this process that describe its interpreter or its real GPUs, and that a
# program in another interpreter with fake GPUs must not see.
_NOT_INHERITED = re.compile(
    r"PYTHON.*|VIRTUAL_ENV|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|TF_(?!CPP_).*|OMP_NUM_THREADS"
)


@dataclass(frozen=True)
class Job:
    """One program to run.

    Attributes:
      program: the script.
      argv: its arguments.
      cwd: its working directory; the script's folder when None.
      gpus: number of fake physical GPUs; None leaves the machine as it is.
      gpu_memory_mib: their total memory; the last value serves the remaining GPUs.
      map_gpus: execute what is placed on GPU i on a logical CPU i (needs ``gpus``).
      env: environment variables to set for it.
      timeout_s: seconds until it is killed.
    """

    program: Path
    argv: tuple[str, ...] = ()
    cwd: Path | None = None
    gpus: int | None = 4
    gpu_memory_mib: tuple[int, ...] = (16384,)
    map_gpus: bool = True
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 300.0


@dataclass(frozen=True)
class Run:
    """What came of a job: ``trace`` is the probe's (docs/semantics.md), or None when the
    program died before the probe saw anything; ``status`` is the exit status, minus the
    number of a signal, or None when it was killed for taking longer than its timeout."""

    trace: Mapping[str, Any] | None
    stdout: str
    stderr: str
    status: int | None
    seconds: float

    @property
    def exception(self) -> str | None:
        """The type's name of the exception that ended the program."""
        found = (self.trace or {}).get("exception")
        return str(found["type"]) if found else None


def run(runtime: Runtime, job: Job) -> Run:
    """Run one program in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as name:
        folder = Path(name)
        out, stdout, stderr = folder / "trace.json", folder / "stdout", folder / "stderr"
        command = [str(runtime.python), str(PROBE / "probe.py"), "--out", str(out)]
        if job.gpus is not None:
            command += ["--gpus", str(job.gpus), *_memory_option(job)]
            command += ["--map-gpus"] * job.map_gpus
        command += [str(job.program.resolve()), *job.argv]
        start = time.monotonic()
        status: int | None
        with stdout.open("wb") as to_stdout, stderr.open("wb") as to_stderr:
            try:
                status = subprocess.run(
                    command,
                    cwd=job.cwd or job.program.resolve().parent,
                    env=environment(job.env),
                    stdin=subprocess.DEVNULL,
                    stdout=to_stdout,
                    stderr=to_stderr,
                    timeout=job.timeout_s,
                ).returncode
            except subprocess.TimeoutExpired:
                status = None
        return collect(out, stdout, stderr, status, time.monotonic() - start)


def _memory_option(job: Job) -> list[str]:
    memory = job.gpu_memory_mib[: job.gpus]
    return ["--gpu-memory", ",".join(map(str, memory))] if memory else []


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what belongs to its interpreter or its GPUs."""
    kept = {k: v for k, v in os.environ.items() if not _NOT_INHERITED.fullmatch(k)}
    return {**kept, "PYTHONNOUSERSITE": "1", "PYTHONIOENCODING": "utf-8", **more}


def collect(out: Path, stdout: Path, stderr: Path, status: int | None, seconds: float) -> Run:
    """What came of a program that left these files."""

    def text(path: Path) -> str:
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    trace = json.loads(text(out)) if out.exists() else None
    return Run(trace, text(stdout), text(stderr), status, seconds)
