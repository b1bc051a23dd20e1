"""Programs in one process for each TensorFlow, under the probe or as they are: it forks."""

from __future__ import annotations

import argparse
import atexit
import functools
import hashlib
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from migrate_mgpu import runtimes
from migrate_mgpu.parity.runs import launch, supervise

NOTHING: Mapping[str, str] = MappingProxyType({})
FOLDER = "MIGRATE_MGPU_TEST_SERVERS"  # the variable that names it
SERVER = Path(__file__).with_name("server.py")


@functools.cache
def _folder() -> Path:
    """Of the sockets: those of the process that started this one, where it has some."""
    if FOLDER not in os.environ:
        made = tempfile.TemporaryDirectory(prefix="servers-")
        atexit.register(made.cleanup)
        os.environ[FOLDER] = made.name
    return Path(os.environ[FOLDER])


def start(python: Path, at_import: Mapping[str, str] = NOTHING) -> Path:
    """The socket of an interpreter's process; it ends with the one that asked first."""
    key = json.dumps([str(python), sorted(at_import.items())])
    place = _folder() / hashlib.sha256(key.encode()).hexdigest()[:16]
    if not place.exists():
        command = [str(python), str(SERVER), str(launch.PROBE / "batch.py"), str(place)]
        environment = launch.environment(at_import)
        server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)
        atexit.register(server.communicate)
        while not place.exists():
            assert server.poll() is None, f"{python} does not start"
            time.sleep(0.05)
    return place


def _serve(
    python: Path,
    jobs: Sequence[Mapping[str, Any]],
    parallel: int = 2,
    at_import: Mapping[str, str] = NOTHING,
) -> list[Any]:
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as folder:
        request, results = Path(folder) / "jobs", Path(folder) / "results"
        given = [{"timeout_s": 300, "env": {}, **job} for job in jobs]
        whole = {"results": str(results), "parallel": parallel, "jobs": given}
        request.write_text(json.dumps(whole), encoding="utf-8")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(start(python, at_import)))
            with connection.makefile("rw") as stream:
                stream.write(f"{request}\n")
                stream.flush()
                assert stream.readline() == "served\n"
        found: list[Any] = json.loads(results.read_text(encoding="utf-8"))
        return found


def serve(runtime: str, jobs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Run programs in a runtime (``probe/batch.py`` says what a job is, and its result)."""
    return _serve(runtimes.ensure(runtime).python, jobs)


def run_many(runtime: runtimes.Runtime, jobs: Sequence[launch.Job]) -> list[launch.Run]:
    """``launch.run_many``, two at a time."""
    return launch.run_many(runtime, jobs, 2, lambda on, given, n: _serve(on.python, given, n))


def alone(
    runtime: runtimes.Runtime,
    program: Path | str,
    *argv: object,
    given: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] = NOTHING,
    at_import: Mapping[str, str] = NOTHING,
) -> str:
    """What a program without the probe prints, a file or its text; it must end well.

    Args:
      given: its input.
      cwd: its working directory; an empty one when None.
      env: variables of the program, which TensorFlow does not read while it is imported.
      at_import: those that it does; each choice of them has a server.
    """
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as name:
        folder = Path(name)
        if isinstance(program, str):
            text, program = program, folder / "program.py"
            program.write_text(text, encoding="utf-8")
        (folder / "stdin").write_text(given, encoding="utf-8")
        paths = {one: str(folder / one) for one in ("stdin", "stdout", "stderr")}
        job = {
            "program": str(program),
            "argv": [*map(str, argv)],
            "cwd": str(cwd or folder),
            "timeout_s": 900,
        }
        (result,) = _serve(runtime.python, [{**job, **paths, "env": dict(env)}], 1, at_import)
        error = (folder / "stderr").read_text(encoding="utf-8", errors="replace")
        assert result["status"] == 0, (result, error[-3000:])
        return (folder / "stdout").read_text(encoding="utf-8")


def _options() -> argparse.ArgumentParser:
    """Those of the probe's command line that these programs have."""
    found = argparse.ArgumentParser()
    for name in ("--out", "--watch", "--gpus", "--gpu-memory"):
        found.add_argument(name)
    found.add_argument("--map-gpus", action="store_true")
    found.add_argument("program")
    found.add_argument("argv", nargs=argparse.REMAINDER)
    return found


def run_all(processes: Sequence[supervise.Process], meanwhile: object = None) -> None:
    """In the place of ``supervise.run_all``, one after the other: without limits, but for time."""
    for process in processes:
        given = _options().parse_args(process.command[2:])
        job = {
            "program": given.program, "argv": given.argv, "cwd": str(process.cwd),
            "out": given.out, "stdout": str(process.stdout), "stderr": str(process.stderr),
            "gpus": int(given.gpus), "gpu_memory": given.gpu_memory or "",
            "map_gpus": given.map_gpus, "timeout_s": process.limits.seconds,
            "watch": json.loads(Path(given.watch).read_text(encoding="utf-8")),
            "env": dict(process.env),
        }  # fmt: skip
        (result,) = _serve(Path(process.command[0]), [job])
        process.seconds = result["seconds"]
        code = process.status = result["status"]
        process.ended = f"signal {-code}" if code < 0 else f"exit {code}"
        if process.on_end is not None:
            process.on_end(process)
