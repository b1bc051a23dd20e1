"""TensorBoard event files, written by TensorFlow itself in a runtime.

``FOLDER/[PAIR/]N-devices/`` gets four runs: ``reference`` and ``target`` with the tag
``loss``, ``difference`` and ``allowed`` with the tag ``loss difference``; so TensorBoard
lays both curves of a tag over each other.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrate_mgpu.parity.runs import launch
from migrate_mgpu.runtimes import Runtime

_WRITER = launch.PROBE / "tensorboard_writer.py"
WRITE_S = 300.0


class NotWritten(Exception):
    """The event files could not be written; the message says why."""


def write(results: Sequence[Mapping[str, Any]], folder: Path, runtime: Runtime) -> None:
    """Write the curves of all results; event files of an earlier call are replaced.

    Args:
      runtime: whose TensorFlow writes.

    Raises:
      NotWritten: a run's folder cannot be written, or the runtime does not work.
    """
    try:
        answer = subprocess.run(
            [str(runtime.python), str(_WRITER)],
            env=launch.environment({}),
            input=json.dumps(runs(results, folder)),
            capture_output=True,
            text=True,
            timeout=WRITE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotWritten(f"{folder}: {error}") from error
    if answer.returncode:
        last = (answer.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotWritten(f"{folder}: {runtime.name}: {last}")


def runs(results: Sequence[Mapping[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Each run's ``folder`` and ``scalars``: by tag, a value for each step."""
    found: list[dict[str, Any]] = []
    for result in results:
        name = str(result.get("name") or result["after"])
        place = folder / _file_name(name) if len(results) > 1 else folder
        for one in result["results"]:
            found += _runs(one, place / f"{one['devices']}-devices")
    return found


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text).strip(".") or "_"


def _runs(one: Mapping[str, Any], place: Path) -> list[dict[str, Any]]:
    sides: dict[str, dict[str, Any]] = {
        name: {} for name in ("reference", "target", "difference", "allowed")
    }
    for curve in one.get("curves", []):
        before, after = ([float(v) for v in curve[side]] for side in ("reference", "target"))
        tag = f"{curve['name']} difference"
        sides["reference"][curve["name"]] = before
        sides["target"][curve["name"]] = after
        sides["difference"][tag] = [abs(a - b) for a, b in zip(before, after)]
        sides["allowed"][tag] = [float(v) for v in curve["allowed"]]
    return [
        {"folder": str((place / name).absolute()), "scalars": scalars}
        for name, scalars in sides.items()
    ]
