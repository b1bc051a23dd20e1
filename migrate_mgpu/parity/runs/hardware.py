"""The machine that a side runs on, as a result names it."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

ASK_S = 20.0  # nvidia-smi takes seconds when no driver holds the GPUs


@functools.cache
def describe() -> dict[str, Any]:
    """``cpu`` (the model's name), ``cores`` (that this process may use), ``memory_mib``,
    ``system``, and ``gpus``, each with ``name``, ``memory_mib`` and ``driver``."""
    return {
        "cpu": _cpu(),
        "cores": _cores(),
        "memory_mib": _memory_mib(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "gpus": gpus(),
    }


def gpus() -> list[dict[str, Any]]:
    """The GPUs that NVIDIA's driver shows; none where there is no driver."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = "--query-gpu=name,memory.total,driver_version"
    try:
        answer = subprocess.run(
            [tool, query, "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return parse(answer.stdout) if answer.returncode == 0 else []


def parse(text: str) -> list[dict[str, Any]]:
    """``nvidia-smi``'s lines of name, total MiB and driver; a name may hold commas."""
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.rsplit(",", 2)]
        if len(fields) == 3:
            memory = int(fields[1]) if fields[1].isdigit() else None  # "[N/A]" of shared memory
            found.append({"name": fields[0], "memory_mib": memory, "driver": fields[2]})
    return found


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    named = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return named.group(1).strip() if named else platform.processor() or platform.machine()


def _cores() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _memory_mib() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    except (AttributeError, OSError, ValueError):
        return None  # Windows
