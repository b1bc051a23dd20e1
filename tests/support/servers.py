"""Programs in one process for each TensorFlow, under the probe or as they are: it forks."""

from __future__ import annotations

import argparse
import atexit
import functools
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
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
# A program that sets one of TensorFlow's own variables means it to be read at import.
_SETS_TENSORFLOW_VARIABLE = re.compile(r"environ|putenv")
_TENSORFLOW_VARIABLE = re.compile(r"['\"](?:TF_(?!CPP_|FORCE_GPU_)|TF2_|KERAS_)")
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
        command = [str(python), str(SERVER), str(launch.PROBE / "probe.py"), str(place)]
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
    """Run programs in a runtime (``server.py`` says what a job is, and its result)."""
    return _serve(runtimes.ensure(runtime).python, jobs)


def run_many(runtime: runtimes.Runtime, jobs: Sequence[launch.Job]) -> list[launch.Run]:
    """Run programs under the probe, two at a time; results have the order of the jobs.

    A job with ``env``, or whose source sets one of TensorFlow's environment variables, gets a
    process of its own, and so do all of them where a process cannot be forked safely (macOS).
    """
    shared = [job for job in jobs if can_share(job)]
    found = iter(_run_shared(runtime, shared))
    return [next(found) if job in shared else launch.run(runtime, job) for job in jobs]


def can_share(job: launch.Job) -> bool:
    if job.env or sys.platform != "linux":
        return False
    source = job.program.read_text(encoding="utf-8", errors="replace")
    return not (_SETS_TENSORFLOW_VARIABLE.search(source) and _TENSORFLOW_VARIABLE.search(source))


def _run_shared(runtime: runtimes.Runtime, jobs: Sequence[launch.Job]) -> list[launch.Run]:
    with tempfile.TemporaryDirectory(prefix="migrate-mgpu-") as name:
        folder = Path(name)
        given = [
            {
                "program": str(job.program.resolve()),
                "argv": list(job.argv),
                "cwd": str(job.cwd or job.program.resolve().parent),
                "gpus": job.gpus,
                "gpu_memory": ",".join(map(str, job.gpu_memory_mib[: job.gpus])),
                "map_gpus": job.map_gpus and job.gpus is not None,
                "timeout_s": job.timeout_s,
                **{key: str(folder / f"{i}.{key}") for key in ("out", "stdout", "stderr")},
            }
            for i, job in enumerate(jobs)
        ]
        return [
            launch.collect(
                folder / f"{i}.out",
                folder / f"{i}.stdout",
                folder / f"{i}.stderr",
                None if result["timed_out"] else result["status"],
                result["seconds"],
            )
            for i, result in enumerate(_serve(runtime.python, given))
        ]


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
        job = {
            "cwd": str(process.cwd), "stdout": str(process.stdout), "stderr": str(process.stderr),
            "timeout_s": process.limits.seconds, "env": dict(process.env),
        }  # fmt: skip
        python, program, *argv = process.command
        if Path(program).name == "probe.py":
            given = _options().parse_args(argv)
            job.update(
                program=given.program, argv=given.argv, out=given.out, gpus=int(given.gpus),
                gpu_memory=given.gpu_memory or "", map_gpus=given.map_gpus,
                watch=json.loads(Path(given.watch).read_text(encoding="utf-8")),
            )  # fmt: skip
        else:
            job.update(program=program, argv=argv, stdin=os.devnull)
        (result,) = _serve(Path(python), [job])
        process.seconds = result["seconds"]
        code = process.status = result["status"]
        process.ended = f"signal {-code}" if code < 0 else f"exit {code}"
        if process.on_end is not None:
            process.on_end(process)
